// `wattle sensors --measure`: what is found out about sensors whose behaviour is known, because
// it is played. The machine may be busy with other things: bounds are wide.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "command.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const Json& channel_of(const Json& json, const std::string& domain, const std::string& quantity) {
  static const Json none;
  for (const Json& channel : json["channels"]) {
    if (channel["domain"] == domain && channel["quantity"] == quantity) return channel;
  }
  ADD_FAILURE() << "no " << quantity << " of " << domain;
  return none;
}

class MeasureCounters : public CommandTest {
 protected:
  MeasureCounters() { tree_.add_zone("intel-rapl:0", "package-0"); }

  [[nodiscard]] Outcome measure_tree(const Words& options = {}) const {
    const System system = tree_.system();
    Start start = wattle(Words{"sensors", "--measure"} + options +
                         Words{"--sysfs", system.sysfs, "--procfs", system.procfs, "--nvml-library",
                               path("nothing.so")});
    start.environment["XDG_STATE_HOME"] = path("state").string();
    return run(start);
  }
  /// Drives the counter at 5 W until the test ends. That is so little that it looks possible too
  /// where the player is kept waiting and then counts much at once.
  [[nodiscard]] Process play() const {
    return Process({.command = {player_program(), "60000", tree_.zone_path("intel-rapl:0"), "5",
                                "6.103515625e-05", "61035", "1000"}});
  }

  fakes::PowercapTree tree_;
};

TEST_F(MeasureCounters, FindsHowOftenACounterIsRenewed) {
  const Process player = play();
  const Json json = parse_json(measure_tree({"--json"}).out);
  const Json& channel = channel_of(json, "package_0", "energy");
  const Json& measured = channel["measured"];
  EXPECT_THAT(
      keys_of(measured),
      ElementsAre("length_s", "readings", "failed", "changes", "poll_s", "period_s", "jitter_s",
                  "p99_s", "period_at_most_s", "assumed_period_s", "step", "step_raw",
                  "least_step_raw", "call_s", "call_max_s", "monotonic", "reason"));
  // The player sleeps for a millisecond after each step. Where few processors are shared by many,
  // it is often wattle that makes way for it: then there is but a bound.
  const bool is_bound = measured["period_s"] == nullptr;
  const Json& period_s = measured[is_bound ? "period_at_most_s" : "period_s"];
  EXPECT_GT(period_s, 0.0009) << measured;
  EXPECT_LT(period_s, 0.05) << measured;
  EXPECT_EQ(measured["assumed_period_s"], 0.001);
  EXPECT_EQ(measured["reason"] == nullptr, !is_bound) << measured;
  EXPECT_GT(measured["step"], 0.0045) << "5 W for a millisecond";
  EXPECT_GT(measured["call_s"], 0.0);
  // A file is not the kernel's counter: a read can fall into a write of the player, and show the
  // first digits of one value with the last ones of another.
  EXPECT_TRUE(measured["monotonic"].is_boolean());
}

TEST_F(MeasureCounters, SaysWhyItFoundNothing) {
  EXPECT_THAT(measure_tree().out,
              HasSubstr("\n                     measured: unknown how often it is renewed "
                        "(assumed: 1.00 ms): it did not change in "));
  const Json json = parse_json(measure_tree({"--json"}).out);
  const Json& channel = channel_of(json, "package_0", "energy");
  const Json& measured = channel["measured"];
  EXPECT_THAT(measured["reason"], StartsWith("it did not change in "));
  EXPECT_EQ(measured["period_s"], nullptr);
  EXPECT_EQ(measured["jitter_s"], nullptr);
  EXPECT_EQ(measured["step_raw"], nullptr);
  EXPECT_EQ(measured["changes"], 0);
  EXPECT_EQ(channel["update_interval_s"], 0.001) << "what was assumed";
}

