// Counters that restart, jump, or show nonsense while the command runs. The test itself is the
// hardware: it changes a counter, and waits until wattle has seen it.
#include <csignal>
#include <cstdint>
#include <fstream>
#include <memory>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"
#include "read_watch.hpp"

namespace wattle::integration {
namespace {

using fakes::kPackageUnit;
using testing::AllOf;
using testing::Contains;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;

constexpr const char* kZone = "intel-rapl:0";
constexpr const char* kMetronome = "intel-rapl:1";
constexpr std::uint64_t kMiddle = std::uint64_t{1} << 31U;

double joules(std::uint64_t ticks) { return static_cast<double>(ticks) * kPackageUnit.tick_j; }

/// Package 0 misbehaves; package 1 stands still and shows when it was read.
class EnergyFault : public CommandTest {
 protected:
  EnergyFault() {
    tree_.add_zone(kZone, "package-0", kPackageUnit, kMiddle);
    tree_.add_zone(kMetronome, "package-1", kPackageUnit, 0);
  }

  /// Starts a run that lasts until `finish`, and has read every counter once.
  void start(const std::string& interval = "0.01") {
    const System system = tree_.system();
    process_ =
        std::make_unique<Process>(wattle_run({"--sysfs", system.sysfs, "--procfs", system.procfs,
                                              "--interval", interval, "--json", path("run.json")},
                                             child({"print", "ready", "read_line", "exit", "7"})));
    ASSERT_TRUE(process_->prints("ready\n"));
  }

  /// The counter shows `ticks`, and wattle has seen it.
  void show(std::uint64_t ticks) {
    show_text(std::to_string(kPackageUnit.energy_uj(ticks)) + "\n");
  }
  void show_text(const std::string& text) {
    tree_.write_file(kZone, "energy_uj", text);
    ReadWatch(tree_.zone_path(kMetronome) / "energy_uj").wait_for_round();
  }

  /// Ends the run; whatever the counter did, the command keeps its status.
  void finish() {
    process_->write_input("go\n");
    const Outcome outcome = process_->wait();
    EXPECT_EQ(outcome.code(), 7);
    text_ = outcome.err;
    json_ = parse_json(content_of(path("run.json")));
  }
  [[nodiscard]] const Json& domain() const { return json_["energy"]["domains"][0]; }

