// Estimates and shares of the built program: on a machine without sensors, and beside a
// measurement.
#include <csignal>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/clock.hpp"
#include "command.hpp"
#include "estimate/baseline.hpp"
#include "fakes/powercap_tree.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kStat = "cpu 0 0 0 1000 0 0 0 0\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n";

class Estimates : public CommandTest {
 protected:
  /// No sensors; the processors and their times are those of the machine that runs the test.
  [[nodiscard]] Words without_sensors() const {
    return {"--sysfs", path("no_sysfs"), "--gpus", "none"};
  }
  [[nodiscard]] Words in_tree() const {
    const System system = tree_.system();
    return {"--sysfs", system.sysfs, "--procfs", system.procfs, "--gpus", "none"};
  }
  /// 40 W for so long.
  [[nodiscard]] Words player(int ms) const {
    return {player_program(),
            std::to_string(ms),
            tree_.zone_path("intel-rapl:0"),
            "40",
            "6.103515625e-05",
            "61035",
            "0"};
  }
  void add_package() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.write_proc("stat", kStat);
    tree_.write_proc("sys/kernel/random/boot_id", "b1\n");
  }
  [[nodiscard]] Start surroundings() const {
    return {.command = {}, .environment = {{"XDG_STATE_HOME", path("state").string()}}};
  }
  void keep_baseline(double watts) { keep_baseline(watts, tree_.system()); }
  void keep_baseline(double watts, const System& system) {
    const Baseline baseline{.machine = identity_of(system),
                            .taken_unix_s = to_unix(machine_clock().now()) - 60.0,
                            .length_s = 30.0,
                            .domains = {"package_0"},
                            .mean = Watts(watts)};
    const std::filesystem::path file =
        path("state") / "wattle/baseline" / (baseline.machine.host + ".json");
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << to_json(baseline);
  }
  [[nodiscard]] static std::int64_t nanojoules(const Json& joules) {
    return joules.is_null() ? 0 : std::llround(joules.get<double>() * 1e9);
  }
  fakes::PowercapTree tree_;
};

TEST_F(Estimates, AreNotMadeUnlessAskedFor) {
  const Outcome outcome = run(wattle_run(without_sensors(), {"sleep", "0.1"}));
  EXPECT_THAT(outcome.err, HasSubstr("--estimate prints a range instead"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("~")));
}

/// No text, key or column has an estimate where a measurement stands.
TEST_F(Estimates, StandWhereNoMeasurementStands) {
  const std::string series = path("series.csv");
  const std::string rows = path("rows.csv");
  const std::string text = path("report.txt");
  const auto [outcome, json] =
      measure(without_sensors() +
                  Words{"--estimate", "-o", text, "--series", series, "--tracking-file", rows},
              {"sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; sleep 0.2"});
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json& estimate = json["estimate"];
  ASSERT_TRUE(estimate["low_j"].is_number()) << estimate;
  EXPECT_LE(estimate["low_j"], estimate["typical_j"]);
  EXPECT_LE(estimate["typical_j"], estimate["high_j"]);
  EXPECT_LE(estimate["command"]["high_j"], estimate["high_j"]);
  EXPECT_TRUE(json["energy"]["total_j"].is_null());
  EXPECT_TRUE(json["energy"]["domains"].empty());
  EXPECT_TRUE(json["share"].is_null());
  Json rest = json;
  rest.erase("estimate");
  EXPECT_THAT(rest.dump(), Not(HasSubstr("typical_j")));
  for (const std::string& file : {series, rows}) {
    const std::string table = content_of(file);
    EXPECT_THAT(table, Not(HasSubstr("estimate"))) << file;
    EXPECT_THAT(table, Not(HasSubstr("typical"))) << file;
    EXPECT_THAT(table, Not(HasSubstr("~"))) << file;
  }
  // The host's power stays an empty cell.
  std::istringstream lines(content_of(series));
  std::string line;
  std::getline(lines, line);
  ASSERT_THAT(line, HasSubstr("elapsed_s,domain,power_w"));
  while (std::getline(lines, line)) EXPECT_THAT(line, HasSubstr(",host,,")) << line;
  std::istringstream report(content_of(text));
  int marked = 0;
  while (std::getline(report, line)) {
    if (line.find('~') == std::string::npos) continue;
    EXPECT_THAT(line, HasSubstr("not measured"));
    ++marked;
  }
  EXPECT_GE(marked, 2);
}

