// Processor time and memory of the command and of everything it starts, compared with what these
// processes measure themselves.
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "command.hpp"
#include "sanitized.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Ge;
using testing::Le;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

class Accounting : public CommandTest {
 protected:
  /// Seconds that the processes have recorded.
  [[nodiscard]] double recorded_s() const {
    std::ifstream file(path("recorded"));
    double sum_ns = 0.0;
    for (double ns = 0.0; file >> ns;) sum_ns += ns;
    return sum_ns * 1e-9;
  }
  [[nodiscard]] Words burn(int ms) const {
    return {"burn", std::to_string(ms), "record", path("recorded")};
  }
  [[nodiscard]] std::uint64_t peak_of(const Words& actions) const {
    return measure({}, child(actions)).json["resource_usage"]["peak_rss_bytes"];
  }
};

Words in_brackets(const Words& before, const Words& actions) {
  return before + Words{"["} + actions + Words{"]"};
}

TEST_F(Accounting, CountsEveryProcessWhereverItWent) {
  // 100 children in two rows, an orphan that ends before the command, and one that survives it.
  const Words row = in_brackets(
      {"background"}, in_brackets({"repeat", "50"}, in_brackets({"spawn"}, burn(30))) + burn(0));
  const Words actions = row + row + Words{"join"} + in_brackets({"daemon"}, burn(400)) +
                        in_brackets({"daemon"}, burn(300) + Words{"pid", "detach", "pause"}) +
                        burn(0);
  const auto [outcome, json] = measure({}, child(actions));
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const pid_t survivor = std::stoi(outcome.out);
  ::kill(survivor, SIGKILL);

  const Json& usage = json["resource_usage"];
  const double truth_s = recorded_s();
  EXPECT_GT(truth_s, 3.7);
  // What a process takes to end, it cannot record: up to 2 ms on a busy machine.
  EXPECT_GE(usage["cpu_s"], 0.98 * truth_s);
  EXPECT_LE(usage["cpu_s"], 1.02 * truth_s + 103 * 0.002);
  EXPECT_DOUBLE_EQ(usage["cpu_s"],
                   usage["cpu_user_s"].get<double>() + usage["cpu_system_s"].get<double>());
  ASSERT_EQ(usage["still_running"].size(), 1U);
  EXPECT_EQ(usage["still_running"][0]["pid"], survivor);
  EXPECT_NEAR(usage["still_running"][0]["cpu_s"], 0.3, 0.03);
}

TEST_F(Accounting, IsTheSameByPerfsTaskClock) {
  const Words row =
      in_brackets({"background"}, in_brackets({"repeat", "20"}, in_brackets({"spawn"}, burn(20))));
  const Json usage =
      measure({"--task-clock"}, child(row + row + Words{"join"} + burn(50))).json["resource_usage"];
  if (usage["cpu_task_clock_s"].is_null()) GTEST_SKIP() << usage["unknown"];
  EXPECT_GE(usage["cpu_task_clock_s"], 0.98 * recorded_s());
  EXPECT_EQ(usage["mismatches"], Json::array());
}

TEST_F(Accounting, SaysWhereMoreWasUsedThanAnybodyWaitedFor) {
  const Words actions = Words{"ignore_children"} + in_brackets({"spawn"}, burn(300));
  const Json usage = measure({"--task-clock"}, child(actions)).json["resource_usage"];
  if (usage["cpu_task_clock_s"].is_null()) GTEST_SKIP() << usage["unknown"];
  EXPECT_GE(usage["cpu_task_clock_s"], 0.98 * recorded_s());
  EXPECT_LT(usage["cpu_s"], usage["cpu_task_clock_s"].get<double>() - 0.29)
      << "the kernel throws the time of such a child away";
  ASSERT_EQ(usage["mismatches"].size(), 1U);
  EXPECT_EQ(usage["mismatches"][0]["keys"], Json::array({"cpu_user_s", "cpu_system_s", "cpu_s"}));
}