  fakes::PowercapTree tree_;
  std::unique_ptr<Process> process_;
  std::string text_;
  Json json_;
};

TEST_F(EnergyFault, ResetLosesThatStretchAndNothingElse) {
  start();
  show(kMiddle + 1000);
  show(10);
  show(10 + 500);
  finish();
  EXPECT_EQ(domain()["energy_j"], joules(1000 + 500));
  EXPECT_EQ(domain()["flags"], Json{"reset"});
  EXPECT_THAT(domain()["unknown_s"].get<double>(), AllOf(Gt(0.0), Lt(json_["wall_s"])));
  EXPECT_EQ(json_["energy"]["total_unknown_s"], domain()["unknown_s"]);
  EXPECT_THAT(text_, HasSubstr("while the command ran: at least "));
  EXPECT_THAT(text_, HasSubstr("of the time unknown"));
}

TEST_F(EnergyFault, PackageWithoutANameIsMissingInTheTotal) {
  tree_.write_file(kMetronome, "name", "");
  start();
  fakes::set_energy_uj(tree_.zone_path(kZone), kPackageUnit.energy_uj(kMiddle + 1000));
  finish();
  EXPECT_THAT(text_, HasSubstr("while the command ran: at least "));
  EXPECT_THAT(text_, HasSubstr("not all of CPU: intel-rapl:1: it has no name"));
  EXPECT_EQ(json_["energy"]["total_missing"][0]["kind"], "cpu");
}

TEST_F(EnergyFault, ResetSeenOnlyAtTheEndLeavesNothingKnown) {
  start("3600");
  tree_.write_file(kZone, "energy_uj", "5\n");
  finish();
  EXPECT_TRUE(domain()["energy_j"].is_null());
  EXPECT_TRUE(domain()["mean_w"].is_null());
  EXPECT_TRUE(domain()["uncertainty_j"].is_null());
  EXPECT_THAT(domain()["flags"], Contains("reset"));
  EXPECT_GE(domain()["unknown_s"], json_["wall_s"]);
  EXPECT_EQ(json_["energy"]["total_missing"][0]["reason"], "package_0: its counter restarted");
}

TEST_F(EnergyFault, JumpBeyondEveryPowerIsNotCounted) {
  start();
  show(kMiddle + 1000);
  show(kMiddle + 1000 + (std::uint64_t{1} << 30U));  // 65 kJ
  show(kMiddle + 1000 + (std::uint64_t{1} << 30U) + 500);
  finish();
  EXPECT_EQ(domain()["energy_j"], joules(1000 + 500));
  EXPECT_EQ(domain()["flags"], Json{"implausible"});
  EXPECT_GT(domain()["unknown_s"], 0.0);
}

TEST_F(EnergyFault, ASmallStepBackIsAResetNotAWrap) {
  start();
  show(kMiddle - 1);
  show(kMiddle + 99);
  finish();
  EXPECT_EQ(domain()["energy_j"], joules(100));
  EXPECT_EQ(domain()["flags"], Json{"reset"});
}

/// What a counter's file may hold instead of a number.
class Nonsense : public EnergyFault, public testing::WithParamInterface<std::string> {};

TEST_P(Nonsense, ForAWhileCostsNothing) {
  start();
  show(kMiddle + 1000);
  show_text(GetParam());
  show(kMiddle + 1000 + 700);
  finish();
  EXPECT_EQ(domain()["energy_j"], joules(1000 + 700));
  EXPECT_EQ(domain()["unknown_s"], 0.0);
  EXPECT_THAT(domain()["flags"], IsEmpty());
}

TEST_P(Nonsense, ToTheEndIsAGap) {
  start();
  show(kMiddle + 1000);
  show_text(GetParam());
  finish();
  EXPECT_EQ(domain()["energy_j"], joules(1000));
  EXPECT_THAT(domain()["flags"], Contains("gap"));
  EXPECT_GT(domain()["unknown_s"], 0.0);
  EXPECT_THAT(text_, HasSubstr("at least "));
}

TEST_P(Nonsense, FromTheStartIsRefusedWithTheReason) {
  tree_.write_file(kZone, "energy_uj", GetParam());
  start();
  fakes::set_energy_uj(tree_.zone_path(kMetronome), kPackageUnit.energy_uj(1000));
  finish();
  EXPECT_EQ(domain()["name"], "package_1");
  ASSERT_EQ(json_["refused"].size(), 1U);
  EXPECT_EQ(json_["refused"][0]["subject"], "package_0");
  EXPECT_THAT(json_["refused"][0]["reason"], HasSubstr("does not hold an energy"));
  EXPECT_THAT(text_, HasSubstr("not all of CPU: package_0: "));
  EXPECT_THAT(text_, Not(HasSubstr("\x1b")));
}

INSTANTIATE_TEST_SUITE_P(Contents, Nonsense,
                         testing::Values("", "\n", "soon\n", "-5\n", "1 2\n", "0x10\n", "1e9\n",
                                         "262143328850000\n",                // beyond its range
                                         "99999999999999999999999999999\n",  // beyond 64 bits
                                         std::string(65536, '1'), std::string(5, '\0'),
                                         "\x1b[31m\n"),
                         [](const auto& content) {
                           return "Number" + std::to_string(content.index);
                         });

TEST_F(EnergyFault, FilesThatVanishDoNotEndTheRun) {
  start();
  std::filesystem::remove_all(tree_.root() / "sys");
  finish();
  EXPECT_EQ(json_["energy"]["domains"].size(), 2U);
}

TEST_F(EnergyFault, ReadsThatFailToTheEndAreAGap) {
  // A file whose reads fail once its process is gone.
  Process owner({.command = child({"print", "ready", "pause"}),
                 .prepare = [] { std::ofstream("/proc/self/oom_score_adj") << "500"; }});
  ASSERT_TRUE(owner.prints("ready\n"));
  tree_.remove_file(kZone, "energy_uj");
  std::filesystem::create_symlink("/proc/" + std::to_string(owner.pid()) + "/oom_score_adj",
                                  tree_.zone_path(kZone) / "energy_uj");
  start();
  owner.send(SIGKILL);
  EXPECT_EQ(owner.wait().signal(), SIGKILL);
  ReadWatch(tree_.zone_path(kMetronome) / "energy_uj").wait_for_round();
  finish();
  EXPECT_EQ(domain()["name"], "package_0");
  EXPECT_THAT(domain()["flags"], Contains("gap"));
  EXPECT_GT(domain()["unknown_s"], 0.0);
}

}  // namespace
}  // namespace wattle::integration