TEST_F(Estimates, AreNotMadeWhereASensorCoversTheCpu) {
  add_package();
  const auto [outcome, json] = measure(in_tree() + Words{"--estimate"}, player(200));
  EXPECT_TRUE(json["estimate"].is_null());
  EXPECT_FALSE(json["energy"]["total_j"].is_null());
}

TEST_F(Estimates, OfSharesCloseToTheTick) {
  add_package();
  keep_baseline(5.0);
  const auto [outcome, json] = measure_in(surroundings(), in_tree(), player(300));
  const Json& share = json["share"];
  ASSERT_TRUE(share.is_object()) << json;
  EXPECT_EQ(share["covers"].dump(), "[\"package_0\"]");
  EXPECT_THAT(share["idle_basis"].get<std::string>(), HasSubstr("idle by the baseline of"));
  EXPECT_EQ(nanojoules(share["idle_j"]) + nanojoules(share["command_j"]) +
                nanojoules(share["others_j"]) + nanojoules(share["unexplained_j"]),
            nanojoules(share["measured_j"]));
  EXPECT_EQ(nanojoules(share["measured_j"]), nanojoules(json["energy"]["total_j"]));
  EXPECT_GT(share["idle_j"], 0.0);
  EXPECT_LT(share["idle_j"], share["measured_j"]);
}

TEST_F(Estimates, OfSharesSayWhyIdleIsNotKnown) {
  add_package();
  const auto [outcome, json] = measure_in(surroundings(), in_tree(), player(100));
  EXPECT_TRUE(json["share"]["idle_j"].is_null());
  EXPECT_THAT(json["share"]["idle_unknown"].get<std::string>(), HasSubstr("wattle baseline"));
}

TEST_F(Estimates, OfSharesDoNotUseABaselineFromBeforeARestart) {
  add_package();
  keep_baseline(5.0);
  tree_.write_proc("sys/kernel/random/boot_id", "b2\n");
  const auto [outcome, json] = measure_in(surroundings(), in_tree(), player(100));
  EXPECT_TRUE(json["share"]["idle_j"].is_null());
  EXPECT_THAT(json["share"]["idle_unknown"].get<std::string>(), HasSubstr("was restarted"));
}

TEST_F(Estimates, OfSharesDoNotUseABaselineAboveWhatTheMachineDrew) {
  add_package();
  keep_baseline(500.0);
  const auto [outcome, json] = measure_in(surroundings(), in_tree(), player(100));
  EXPECT_EQ(json["share"]["below_idle"], true);
  EXPECT_TRUE(json["share"]["idle_j"].is_null());
  EXPECT_TRUE(json["share"]["idle_basis"].is_null());
  EXPECT_THAT(json["share"]["idle_unknown"].get<std::string>(),
              HasSubstr("the machine drew less than idle by the baseline of"));
  EXPECT_GT(json["share"]["high_j"], 0.0);
}

TEST_F(Estimates, OfSharesDoNotUseABaselineOfAnotherMachine) {
  add_package();
  keep_baseline(5.0);
  const auto file = std::filesystem::directory_iterator(path("state") / "wattle/baseline")->path();
  Json baseline = parse_json(content_of(file));
  baseline["host"] = "another";
  std::ofstream(file) << baseline.dump();
  const auto [outcome, json] = measure_in(surroundings(), in_tree(), player(100));
  EXPECT_TRUE(json["share"]["idle_j"].is_null());
  EXPECT_THAT(json["share"]["idle_unknown"].get<std::string>(),
              HasSubstr("of another machine, another"));
}