TEST_F(Accounting, LeavesOutChildrenThatWattleWasBornWith) {
  // As after `long_job & exec wattle run ...` in a script.
  Start start;
  start.prepare = [] {
    std::array<int, 2> end_of_stranger{};
    if (::pipe(end_of_stranger.data()) != 0) ::_exit(EXIT_FAILURE);
    const pid_t stranger = ::fork();
    if (stranger == 0) {
      const Words program = child({"burn", "500"});
      ::execl(program[0].c_str(), program[0].c_str(), "burn", "500", nullptr);
      ::_exit(EXIT_FAILURE);
    }
    // The command reads until the stranger has gone.
    ::close(end_of_stranger[1]);
    ::dup2(end_of_stranger[0], STDIN_FILENO);
  };
  const auto [outcome, json] = measure_in(start, {}, child({"read_all", "exit", "0"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_LT(json["resource_usage"]["cpu_s"], 0.25);
  EXPECT_EQ(json["resource_usage"]["still_running"], Json::array());
}

TEST_F(Accounting, PeakMemoryIsThatOfTheLargestProcess) {
  EXPECT_THAT(peak_of({"touch", "200"}), AllOf(Ge(200 * kMiB), Le(210 * kMiB)));
  const Words several =
      in_brackets({"spawn"}, {"touch", "100"}) + in_brackets({"spawn"}, {"touch", "150"});
  EXPECT_THAT(peak_of(several), AllOf(Ge(150 * kMiB), Le(160 * kMiB)));
}

TEST_F(Accounting, PeakMemoryKnowsThoseThatLiveOn) {
  const Words survivor = in_brackets({"daemon"}, {"touch", "120", "pid", "detach", "pause"});
  const auto [outcome, json] = measure({}, child(survivor));
  ::kill(std::stoi(outcome.out), SIGKILL);
  EXPECT_THAT(json["resource_usage"]["peak_rss_bytes"].get<std::uint64_t>(),
              AllOf(Ge(120 * kMiB), Le(130 * kMiB)));
}

TEST_F(Accounting, PeakMemoryDoesNotBeginWithThatOfWhoeverStartsWattle) {
  const std::vector<char> fat(300 * kMiB, '\1');
  EXPECT_THAT(peak_of({"touch", "100"}), AllOf(Ge(100 * kMiB), Le(110 * kMiB)));
}

TEST_F(Accounting, PeakMemoryOfACommandOfAFewMegabytesIsKnown) {
  EXPECT_THAT(peak_of({"touch", "20"}), AllOf(Ge(20 * kMiB), Le(30 * kMiB)));
}

TEST_F(Accounting, PeakMemoryOfASmallCommandIsItsOwnOrUnknown) {
  const auto [outcome, json] = measure({}, child({"exit", "0"}));
  const Json& usage = json["resource_usage"];
  if (!usage["peak_rss_bytes"].is_null()) {
    EXPECT_LT(usage["peak_rss_bytes"], 20 * kMiB);
  } else {
    EXPECT_THAT(usage["unknown"].dump(), testing::HasSubstr("peak_rss_bytes"));
  }
}

TEST_F(Accounting, CountsInputOutputFaultsAndSwitches) {
  const Words command = {"sh", "-c", "head -c 5000000 /dev/zero >/dev/null; true"};
  const Json usage = measure({}, command).json["resource_usage"];
  EXPECT_THAT(usage["minor_faults"], Ge(100U));
  EXPECT_THAT(usage["major_faults"], Ge(0U));
  EXPECT_THAT(usage["voluntary_switches"], Ge(1U)) << "the shell waited";
  EXPECT_THAT(usage["involuntary_switches"], Ge(0U));
  if (usage["io_read_bytes"].is_null()) GTEST_SKIP() << "this kernel keeps no account of I/O";
  EXPECT_THAT(usage["io_read_bytes"], AllOf(Ge(5'000'000U), Le(6'000'000U)));
  EXPECT_THAT(usage["io_written_bytes"], AllOf(Ge(5'000'000U), Le(6'000'000U)));
}

TEST_F(Accounting, MachineFiguresArePlausible) {
  const auto [outcome, json] = measure({}, child({"burn", "50"}));
  const Json& usage = json["resource_usage"];
  EXPECT_EQ(usage["cpu_utilization"]["system_core_count"], ::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_THAT(usage["cpu_utilization"]["system"]["mean_hardware_percent"].get<double>(),
              AllOf(Ge(0.0), Le(100.0)));
  EXPECT_GT(usage["max_ram"]["system"], 0.0);
  EXPECT_LT(usage["max_ram"]["system"], usage["max_ram"]["system_capacity"]);
  EXPECT_EQ(usage["compute_time"]["time"], json["wall_s"]);
}

TEST_F(Accounting, OfARunInsideOfARunIsThatOfBoth) {
  const Words inner =
      wattle_run({"--quiet", "--json", path("inner.json")}, child(burn(300) + Words{"exit", "7"}))
          .command;
  const auto [outcome, json] = measure({}, inner);
  EXPECT_EQ(outcome.code(), 7);
  const Json inner_json = parse_json(content_of(path("inner.json")));
  const double inner_s = inner_json["resource_usage"]["cpu_s"];
  EXPECT_GE(inner_s, recorded_s());
  EXPECT_GE(json["resource_usage"]["cpu_s"], inner_s);
}

TEST_F(Accounting, WithoutProcfsTheRestIsStillReported) {
  const Words survivor = in_brackets({"daemon"}, {"pid", "detach", "pause"});
  const auto [outcome, json] =
      measure({"--procfs", path("nothing")}, child(survivor + burn(50) + Words{"exit", "7"}));
  ::kill(std::stoi(outcome.out), SIGKILL);
  EXPECT_EQ(outcome.code(), 7);
  const Json& usage = json["resource_usage"];
  EXPECT_TRUE(usage["still_running"].is_null());
  EXPECT_TRUE(usage["max_ram"]["system"].is_null());
  EXPECT_TRUE(usage["cpu_utilization"]["system_core_count"].is_null());
  EXPECT_THAT(usage["unknown"].dump(), testing::HasSubstr("still_running"));
  EXPECT_GE(usage["cpu_s"], 0.05);
}

TEST_F(Accounting, FollowsTheCommandAndItsDescendants) {
  const Json usage =
      measure({"--interval", "0.01"}, {"sh", "-c", "sleep 0.3; true"}).json["resource_usage"];
  EXPECT_EQ(usage["processes"], 2);
  for (const char* group : {"main", "descendants", "combined"}) {
    EXPECT_GT(usage["max_ram"][group]["total_rss"], 0.0) << group;
    EXPECT_TRUE(usage["cpu_utilization"][group]["mean_sum_percent"].is_number()) << group;
  }
  // Where a sanitizer begins a thread in what is to become the command, that is seen too.
  EXPECT_THAT(usage["cpu_utilization"]["combined_n_threads"],
              kSanitized ? AnyOf(2, 3) : AnyOf(2, 2));
  EXPECT_THAT(usage["mechanisms"].dump(), testing::HasSubstr("CPU clocks"));
}

}  // namespace
}  // namespace wattle::integration
