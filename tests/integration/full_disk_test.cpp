// What a summary says of a run whose disk was full for a while.
#include <unistd.h>

#include <filesystem>
#include <string>

#include "command.hpp"
#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

constexpr int kNoSmallDisk = 99;
constexpr double kWatts = 100.0;
constexpr double kFullS = 0.3;  ///< at least so long rows are lost

/// The seconds within its day of a line of hw_metrics.csv: "2026/11/21 01:50:09.123, ...".
double seconds_of(const std::string& line) {
  const auto number = [&](std::size_t at, std::size_t length) {
    return std::stod(line.substr(at, length));
  };
  return number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 6);
}

class FullDiskMonitor : public CommandTest {
 protected:
  /// `wattle monitor` of eight GPUs on a small disk, which `meanwhile`, of a shell, waits for to be
  /// full. The files are in "copy" then. False: no disk can be mounted here.
  [[nodiscard]] bool monitor(const std::string& meanwhile) const {
    constexpr const char* kScript =
        "head -c 100k /dev/zero > \"$1/filler\"\n"
        "\"$0\" monitor \"$1\" --interval 0.005 --sysfs \"$2\" --nvml-library \"$3\" --quiet -- "
        "sh -c \"$4\" 2> \"$2.log\"\n"
        "cp -r \"$1\" \"$2.copy\"\n";
    fs::create_directory(path("disk"));
    Start start{.command = {"sh", "-c", kScript, wattle_program(), path("disk"), path("x"),
                            nvml_.library_path(), meanwhile}};
    start.environment = {{"WATTLE_FAKE_NVML", nvml_.script_path()}};
    start.folder = folder_.path();
    start.prepare = [disk = path("disk").string()] {
      if (!mount_memory(disk, "size=256k")) ::_exit(kNoSmallDisk);
    };
    const Outcome outcome = run(start);
    EXPECT_EQ(outcome.err, "");
    return outcome.code() != kNoSmallDisk;
  }
  /// From the first row of the first GPU to the last.
  [[nodiscard]] double span_s() const {
    const std::string rows = content_of(path("x.copy/hw_metrics.csv"));
    const std::size_t last = rows.rfind('\n', rows.size() - 2) + 1;
    const double span_s = seconds_of(rows.substr(last)) - seconds_of(rows);
    return span_s < 0.0 ? span_s + 86400.0 : span_s;  // midnight
  }
  /// Of all GPUs in `wattle summary`: what is known, and what would be at the same power.
  struct Told {
    double energy_j = 0.0;
    double unknown_s = 0.0;
  };
  [[nodiscard]] Told summary() const {
    const Json json = parse_json(run(wattle({"summary", path("x.copy"), "--json"})).out);
    // Of all together: after a pause, rows do not show which of eight that are alike they are of.
    return {.energy_j = json["all_gpus"]["energy_j"].get<double>(),
            .unknown_s = kGpus * json["all_gpus"]["energy_unknown_s"].get<double>()};
  }
  /// Known and unknown make up the whole run; that of the rows alone, too.
  void expect_that_nothing_is_forgotten() const {
    const double whole_j = kGpus * kWatts * span_s();
    constexpr double kRoundingJ = kGpus * kWatts * 0.02;
    const Told counted = summary();
    EXPECT_NEAR(counted.energy_j + kWatts * counted.unknown_s, whole_j, kRoundingJ);
    fs::remove(path("x.copy/hw_samples.csv"));
    const Told of_rows = summary();
    EXPECT_NEAR(of_rows.energy_j + kWatts * of_rows.unknown_s, whole_j, kRoundingJ);
    EXPECT_GE(of_rows.unknown_s, kGpus * kFullS);
  }
  static std::string played() {
    std::string script;
    for (int i = 0; i < kGpus; ++i) script += "gpu A\npower step 0 100\ncounter 0 step_ms 1\n";
    return script;
  }

  static constexpr int kGpus = 8;
  static constexpr const char* kUntilFull =
      "until grep -q 'hw_metrics.csv: No space' x.log; do sleep 0.01; done; sleep 0.3; ";
  fakes::FakeNvml nvml_{played()};
};

TEST_F(FullDiskMonitor, LeavesWhatItLostAsUnknownTimeWhereThereWasRoomAgain) {
  if (!monitor(std::string(kUntilFull) +
               "rm disk/filler; until grep -q 'hw_metrics.csv can be written again' x.log; do "
               "sleep 0.01; done; sleep 0.1")) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  expect_that_nothing_is_forgotten();
}

TEST_F(FullDiskMonitor, LeavesWhatItLostAsUnknownTimeToItsEnd) {
  if (!monitor(kUntilFull)) GTEST_SKIP() << "no file system can be mounted here";
  EXPECT_THAT(content_of(path("x.log")), HasSubstr("No space left on device"));
  expect_that_nothing_is_forgotten();
}

}  // namespace
}  // namespace wattle::integration