/// `wattle baseline` on a machine whose /proc/stat advances while it runs.
class Baselines : public Estimates {
 protected:
  struct Machine {
    fakes::PowercapTree tree{};
    double busy = 0.0;  ///< part of the CPU time
    double ticks = 0.0;
  };
  void add_package_of_10_watts(Machine& machine) {
    machine.tree.add_zone("intel-rapl:0", "package-0");
    machine.tree.write_proc("sys/kernel/random/boot_id", "b1\n");
    advance(machine, 0.0);
    players_.push_back(std::make_unique<Process>(
        Start{.command = {player_program(), "3600000", machine.tree.zone_path("intel-rapl:0"), "10",
                          "6.103515625e-05", "61035", "0"}}));
  }
  /// Two CPUs of 100 ticks a second. Readers see the old file or the new one.
  static void advance(Machine& machine, double seconds) {
    machine.ticks += 200.0 * seconds;
    const auto busy = static_cast<long>(machine.ticks * machine.busy);
    const long idle = static_cast<long>(machine.ticks) - busy;
    machine.tree.write_proc("stat.new", "cpu " + std::to_string(busy) + " 0 0 " +
                                            std::to_string(1000 + idle) +
                                            " 0 0 0 0\ncpu0 0 0 0 500\ncpu1 0 0 0 500\nintr 0\n");
    const std::filesystem::path proc = machine.tree.system().procfs;
    std::filesystem::rename(proc / "stat.new", proc / "stat");
  }
  [[nodiscard]] Start start(const Machine& machine, const char* home, const Words& words) const {
    const System system = machine.tree.system();
    Start start = wattle(
        Words{"baseline", "--seconds", "2", "--sysfs", system.sysfs, "--procfs", system.procfs} +
        words);
    start.environment["XDG_STATE_HOME"] = path(home).string();
    return start;
  }
  std::vector<std::unique_ptr<Process>> players_;
};

TEST_F(Baselines, AreTakenOfAnIdleMachineAlone) {
  Machine idle{.busy = 0.01};
  Machine loaded{.busy = 0.5};
  add_package_of_10_watts(idle);
  add_package_of_10_watts(loaded);
  Process of_idle(start(idle, "idle", {"--json"}));
  Process of_loaded(start(loaded, "loaded", {}));
  // Not a clock: as much CPU time passes as the counters of a machine with 100 Hz could show.
  while (of_idle.is_running() || of_loaded.is_running()) {
    advance(idle, 0.05);
    advance(loaded, 0.05);
  }
  const Outcome kept = of_idle.wait();
  ASSERT_EQ(kept.code(), 0) << kept.err;
  const Json baseline = parse_json(kept.out);
  EXPECT_NEAR(baseline["mean_w"].get<double>(), 10.0, 1.0);
  EXPECT_EQ(baseline["domains"].dump(), "[\"package_0\"]");

  const Outcome refused = of_loaded.wait();
  EXPECT_EQ(refused.code(), 1);
  EXPECT_THAT(
      refused.err,
      testing::ContainsRegex("not kept: the machine was not idle: [0-9.]+ of 2 CPU cores in use"));
  EXPECT_TRUE(std::filesystem::is_empty(path("loaded") / "wattle/baseline"));

  // The report names it; another boot does not use it.
  const System system = idle.tree.system();
  const Words machine = {"--sysfs", system.sysfs, "--procfs", system.procfs, "--gpus", "none"};
  const Start home{.command = {}, .environment = {{"XDG_STATE_HOME", path("idle").string()}}};
  const auto [outcome, json] = measure_in(home, machine, {"sleep", "0.2"});
  EXPECT_THAT(json["share"]["idle_basis"].get<std::string>(),
              testing::ContainsRegex("idle by the baseline of .* UTC: (9|10)\\..* over 2"));
  idle.tree.write_proc("sys/kernel/random/boot_id", "b2\n");
  const auto [restarted, other] = measure_in(home, machine, {"sleep", "0.1"});
  EXPECT_THAT(other["share"]["idle_unknown"].get<std::string>(), HasSubstr("was restarted"));
}

