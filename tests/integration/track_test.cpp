// `wattle track` of real processes.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "command.hpp"
#include "fakes/process_files.hpp"
#include "sanitized.hpp"
#include "wattle/tracker.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class TrackCommand : public CommandTest {
 protected:
  [[nodiscard]] Start track(const Process& target, const Words& options) const {
    return wattle_track(target.pid(), options);
  }
};

const Start kSleeper{.command = {"sleep", "1000"}};

TEST_F(TrackCommand, ReportsUntilTheDurationIsOver) {
  const Process target(kSleeper);
  const Outcome outcome = run(track(
      target, {"--duration", "0.05", "--time-unit", "seconds", "--json", path("o.json").string()}));
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Max RAM:\n   Unit: gigabytes\n"));
  EXPECT_THAT(outcome.err, IsEmpty());
  const Json json = parse_json(content_of(path("o.json")));
  EXPECT_EQ(json["schema"], "wattle.track/2");
  EXPECT_GE(json["resource_usage"]["compute_time"]["time"].get<double>(), 0.05);
  EXPECT_GT(json["resource_usage"]["max_ram"]["main"]["total_rss"].get<double>(), 0.0);
}

TEST_F(TrackCommand, MarksMemoryThatIsAnUpperBound) {
  const fakes::ProcessFiles machine;
  machine.folder().write("meminfo", "MemTotal: 6000000 kB\nMemAvailable: 1000000 kB\n");
  // As large as this they are not asked for their PSS.
  constexpr std::uint64_t kRssKib = 4'500'000;
  machine.put({.pid = 100, .rss_kib = kRssKib, .peak_kib = kRssKib, .children = {101}});
  machine.put({.pid = 101, .parent = 100, .rss_kib = kRssKib, .peak_kib = kRssKib});
  Start start = wattle_track(100, {"--procfs", machine.folder().path().string(), "--duration",
                                   "0.05", "--ram-unit", "bytes", "--json", path("o").string()});
  const Outcome outcome = run(start);
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Combined:\n      Total RSS: at most 6144000000.0\n"));
  const Json usage = parse_json(content_of(path("o")))["resource_usage"];
  EXPECT_THAT(usage["estimated"], testing::Contains(Json("max_ram.combined.total_rss")));
  EXPECT_EQ(usage["max_ram"]["combined"]["total_rss"], 6'144'000'000.0) << "the machine's memory";
}

TEST_F(TrackCommand, RefusesAGpuThatIsNotThere) {
  const Process target(kSleeper);
  const Outcome outcome = run(track(target, {"--gpu-uuids", "GPU-x"}));
  EXPECT_EQ(outcome.code(), 64);
  EXPECT_THAT(outcome.err, HasSubstr("cannot track: no GPU is called 'GPU-x'"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST_F(TrackCommand, EndsWithItsProcess) {
  Process target(kSleeper);
  Process tracker(track(target, {"--sleep-time", "0.01", "--tracking-file", path("t").string()}));
  EXPECT_TRUE(eventually([&] {
    std::ifstream file(path("t"));
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n') > 3;
  }));
  target.send(SIGKILL);
  (void)target.wait();
  EXPECT_EQ(tracker.wait().code(), 0);
  const std::string rows = content_of(path("t"));
  EXPECT_THAT(rows, Not(testing::ContainsRegex("\n0,"))) << "no memory of a process that has ended";
}

TEST_F(TrackCommand, ShowsAShortTimeInHours) {
  const Process target(kSleeper);
  const Outcome outcome = run(track(target, {"--duration", "0.05"}));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("Unit: hours\n   Time: 0\\.0000[1-9]"));
  EXPECT_THAT(outcome.out, Not(testing::ContainsRegex("Combined:\n      Total RSS: 0\\.0\n")));
}

TEST_F(TrackCommand, EndsWithCtrlC) {
  const Process target(kSleeper);
  Process tracker(track(target, {"--usage-file", path("u").string()}));
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path("u")); }));
  tracker.send(SIGINT);
  const Outcome outcome = tracker.wait();
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("Compute time:"));
  EXPECT_FALSE(std::filesystem::exists(path("u")));
}