TEST_F(MeasureCounters, CanBeAskedTogetherWithTheCrossCheck) {
  const Json json = parse_json(measure_tree({"--json", "--cross-check"}).out);
  EXPECT_TRUE(json.contains("cross_check"));
  EXPECT_TRUE(json["channels"][0].contains("measured"));
}

TEST_F(MeasureCounters, TakesItsTimeOnlyWhereItIsAsked) {
  const System system = tree_.system();
  const Outcome outcome =
      run(wattle({"sensors", "--json", "--sysfs", system.sysfs, "--procfs", system.procfs}));
  EXPECT_THAT(outcome.out, Not(HasSubstr("measured")));
}

class MeasureGpus : public CommandTest {
 protected:
  /// Beside an empty sysfs, so that nothing but the script's GPUs is found.
  [[nodiscard]] Outcome measure_gpus(const std::string& script, const Words& options) const {
    const fakes::FakeNvml fake(script);
    Start start = wattle(Words{"sensors", "--measure"} + options +
                         Words{"--sysfs", path("nothing"), "--procfs", path("nothing"),
                               "--nvml-library", fake.library_path()});
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()},
                         {"XDG_STATE_HOME", path(state_).string()}};
    return run(start);
  }
  std::string state_ = "state";
};

/// The table of known boards says 100 ms for both, and that the power sensor sees a quarter.
TEST_F(MeasureGpus, PutsWhatItFindsInPlaceOfWhatIsAssumed) {
  const Outcome outcome = measure_gpus(
      "gpu NVIDIA H100 PCIe\n"
      "power linear 0 100 100 500\n"
      "counter 0 step_ms 20\n"
      "instant window_ms 25 update_ms 50\n",
      {"--json"});
  const Json json = parse_json(outcome.out);
  const Json& counter = channel_of(json, "nvidia_gpu_0", "energy");
  const Json& energy = counter["measured"];
  ASSERT_EQ(energy["reason"], nullptr) << energy;
  EXPECT_EQ(counter["update_interval_s"], energy["period_s"]);
  EXPECT_NEAR(energy["period_s"], 0.02, 0.005);
  EXPECT_EQ(energy["assumed_period_s"], 0.1);
  EXPECT_NEAR(energy["step"], 2.2, 0.5) << "100 W and more for 20 ms";
  EXPECT_EQ(energy["monotonic"], true);
  const Json& power = channel_of(json, "nvidia_gpu_0", "power_instant");
  EXPECT_NEAR(power["measured"]["period_s"], 0.05, 0.01);
  EXPECT_NEAR(power["coverage"], 0.5, 0.1);
  EXPECT_EQ(power["measured"]["monotonic"], nullptr);
  const Json& limit = channel_of(json, "nvidia_gpu_0", "power_limit")["measured"];
  EXPECT_EQ(limit["period_s"], nullptr);
  EXPECT_GT(limit["call_s"], 0.0);
  // At least 40 periods of what is renewed most slowly; what seldom changes is looked at for less.
  EXPECT_GT(energy["length_s"], 3.0);
  EXPECT_GT(power["measured"]["length_s"], 3.0);
  EXPECT_LT(limit["length_s"], 3.0);
}

constexpr const char* kRenewedEach20Ms =
    "driver 535.104.05\ngpu NVIDIA H100 PCIe\npower step 0 300\ncounter 0 step_ms 20\n";

TEST_F(MeasureGpus, KeepsHowOftenACounterIsRenewedForLaterRuns) {
  EXPECT_THAT(measure_gpus(kRenewedEach20Ms, {}).out, HasSubstr("kept for later runs: "));
  std::string kept;
  for (const auto& file : std::filesystem::directory_iterator(path("state/wattle/updates"))) {
    kept += content_of(file.path());
  }
  const Json json = parse_json(kept);
  EXPECT_EQ(json["sensors"][0]["sensor"], "nvml energy nvidia_gpu NVIDIA H100 PCIe 535.104.05");
  EXPECT_NEAR(json["sensors"][0]["mean_s"], 0.02, 0.005);
}

