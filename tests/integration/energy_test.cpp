// Energy from a powercap tree of known power. The player of the load knows what each counter
// counted; what wattle says must be the same to the tick.
#include <cstdint>
#include <map>
#include <sstream>

#include "command.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using fakes::KernelUnit;
using fakes::kFineUnit;
using fakes::kPackageUnit;
using fakes::kServerDramUnit;
using fakes::kServerPsysUnit;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// One zone of the tree, the power that is played on it, and the domain that it is. The powers are
/// far below what is possible: where the player is kept waiting and then counts much at once, that
/// must not look like a fault.
struct PlayedZone {
  std::string directory;
  std::string name;
  std::string domain;
  KernelUnit unit;
  double power_w;
  std::uint64_t start_ticks;
};

constexpr std::uint64_t kEnd = std::uint64_t{1} << 32U;  // of a counter of 32 bits

class Energy : public CommandTest {
 protected:
  void add(const PlayedZone& zone) {
    tree_.add_zone(zone.directory, zone.name, zone.unit, zone.start_ticks);
    zones_[zone.directory] = zone;
  }

  /// Plays all zones for so long.
  [[nodiscard]] Words player(int ms) const {
    Words command = {player_program(), std::to_string(ms)};
    for (const auto& [directory, zone] : zones_) {
      std::ostringstream exact;
      exact.precision(17);
      exact << zone.unit.tick_j;
      command =
          command + Words{tree_.zone_path(directory), std::to_string(zone.power_w), exact.str(),
                          std::to_string(zone.unit.nanojoules), std::to_string(zone.start_ticks)};
    }
    return command;
  }
  [[nodiscard]] Words in_tree() const {
    const System system = tree_.system();
    return {"--sysfs", system.sysfs, "--procfs", system.procfs};
  }
  /// Keeps how many ticks each zone counted, and what the player, or what started it (`by`), said
  /// on stderr.
  Json play(int ms, const std::string& interval = "0.1", const Words& by = {}) {
    const auto [outcome, json] =
        measure(in_tree() + Words{"--interval", interval}, by + player(ms));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    said_ = outcome.err;
    std::istringstream lines(outcome.out);
    std::string directory;
    for (std::uint64_t ticks = 0; lines >> directory >> ticks;) {
      const PlayedZone& zone = zones_.at(directory);
      played_j_[zone.domain] = static_cast<double>(ticks) * zone.unit.tick_j;
    }
    return json["energy"];
  }

  fakes::PowercapTree tree_;
  std::map<std::string, PlayedZone> zones_;
  std::map<std::string, double> played_j_;  ///< by domain
  std::string said_;
};

const Json& domain_of(const Json& energy, const std::string& name) {
  static const Json none;
  for (const Json& domain : energy["domains"]) {
    if (domain["name"] == name) return domain;
  }
  ADD_FAILURE() << "no domain " << name;
  return none;
}