TEST_F(TrackCommand, LeavesAUsageFileThatIsReadableWheneverItIsKilled) {
  const Process target(kSleeper);
  std::mt19937 random(7);
  std::uniform_int_distribution<int> wait_us(0, 20'000);
  constexpr int kTimes = kSanitized ? 25 : 200;
  for (int i = 0; i < kTimes; ++i) {
    Process tracker(track(target, {"--sleep-time", "0.01", "--usage-file", path("u").string(),
                                   "--tracking-file", path("t").string()}));
    ASSERT_TRUE(eventually([&] {
      std::error_code none;
      return std::filesystem::file_size(path("u"), none) > 0 && !none;
    }));
    std::this_thread::sleep_for(std::chrono::microseconds(wait_us(random)));
    tracker.send(SIGKILL);
    (void)tracker.wait();
    const std::string lines = content_of(path("u"));
    const ResourceUsage found = recover_usage(path("u"));
    std::string last = lines.substr(0, lines.rfind('\n'));
    last = last.substr(last.rfind('\n') + 1);
    EXPECT_EQ(parse_json(found.to_native_json())["resource_usage"],
              parse_json(last)["resource_usage"]);
    const auto ticks = parse_json(last)["tick"].get<std::size_t>();
    // A row is written just before a line of the usage file.
    const std::string rows = content_of(path("t"));
    constexpr std::ptrdiff_t kHeader = 3;
    const auto looks = static_cast<std::size_t>(std::ranges::count(rows, '\n') - kHeader);
    EXPECT_TRUE(ticks == looks || ticks + 1 == looks) << ticks << " " << looks;
    std::filesystem::remove(path("u"));
    std::filesystem::remove(path("t"));
  }
}

TEST_F(TrackCommand, ReportsWhatAUsageFileHolds) {
  const Process target(kSleeper);
  Process tracker(track(target, {"--sleep-time", "0.01", "--usage-file", path("u").string()}));
  ASSERT_TRUE(eventually([&] {
    std::error_code none;
    return std::filesystem::file_size(path("u"), none) > 0 && !none;
  }));
  tracker.send(SIGKILL);
  (void)tracker.wait();
  const Outcome outcome =
      run(wattle({"track", "--recover", path("u").string(), "--json", path("r").string()}));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("Max RAM:"));
  const ResourceUsage found = recover_usage(path("u"));
  EXPECT_EQ(parse_json(content_of(path("r"))), parse_json(found.to_native_json()));
}

TEST_F(TrackCommand, ReportsWhatIsWrong) {
  const Process target(kSleeper);
  EXPECT_THAT(run(wattle({"track", "--pid", "4194305"})).err, HasSubstr("no such process"));
  EXPECT_EQ(run(wattle({"track", "--pid", "4194305"})).code(), kUsage);
  const Outcome unit = run(track(target, {"--ram-unit", "gib"}));
  EXPECT_EQ(unit.code(), kUsage);
  EXPECT_THAT(unit.err, HasSubstr("Valid values are bytes"));
  folder_.write("there", "precious");
  const Outcome there = run(track(target, {"--tracking-file", path("there").string()}));
  EXPECT_EQ(there.code(), kUsage);
  EXPECT_THAT(there.err, HasSubstr("it exists; choose another name, or use --overwrite\n"));
  EXPECT_EQ(content_of(path("there")), "precious");
  EXPECT_EQ(run(wattle({"track", "--recover", path("there").string()})).code(), kFailed);
  EXPECT_EQ(run(wattle({"track", "--recover", path("none").string()})).code(), kFailed);
}

TEST_F(TrackCommand, ReportsWhereADiskIsFull) {
  const Process target(kSleeper);
  const Outcome outcome = run(
      track(target, {"--duration", "0.05", "--sleep-time", "0.01", "--usage-file", "/dev/full"}));
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("/dev/full"));
  EXPECT_THAT(outcome.out, HasSubstr("Compute time:"));
}

TEST_F(TrackCommand, KnowsAllButThePssOfAProcessOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become two users";
  const Process target(kSleeper);
  Start start = track(target, {"--duration", "0.05", "--json", "-"});
  start.prepare = become_ordinary_user;
  const Json usage = parse_json(run(start).out)["resource_usage"];
  EXPECT_GT(usage["max_ram"]["main"]["total_rss"].get<double>(), 0.0);
  EXPECT_TRUE(usage["cpu_utilization"]["main"]["mean_sum_percent"].is_number());
  EXPECT_TRUE(usage["peak_pss_bytes"].is_null());
  EXPECT_THAT(usage["estimated"].dump(), HasSubstr("max_ram.combined.total_rss"));
  EXPECT_THAT(usage["unknown"].dump(), HasSubstr("may not read"));
}

}  // namespace
}  // namespace wattle::integration