TEST_F(MeasureGpus, PrintsWhatItFoundWhereItCannotKeepIt) {
  std::ofstream(path("file")) << "no folder\n";
  state_ = "file";
  const Outcome outcome = measure_gpus(kRenewedEach20Ms, {});
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("not kept for later runs: "));
  EXPECT_THAT(outcome.out, HasSubstr("measured: "));
}

/// A board that nobody has described, under a load that turns on and off every 0.2573 s.
std::string unlisted_gpu(const std::string& sensors) {
  std::string script = "driver 570.1\ngpu NVIDIA B200\naverage none\n" + sensors + "power step";
  for (int step = 0; step < 300; ++step) {
    script += " " + std::to_string(0.2573 * step) + (step % 2 == 0 ? " 100" : " 600");
  }
  return script + "\n";
}

class WatchedLoad : public MeasureGpus {
 protected:
  /// What a command prints on stdout, after what was kept.
  [[nodiscard]] std::string shown_later(const Words& words, const std::string& script) const {
    const fakes::FakeNvml fake(script);
    Start start = wattle(words);
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()},
                         {"WATTLE_NVML_LIBRARY", fake.library_path()},
                         {"WATTLE_SYSFS", path("nothing").string()},
                         {"WATTLE_SOCK_PATH", "none"},
                         {"XDG_STATE_HOME", path(state_).string()}};
    const Outcome outcome = run(start);
    EXPECT_EQ(outcome.code(), 0) << outcome.err;
    return outcome.out;
  }
  /// What a run says of its energy, from a gauge alone.
  [[nodiscard]] Json flags_of_a_run(const std::string& script) const {
    (void)shown_later({"run", "--quiet", "--json", path("run.json").string(), "sleep", "0.5"},
                      script);
    return parse_json(content_of(path("run.json")))["energy"]["total_flags"];
  }
};

TEST_F(WatchedLoad, ShowsThatAGaugeSeesAQuarterOfTheTime) {
  const std::string gauge = "instant window_ms 25 update_ms 100\n";
  EXPECT_THAT(flags_of_a_run(unlisted_gpu("counter none\n" + gauge)),
              testing::Contains("coverage_unknown"));
  const Outcome outcome = measure_gpus(unlisted_gpu("counter 0 step_ms 100\n" + gauge),
                                       {"--watch-load", "10", "--json"});
  const Json json = parse_json(outcome.out);
  const Json& power = channel_of(json, "nvidia_gpu_0", "power_instant");
  ASSERT_EQ(power["seen"]["reason"], nullptr) << power;
  EXPECT_NEAR(power["seen"]["coverage"], 0.25, 0.15) << power;
  EXPECT_NEAR(power["seen"]["period_s"], 0.1, 0.02) << power;
  EXPECT_GE(power["seen"]["steps"], 20) << power;
  EXPECT_THAT(flags_of_a_run(unlisted_gpu("counter none\n" + gauge)),
              testing::AllOf(testing::Contains("partial_coverage"),
                             Not(testing::Contains("coverage_unknown"))));
  const std::string alone = unlisted_gpu("counter none\n" + gauge);
  EXPECT_THAT(shown_later({"sensors"}, alone), HasSubstr(" % of the time"));
  const std::string top = shown_later({"top", "--once", "--seconds", "0.5", "--json"}, alone);
  EXPECT_THAT(top, HasSubstr("partial_coverage"));
  EXPECT_THAT(top, Not(HasSubstr("coverage_unknown")));
}

