// The command with perf as its source of CPU energy: as in perf_kernel_test.cpp, a made-up PMU
// whose events are a clock of the real kernel, 1 W each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.hpp"
#include "fakes/perf_pmu.hpp"
#include "fakes/powercap_tree.hpp"
#include "sensors/perf/perf.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

constexpr int kNothingReadable = 2;

struct Outcome {
  std::string out;  ///< stdout and stderr
  int code = -1;
};

Outcome shell(const std::string& line) {
  Outcome outcome;
  std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");  // NOLINT(cert-env33-c)
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) {
    outcome.out.append(chunk.data(), count);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
  return outcome;
}

class PerfCommand : public testing::Test {
 protected:
  PerfCommand() {
    pmu_.write_file("type", std::to_string(PERF_TYPE_SOFTWARE) + "\n");
    pmu_.add_event("energy-pkg", PERF_COUNT_SW_CPU_CLOCK, "1e-9");
    pmu_.add_event("energy-ram", PERF_COUNT_SW_CPU_CLOCK, "1e-9");
  }
  void SetUp() override {
    const Survey found = perf::probe(tree_.system(), machine_clock());
    if (found.sensors.empty()) GTEST_SKIP() << found.refused.at(0).proof;
  }
  /// `wattle WORDS` on the tree, with the real /proc; `prefix` is a command that runs it.
  [[nodiscard]] std::string line(const std::string& words, const std::string& prefix = "") const {
    return "env WATTLE_SYSFS='" + tree_.system().sysfs.string() + "' " + prefix +
           "'" WATTLE_TEST_COMMAND "' " + words;
  }

  fakes::PowercapTree tree_;
  fakes::PerfPmu pmu_{tree_.root()};
};

TEST_F(PerfCommand, RunReportsTheEnergyThatPerfCounts) {
  const Outcome outcome = shell(line("run --quiet --json - -- sleep 0.2"));
  const Json json = Json::parse(outcome.out);
  const Json& energy = json["energy"];
  EXPECT_EQ(energy["total_covers"], (Json{"cpu", "dram"}));
  const double wall_s = json["wall_s"];
  for (const Json& domain : energy["domains"]) {
    EXPECT_EQ(domain["source"], "perf");
    EXPECT_EQ(domain["flags"], Json::array());
    EXPECT_NEAR(domain["energy_j"], wall_s, 0.5 * wall_s) << domain;
  }
  EXPECT_EQ(json["refused"], Json::array());
}

TEST_F(PerfCommand, SensorsNamesTheWayThatIsUsedAndTheOtherOne) {
  tree_.add_zone("intel-rapl:0", "package-0");
  const Outcome outcome = shell(line("sensors"));
  EXPECT_THAT(outcome.out, HasSubstr("perf: power/energy-pkg/ on CPU 0\n"));
  EXPECT_THAT(outcome.out, HasSubstr("also powercap: "));
  const Json json = Json::parse(shell(line("sensors --json")).out);
  EXPECT_EQ(json["channels"][0]["source"], "perf");
  EXPECT_EQ(json["channels"][0]["alternatives"][0]["source"], "powercap");
  EXPECT_EQ(json["sources"][0]["domains"], (Json{"package_0", "dram_0"}));
  EXPECT_EQ(json["sources"][1]["domains"], (Json{"package_0"}));
  EXPECT_FALSE(json.contains("cross_check")) << "it takes a second";
}

TEST_F(PerfCommand, CrossCheckShowsADisagreement) {
  tree_.add_zone("intel-rapl:0", "package-0");  // stands still
  const Outcome outcome = shell(line("sensors --cross-check"));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("powercap 0 J DISAGREE: "));
  const Json json = Json::parse(shell(line("sensors --cross-check --json")).out);
  EXPECT_GE(json["cross_check"]["length_s"], 1.0);
  const Json& check = json["cross_check"]["domains"][0];
  EXPECT_EQ(check["domain"], "package_0");
  EXPECT_EQ(check["agrees"], false);
  EXPECT_GT(check["energy_j"], check["other_energy_j"]);
}

TEST_F(PerfCommand, CrossCheckOfOneWaySaysSo) {
  EXPECT_THAT(shell(line("sensors --cross-check")).out,
              HasSubstr("no domain can be read in two ways"));
}

TEST_F(PerfCommand, DoctorTellsAUserTheCapabilityOnce) {
  tree_.add_zone("intel-rapl:0", "package-0");
  std::filesystem::permissions(tree_.root(), std::filesystem::perms(0755));
  std::filesystem::permissions(tree_.zone_path("intel-rapl:0") / "energy_uj",
                               std::filesystem::perms::owner_read);
  const std::string as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  if (shell(as_nobody + "true").code != 0) GTEST_SKIP() << "cannot become another user";
  const Outcome outcome = shell(line("doctor", as_nobody));
  if (outcome.code != kNothingReadable) GTEST_SKIP() << "users may count here: " << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("package_0, dram_0 (perf) are not measured"));
  EXPECT_THAT(outcome.out, HasSubstr("setcap cap_perfmon+ep"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("powercap"))) << "one remedy is enough";
}

}  // namespace
}  // namespace wattle
