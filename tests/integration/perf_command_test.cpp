// The command with perf as its source of CPU energy: as in perf_kernel_test.cpp, a made-up PMU
// whose events are a clock of the real kernel, 1 W each.
#include <linux/perf_event.h>
#include <unistd.h>

#include <string>

#include "base/clock.hpp"
#include "command.hpp"
#include "fakes/perf_pmu.hpp"
#include "fakes/powercap_tree.hpp"
#include "sensors/perf/perf.hpp"

namespace wattle::integration {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class PerfCommand : public CommandTest {
 protected:
  PerfCommand() {
    pmu_.write_file("type", std::to_string(PERF_TYPE_SOFTWARE) + "\n");
    pmu_.add_event("energy-pkg", PERF_COUNT_SW_CPU_CLOCK, "1e-9");
    pmu_.add_event("energy-ram", PERF_COUNT_SW_CPU_CLOCK, "1e-9");
  }
  void SetUp() override {
    const wattle::Survey found = perf::probe(tree_.system(), machine_clock());
    if (found.sensors.empty()) GTEST_SKIP() << found.refused.at(0).proof;
  }
  /// `wattle WORDS` on the tree, with the real /proc.
  [[nodiscard]] Start on_tree(const Words& words) const {
    Start start = wattle(words);
    start.environment["WATTLE_SYSFS"] = tree_.system().sysfs;
    return start;
  }
  [[nodiscard]] Json json_of(const Words& words) const {
    return parse_json(run(on_tree(words)).out);
  }

  fakes::PowercapTree tree_;
  fakes::PerfPmu pmu_{tree_.root()};
};

TEST_F(PerfCommand, RunReportsTheEnergyThatPerfCounts) {
  const auto [outcome, json] = measure({"--sysfs", tree_.system().sysfs}, {"sleep", "0.2"});
  EXPECT_EQ(json["energy"]["total_covers"], (Json{"cpu", "dram"}));
  const double wall_s = json["wall_s"];
  for (const Json& domain : json["energy"]["domains"]) {
    EXPECT_EQ(domain["source"], "perf");
    // A busy machine may read a little after the command's end: that is taken off again.
    EXPECT_THAT(domain["flags"], testing::AnyOf(Json::array(), Json{"estimated"}));
    EXPECT_NEAR(domain["energy_j"], wall_s, 0.5 * wall_s) << domain;
  }
  EXPECT_EQ(json["refused"], Json::array());
}

TEST_F(PerfCommand, SensorsNamesTheWayThatIsUsedAndTheOtherOne) {
  tree_.add_zone("intel-rapl:0", "package-0");
  const Outcome outcome = run(on_tree({"sensors"}));
  EXPECT_THAT(outcome.out, HasSubstr("perf: power/energy-pkg/ on CPU 0\n"));
  EXPECT_THAT(outcome.out, HasSubstr("also powercap: "));
  const Json json = json_of({"sensors", "--json"});
  EXPECT_EQ(json["channels"][0]["source"], "perf");
  EXPECT_EQ(json["channels"][0]["alternatives"][0]["source"], "powercap");
  EXPECT_EQ(json["sources"][0]["domains"], (Json{"package_0", "dram_0"}));
  EXPECT_EQ(json["sources"][1]["domains"], (Json{"package_0"}));
  EXPECT_FALSE(json.contains("cross_check")) << "it takes a second";
}

TEST_F(PerfCommand, CrossCheckShowsADisagreement) {
  tree_.add_zone("intel-rapl:0", "package-0");
  const Process player({.command = {player_program(), "60000", tree_.zone_path("intel-rapl:0"),
                                    "10", "6.103515625e-05", "61035", "0"}});
  const Outcome outcome = run(on_tree({"sensors", "--cross-check"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr(" DISAGREE: "));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("perf [0-9].*J ±.*, powercap [0-9].*J ±"));
  const Json json = json_of({"sensors", "--cross-check", "--json"});
  const Json& check = json["cross_check"]["domains"][0];
  EXPECT_EQ(check["domain"], "package_0");
  EXPECT_EQ(check["agrees"], false);
  EXPECT_LT(check["energy_j"], check["other_energy_j"]);
}

TEST_F(PerfCommand, CrossCheckComparesNothingWithACounterThatDoesNotMove) {
  tree_.add_zone("intel-rapl:0", "package-0");
  const Outcome outcome = run(on_tree({"sensors", "--cross-check"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("powercap unknown cannot be compared\n"));
  const Json json = json_of({"sensors", "--cross-check", "--json"});
  EXPECT_GE(json["cross_check"]["length_s"], 1.0);
  const Json& check = json["cross_check"]["domains"][0];
  EXPECT_EQ(check["domain"], "package_0");
  EXPECT_TRUE(check["agrees"].is_null());
  EXPECT_TRUE(check["energy_j"].is_number());
  EXPECT_TRUE(check["other_energy_j"].is_null());
}

TEST_F(PerfCommand, CrossCheckOfOneWaySaysSo) {
  EXPECT_THAT(run(on_tree({"sensors", "--cross-check"})).out,
              HasSubstr("no domain can be read in two ways"));
}

TEST_F(PerfCommand, DoctorGivesAUserOneRemedyForAllDomains) {
  if (::geteuid() != 0) GTEST_SKIP() << "cannot hide the counters of powercap from itself";
  tree_.add_zone("intel-rapl:0", "package-0");
  fs::permissions(tree_.root(), fs::perms(0755));
  fs::permissions(tree_.zone_path("intel-rapl:0") / "energy_uj", fs::perms::owner_read);
  Start start = on_tree({"doctor", "--verbose"});
  start.prepare = [] {
    constexpr uid_t kNobody = 65534;
    (void)!::setresuid(kNobody, kNobody, kNobody);
  };
  const Outcome outcome = run(start);
  if (outcome.code() != 2) GTEST_SKIP() << "users may count here: " << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("package_0, dram_0 (perf) are not measured"));
  EXPECT_THAT(outcome.out, HasSubstr("wattle doctor --fix cpu"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("powercap"))) << "one remedy is enough";
}

}  // namespace
}  // namespace wattle::integration