TEST_F(WatchedLoad, ShowsThatAGaugeSeesAllOfTheTime) {
  const std::string gauge = "instant window_ms 100 update_ms 100\n";
  const Outcome outcome =
      measure_gpus(unlisted_gpu("counter 0 step_ms 100\n" + gauge), {"--watch-load", "10"});
  EXPECT_THAT(outcome.out,
              testing::ContainsRegex("sees (9[0-9]|100) % \\(±[0-9]+ %\\) of the time"));
  EXPECT_THAT(flags_of_a_run(unlisted_gpu("counter none\n" + gauge)),
              testing::AllOf(Not(testing::Contains("partial_coverage")),
                             Not(testing::Contains("coverage_unknown"))));
}

TEST_F(WatchedLoad, IsNotSeenWhereItIsSteadyOrThereIsNoCounter) {
  const Words options = {"--watch-load", "1"};
  EXPECT_THAT(measure_gpus("gpu NVIDIA B200\npower step 0 300\n", options).out,
              HasSubstr("unknown how much of the time it sees: the load did not turn on and off"));
  EXPECT_THAT(measure_gpus(unlisted_gpu("counter none\n"), options).out,
              HasSubstr("unknown how much of the time it sees: it has no energy counter"));
}

TEST_F(WatchedLoad, IsUnknownWhereTheDriverHangs) {
  // Everything else is measured within 7 s.
  const auto script = [](const std::string& fault) {
    return unlisted_gpu("counter 0 step_ms 100\ninstant window_ms 25 update_ms 100\n" + fault);
  };
  const Outcome outcome =
      measure_gpus(script("hang nvmlDeviceGetFieldValues from 10\n"), {"--watch-load", "30"});
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("measured: renewed every")) << "from before it hung";
  EXPECT_THAT(outcome.out, HasSubstr("unknown how much of the time it sees: the driver did not "
                                     "answer within 2 s\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr(" % of the time")));
  EXPECT_THAT(flags_of_a_run(unlisted_gpu("counter none\ninstant window_ms 25 update_ms 100\n")),
              testing::Contains("coverage_unknown"))
      << "nothing of a gauge was kept";
}

TEST_F(WatchedLoad, IsNamedWhereItWouldHelp) {
  constexpr const char* kHint = "unknown how much of the time it sees: --watch-load shows it";
  EXPECT_THAT(measure_gpus("gpu NVIDIA B200\npower step 0 300\n", {}).out, HasSubstr(kHint));
  EXPECT_THAT(measure_gpus("gpu NVIDIA H100 PCIe\npower step 0 300\n", {}).out,
              Not(HasSubstr(kHint)));
}

TEST_F(WatchedLoad, IsNotWaitedForWhereNoGaugeNeedsIt) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(measure_gpus("gpu NVIDIA H100 PCIe\npower step 0 300\n", {"--watch-load", "300"}).out,
              HasSubstr("--watch-load watched nothing: it is known"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(200));
}

TEST_F(WatchedLoad, NeedsAMeasurement) {
  const Outcome outcome = run(wattle({"sensors", "--watch-load", "30"}));
  EXPECT_EQ(outcome.code(), 64);
  EXPECT_THAT(outcome.err, HasSubstr("--watch-load needs --measure"));
}

/// The first GPU's driver does not come back soon after it was probed; the second one's does.
TEST_F(MeasureGpus, GivesUpADriverThatHangs) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = measure_gpus(
      "gpu A\n"
      "power step 0 100\n"
      "latency nvmlDeviceGetTotalEnergyConsumption 60000 from 2\n"
      "gpu B\n"
      "power step 0 100\n"
      "counter 0 step_ms 20\n",
      {});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, HasSubstr("nvidia_gpu_0       energy counter, 1.000 mJ a tick, no "
                                     "wrap known\n"
                                     "                     nvml: "
                                     "nvmlDeviceGetTotalEnergyConsumption\n"
                                     "                     measured: the driver did not answer "
                                     "within 2 s\n"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("measured: renewed every [12][0-9.]+ ms "
                                                  "\\(assumed: 100 ms\\), spread"));
}

}  // namespace
}  // namespace wattle::integration