TEST_F(Energy, IsExactToTheTickWhileCountersWrap) {
  // The platform comes first; sockets are numbered unlike their zones, and with gaps.
  add({"intel-rapl:0", "psys", "psys", kServerPsysUnit, 70.0, kEnd - 10});
  add({"intel-rapl:1", "package-1", "package_1", kPackageUnit, 20.5, kEnd - 100'000});
  add({"intel-rapl:1:0", "core", "core_1", kPackageUnit, 12.25, kEnd - 50'000});
  add({"intel-rapl:1:1", "dram", "dram_1", kServerDramUnit, 3.3, kEnd - 20'000});
  add({"intel-rapl:4", "package-0", "package_0", kFineUnit, 9.9, 0});
  add({"intel-rapl:4:2", "dram", "dram_0", kServerDramUnit, 1.1, kEnd / 2});

  const Json energy = play(400);
  ASSERT_EQ(energy["domains"].size(), zones_.size());
  for (const auto& [name, played_j] : played_j_) {
    const Json& domain = domain_of(energy, name);
    EXPECT_EQ(domain["energy_j"], played_j) << name;
    EXPECT_EQ(domain["unknown_s"], 0.0) << name;
    EXPECT_GT(domain["uncertainty_j"], 0.0) << name;
    EXPECT_EQ(domain["method"], "counter") << name;
  }
  for (const auto& [directory, zone] : zones_) {
    const double end_j = static_cast<double>(kEnd - zone.start_ticks) * zone.unit.tick_j;
    const bool wrapped = played_j_.at(zone.domain) >= end_j;
    EXPECT_EQ(domain_of(energy, zone.domain)["flags"].dump(), wrapped ? "[\"wrapped\"]" : "[]")
        << zone.domain;
  }
  EXPECT_THAT(domain_of(energy, "package_1")["flags"], Contains("wrapped"));
}

TEST_F(Energy, IsWhatAProgramThatMeasuresItselfSays) {
  add({"intel-rapl:0", "package-0", "package_0", kPackageUnit, 40.0, kEnd - 100'000});
  add({"intel-rapl:0:0", "dram", "dram_0", kServerDramUnit, 5.0, 0});
  const System system = tree_.system();
  const Json energy = play(300, "0.1",
                           {"env", "WATTLE_SYSFS=" + system.sysfs.string(),
                            "WATTLE_PROCFS=" + system.procfs.string(), measuring_program()});
  std::istringstream lines(said_);
  int compared = 0;
  std::string domain;
  std::string unit;
  std::string uncertainty;
  for (double energy_j = 0.0; lines >> domain >> energy_j >> unit >> uncertainty; ++compared) {
    domain.pop_back();  // the colon
    const Json& outer = domain_of(energy, domain);
    const double inner_uncertainty_j = std::stod(uncertainty.substr(2));
    EXPECT_NEAR(energy_j, outer["energy_j"], inner_uncertainty_j + double(outer["uncertainty_j"]))
        << domain;
    EXPECT_NEAR(energy_j, played_j_.at(domain), inner_uncertainty_j) << domain;
    EXPECT_LT(inner_uncertainty_j, 0.1 * energy_j) << domain;
  }
  EXPECT_EQ(compared, 2) << said_;
}

TEST_F(Energy, TotalCountsNothingTwice) {
  add({"intel-rapl:0", "psys", "psys", kServerPsysUnit, 80.0, 0});
  add({"intel-rapl:1", "package-0", "package_0", kPackageUnit, 15.0, 0});
  add({"intel-rapl:1:0", "core", "core_0", kPackageUnit, 10.0, 0});
  add({"intel-rapl:1:1", "uncore", "uncore_0", kPackageUnit, 2.0, 0});
  add({"intel-rapl:1:2", "dram", "dram_0", kServerDramUnit, 3.0, 0});
  add({"intel-rapl:2", "package-1", "package_1", kPackageUnit, 12.0, 0});
  // The same package once more, through the memory-mapped registers.
  tree_.add_zone("intel-rapl-mmio:0", "package-0", kPackageUnit, 12345);

  const Json energy = play(100);
  EXPECT_EQ(energy["total_j"],
            played_j_["package_0"] + played_j_["package_1"] + played_j_["dram_0"]);
  EXPECT_EQ(energy["total_covers"], (Json{"cpu", "dram"}));
  EXPECT_EQ(energy["total_unknown_s"], 0.0);
  std::vector<std::string> names;
  for (const Json& domain : energy["domains"]) names.push_back(domain["name"]);
  EXPECT_THAT(names, ElementsAre("package_0", "package_1", "dram_0", "core_0", "uncore_0", "psys"));
  EXPECT_EQ(domain_of(energy, "core_0")["contained_in"], "package_0");
  EXPECT_EQ(domain_of(energy, "uncore_0")["contained_in"], "package_0");
  EXPECT_TRUE(domain_of(energy, "psys")["contained_in"].is_null());
}

TEST_F(Energy, OfTwoDiesIsDistinguished) {
  add({"intel-rapl:0", "package-0-die-0", "package_0_die_0", kPackageUnit, 10.0, 0});
  add({"intel-rapl:0:0", "dram", "dram_0_die_0", kServerDramUnit, 1.0, 0});
  add({"intel-rapl:1", "package-0-die-1", "package_0_die_1", kPackageUnit, 20.0, kEnd - 10});
  const Json energy = play(50);
  for (const auto& [name, played_j] : played_j_) {
    EXPECT_EQ(domain_of(energy, name)["energy_j"], played_j) << name;
  }
}

TEST_F(Energy, NeedsNoReadInBetween) {
  add({"intel-rapl:0", "package-0", "package_0", kPackageUnit, 5.0, kEnd - 1000});
  const Json energy = play(100, "3600");
  const Json& domain = domain_of(energy, "package_0");
  EXPECT_EQ(domain["energy_j"], played_j_["package_0"]);
  EXPECT_TRUE(domain["max_w"].is_null());
}

TEST_F(Energy, OfACounterThatDoesNotMoveIsUnknownAndInNoTotal) {
  add({"intel-rapl:0", "package-0", "package_0", kPackageUnit, 0.0, 4711});
  add({"intel-rapl:0:0", "dram", "dram_0", kServerDramUnit, 5.0, 0});
  const Json energy = play(50);
  EXPECT_TRUE(domain_of(energy, "package_0")["energy_j"].is_null());
  EXPECT_TRUE(domain_of(energy, "package_0")["uncertainty_j"].is_null());
  EXPECT_EQ(domain_of(energy, "package_0")["flags"], Json{"stuck"});
  EXPECT_EQ(energy["total_covers"], Json{"dram"});
  EXPECT_EQ(energy["total_missing"][0]["kind"], "cpu");
  EXPECT_EQ(energy["total_missing"][0]["reason"], "package_0: its counter does not move");
}

TEST_F(Energy, IsTheReportsHeadline) {
  add({"intel-rapl:0", "package-0", "package_0", kPackageUnit, 10.0, 0});
  add({"intel-rapl:0:0", "core", "core_0", kPackageUnit, 5.0, 0});
  const Outcome outcome = run(wattle_run(in_tree(), player(50)));
  EXPECT_THAT(outcome.err, testing::StartsWith("energy of this machine while the command ran: "));
  EXPECT_THAT(outcome.err, HasSubstr("\n  includes CPU; no DRAM: "));
  EXPECT_THAT(outcome.err, HasSubstr("in package_0"));
}

TEST_F(Energy, OfAnAmdCoreIsRefusedWithTheReason) {
  tree_.set_cpu_info("processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD Test\n\n");
  add({"intel-rapl:0", "package-0", "package_0", kPackageUnit, 10.0, 0});
  tree_.add_zone("intel-rapl:0:0", "core");
  const Json energy = play(50);
  EXPECT_EQ(energy["domains"].size(), 1U);
  EXPECT_EQ(energy["total_j"], played_j_["package_0"]);
}

TEST_F(Energy, WithoutSensorsIsUnknownAndSaysWhy) {
  const Json energy = play(5);
  EXPECT_TRUE(energy["total_j"].is_null());
  EXPECT_THAT(energy["domains"], IsEmpty());
  EXPECT_THAT(energy["total_missing"], Not(IsEmpty()));
  EXPECT_EQ(energy["total_missing"][0]["kind"], "cpu");
  EXPECT_THAT(energy["total_missing"][0]["reason"], HasSubstr("module"));
}

TEST_F(Energy, OfATrackedProcessIsInItsTextAndHasNoGap) {
  add({"intel-rapl:0", "package-0", "package_0", kPackageUnit, 20.0, 1000});
  const Process target({.command = player(60'000)});
  Json domain;
  // Again where wattle was kept waiting between the end and its reading, which is in the flags.
  for (int attempt = 0; attempt == 0 || (attempt < 5 && !domain["flags"].empty()); ++attempt) {
    const Outcome outcome =
        run(wattle({"track", "--pid", std::to_string(target.pid()), "--duration", "0.6",
                    "--overwrite", "--json", path("track.json"), "--sysfs", tree_.system().sysfs,
                    "--nvml-library", path("none.so")}));
    ASSERT_EQ(outcome.code(), 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("\nEnergy of this machine in that time:\n   package_0: "));
    EXPECT_THAT(outcome.out, HasSubstr(" J ±"));
    domain = parse_json(content_of(path("track.json")))["energy"]["domains"][0];
  }
  EXPECT_THAT(domain["flags"], IsEmpty()) << domain;
  EXPECT_EQ(domain["unknown_s"], 0.0);
}

}  // namespace
}  // namespace wattle::integration
