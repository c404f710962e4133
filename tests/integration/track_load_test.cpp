// `wattle track` of processes that are large, many, or trackers themselves.
#include "command.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

class TrackLoad : public CommandTest {
 protected:
  /// What `wattle track` tells of a process that has done these actions.
  [[nodiscard]] Json track(const Words& actions, const Words& options = {}) const {
    Process target({.command = child(actions + Words{"print", "done", "pause"})});
    EXPECT_TRUE(target.prints("done"));
    const Outcome outcome =
        run(wattle_track(target.pid(), Words{"--duration", "0.3", "--sleep-time", "0.05",
                                             "--ram-unit", "bytes", "--json", "-"} +
                                           options));
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return parse_json(outcome.out);
  }
};

TEST_F(TrackLoad, SeesMemoryThatWasThereBefore) {
  constexpr double kBytes = 640.0 * 1024 * 1024;
  const Json ram = track({"touch", "640"})["resource_usage"]["max_ram"];
  for (const char* group : {"main", "combined"}) {
    EXPECT_NEAR(ram[group]["total_rss"].get<double>(), kBytes, 0.01 * kBytes) << group;
    EXPECT_NEAR(ram[group]["private_rss"].get<double>(), kBytes, 0.01 * kBytes) << group;
  }
}

TEST_F(TrackLoad, CountsAThousandThreads) {
  const Json cpu = track({"threads", "1000"})["resource_usage"]["cpu_utilization"];
  EXPECT_EQ(cpu["main_n_threads"], 1001);
}

TEST_F(TrackLoad, FollowsFiveThousandProcesses) {
  const Json json = track({"crowd", "5000"});
  EXPECT_EQ(json["resource_usage"]["processes"], 5001);
  EXPECT_EQ(json["resource_usage"]["cpu_utilization"]["descendants_n_threads"], 5000);
  EXPECT_EQ(json["resource_usage"]["still_running"].size(), 5001U);
}

TEST_F(TrackLoad, DoesNotWalkThrough64GibOfMappings) {
  const Json json = track({"map", "64"});
  const Json& usage = json["resource_usage"];
  constexpr double kBytes = 64.0 * 1024 * 1024 * 1024;
  EXPECT_NEAR(usage["max_ram"]["main"]["total_rss"].get<double>(), kBytes, 0.01 * kBytes);
  EXPECT_EQ(usage["peak_pss_bytes"], nullptr);
  EXPECT_THAT(usage["unknown"].dump(), HasSubstr("would take more than 100 ms"));
  EXPECT_THAT(usage["estimated"].dump(), HasSubstr("max_ram.combined.total_rss"));
  EXPECT_LT(json["tracker_cpu_s"], 0.1) << "no walk through 16 million pages";
}

TEST_F(TrackLoad, OfTwoTrackersNeitherCountsTheOther) {
  Process shell({.command = {"sh"}});
  // Both are children of the process that they track. The second begins when the first has looked,
  // and ends before it: what a tracker takes after the last look at it counts (docs/tracker.md).
  const auto begin = [&](const std::string& name, const std::string& options) {
    shell.write_input("WATTLE_NVML_LIBRARY=/none.so WATTLE_SYSFS=/none '" + wattle_program() +
                      "' track --pid $$ --sleep-time 0.01 --json '" + path(name).string() +
                      "' --tracking-file '" + path(name + ".csv").string() + "' " + options +
                      " >/dev/null &\n" + name + "=$!\n");
    EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path(name + ".csv")); }));
  };
  begin("first", "");
  // A process is looked at for the mark of a tracker when it is found, and each second after that.
  begin("second", "--duration 3");
  shell.write_input("wait $second\nkill -TERM $first\nwait $first\nexit\n");
  shell.close_input();
  EXPECT_EQ(shell.wait().code(), 0);
  const auto usage_of = [&](const char* name) -> Json {
    const Json usage = parse_json(content_of(path(name)))["resource_usage"];
    EXPECT_EQ(usage["still_running"].size(), 1U) << "the shell: " << usage["still_running"];
    EXPECT_EQ(usage["cpu_utilization"]["main"]["mean_sum_percent"].is_number(), true);
    return usage;
  };
  // AddressSanitizer looks for leaks in a process of its own when the second ends.
  EXPECT_LE(usage_of("first")["processes"], kSanitized ? 2 : 1);
  const Json second = usage_of("second");
  EXPECT_EQ(second["processes"], 1);
  EXPECT_EQ(second["cpu_utilization"]["descendants"]["mean_sum_percent"], 0.0);
}

}  // namespace
}  // namespace wattle::integration