TEST_F(Baselines, ThatWereStoppedAreNotKept) {
  Machine machine{.busy = 0.01};
  add_package_of_10_watts(machine);
  Process stopped(start(machine, "state", {}));
  const std::filesystem::path folder = path("state") / "wattle/baseline";
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder); }));
  stopped.send(SIGINT);
  const Outcome outcome = stopped.wait();
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped before the end of its time; nothing is kept"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Baselines, AboveWhatTheMachineDrewGiveNoShares) {
  Machine machine{.busy = 0.5};
  add_package_of_10_watts(machine);
  const System system = machine.tree.system();
  keep_baseline(500.0, system);
  Start start = wattle({"top", "--once", "--seconds", "1", "--json", "--sysfs", system.sysfs,
                        "--procfs", system.procfs});
  start.environment["XDG_STATE_HOME"] = path("state").string();
  Process top(start);
  while (top.is_running()) advance(machine, 0.05);
  const Outcome outcome = top.wait();
  ASSERT_EQ(outcome.code(), 0) << outcome.err;
  const Json json = parse_json(outcome.out);
  EXPECT_GT(json["energy"]["measured_j"], 0.0);
  EXPECT_TRUE(json["idle"]["share"].is_null());
  EXPECT_TRUE(json["idle"]["basis"].is_null());
  EXPECT_THAT(json["idle"]["unknown"].get<std::string>(), HasSubstr("the machine drew less than"));
  EXPECT_TRUE(json["rest"]["share"].is_null());
}

TEST_F(Estimates, OfTopNameACounterThatDoesNotMove) {
  add_package();
  const Outcome top =
      run(wattle({"top", "--once", "--seconds", "1", "--sysfs", tree_.system().sysfs}));
  ASSERT_EQ(top.code(), 0) << top.err;
  EXPECT_THAT(top.out, HasSubstr("no energy: package_0: its counter does not move"));
}

TEST_F(Estimates, OfTopSayInJsonWhyIdleIsUnknown) {
  const Outcome top =
      run(wattle({"top", "--once", "--seconds", "0.1", "--json", "--sysfs", path("no_sysfs")}));
  ASSERT_EQ(top.code(), 0) << top.err;
  const Json json = parse_json(top.out);
  EXPECT_TRUE(json["idle"]["share"].is_null());
  EXPECT_THAT(json["idle"]["unknown"].get<std::string>(), HasSubstr("there is no folder"));
}

TEST_F(Baselines, NeedASensorThatCanBeRead) {
  const Outcome none = run(wattle({"baseline", "--seconds", "2", "--sysfs", path("no_sysfs")}));
  EXPECT_EQ(none.code(), 2);
  EXPECT_THAT(none.err, HasSubstr("wattle baseline: no CPU energy can be measured"));
  Machine machine;
  machine.tree.add_zone("intel-rapl:0", "package-0");
  machine.tree.remove_file("intel-rapl:0", "energy_uj");
  const Outcome refused = run(start(machine, "state", {}));
  EXPECT_EQ(refused.code(), 2);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("no CPU energy can be measured: "),
                                          HasSubstr("fix: see wattle doctor")));
  EXPECT_FALSE(std::filesystem::exists(path("state") / "wattle/baseline"));
}

/// The demo and README's first example make sense with sensors and without: both name what they
/// are, and no reader has to guess.
TEST_F(Estimates, OfTheDemoStandWhereNothingIsMeasured) {
  const std::string work = "sleep 0.2";
  const auto demo = [&](const std::filesystem::path& sysfs) {
    Start start{.command = {"bash", WATTLE_SCRIPTS "/demo", wattle_program(), work}};
    start.environment = {{"WATTLE_SYSFS", sysfs.string()},
                         {"WATTLE_NVML_LIBRARY", path("none.so").string()}};
    return run(start);
  };
  const Outcome without = demo(path("no_sysfs"));
  ASSERT_EQ(without.code(), 0) << without.err;
  EXPECT_THAT(without.err, testing::AllOf(HasSubstr("no energy: "), HasSubstr("not measured: ~")));
  EXPECT_THAT(without.out, HasSubstr("demo: wattle run --estimate -- sh -c 'sleep 0.2'"));

  add_package();
  const Process load(Start{.command = player(3'600'000)});
  const Outcome with = demo(tree_.system().sysfs);
  ASSERT_EQ(with.code(), 0) << with.err;
  EXPECT_THAT(with.err,
              testing::ContainsRegex("energy of this machine while the command ran: [0-9.]+ J"));
  EXPECT_THAT(with.err, HasSubstr("share of this command, not measured: "));
  EXPECT_THAT(with.err, Not(HasSubstr("no energy")));
}

}  // namespace
}  // namespace wattle::integration
