// CPU energy for users who may not read it: by way of a daemon on the same machine.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/files/file.hpp"
#include "daemon.hpp"

namespace wattle::integration {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// What is known of a domain in a report; null where it is not in there.
Json domain_of(const Json& energy, std::string_view name) {
  for (const Json& domain : energy["domains"]) {
    if (domain["name"] == name) return domain;
  }
  return nullptr;
}

/// Copies of the programs that an ordinary user can execute, a tree of counters that it cannot
/// read, and a daemon that it may ask.
class DaemonSource : public DaemonTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "becoming an ordinary user needs root";
    for (const fs::path& folder : {folder_.path(), tree_.root()}) ::chmod(folder.c_str(), 0755);
    fs::copy(wattle_program(), path("wattle"));
    fs::copy(child_program(), path("test_child"));
    fs::copy(measuring_program(), path("measuring"));
    fs::create_directory(path("out"));
    ::chmod(path("out").c_str(), 0777);
    for (const char* const zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"}) {
      ::chmod((tree_.zone_path(zone) / "energy_uj").c_str(), 0400);
    }
    spend(10.0);
  }

  /// The counters have moved since the daemon read them first.
  void serve_everybody() {
    serve({"--socket-permissions", "666"}, "");
    spend(1.0);
  }

  /// All counters advance by so many joules. At most 2: what they may do at once, however soon
  /// after the reading before.
  void spend(double joules) {
    spent_ += joules;
    const auto ticks = static_cast<std::uint64_t>(spent_ / fakes::kPackageUnit.tick_j);
    for (const char* const zone : {"intel-rapl:0", "intel-rapl:1"}) {
      fakes::set_energy_uj(tree_.zone_path(zone), fakes::kPackageUnit.energy_uj(ticks));
    }
    fakes::set_energy_uj(tree_.zone_path("intel-rapl:0:0"),
                         fakes::kPackageUnit.energy_uj(ticks / 2));
  }

  /// A program in surroundings where it sees nothing of the machine but the tree and the daemon.
  [[nodiscard]] Start on_tree(const Words& command) const {
    return {.command = command,
            .environment = {{"WATTLE_SYSFS", tree_.system().sysfs},
                            {"WATTLE_NVML_LIBRARY", path("nothing.so").string()},
                            {"WATTLE_SOCK_PATH", socket()}}};
  }
  [[nodiscard]] Start as_nobody(const Words& command) const {
    Start start = on_tree(command);
    start.prepare = become_ordinary_user;
    return start;
  }
  /// A run whose command waits for a line.
  [[nodiscard]] Words waiting_run(const std::string& json) const {
    return {path("wattle"),     "run",   "--quiet", "--json",   path(json), "--",
            path("test_child"), "print", "ready",   "read_line"};
  }
  [[nodiscard]] Json report(const std::string& json) const {
    return parse_json(content_of(path(json)));
  }
  static Outcome release(Process& process) {
    process.write_input("go\n");
    return process.wait();
  }

 private:
  double spent_ = 0.0;
};

TEST_F(DaemonSource, AnUnprivilegedRunGetsTheEnergyThatAPrivilegedOneGets) {
  serve_everybody();
  Process privileged(on_tree(waiting_run("out/root.json")));
  Process unprivileged(as_nobody(waiting_run("out/nobody.json")));
  ASSERT_TRUE(privileged.prints("ready"));
  ASSERT_TRUE(unprivileged.prints("ready"));
  spend(2.0);
  EXPECT_EQ(release(privileged).code(), 0);
  EXPECT_EQ(release(unprivileged).code(), 0);

  const Json by_root = report("out/root.json")["energy"];
  const Json by_nobody = report("out/nobody.json")["energy"];
  EXPECT_EQ(by_nobody["total_covers"], (Json{"cpu", "dram"}));
  for (const auto& [name, joules] :
       {std::pair("package_0", 2.0), std::pair("package_1", 2.0), std::pair("dram_0", 1.0)}) {
    const Json direct = domain_of(by_root, name);
    const Json served = domain_of(by_nobody, name);
    ASSERT_TRUE(direct.is_object() && served.is_object()) << by_root << by_nobody;
    EXPECT_EQ(direct["source"], "powercap");
    EXPECT_EQ(served["source"], "daemon");
    // Where the machine is busy, an answer can come so late that the end of the run is estimated.
    const double own = served["uncertainty_j"].get<double>();
    const double both = own + direct["uncertainty_j"].get<double>();
    EXPECT_NEAR(served["energy_j"].get<double>(), direct["energy_j"].get<double>(), both);
    EXPECT_NEAR(served["energy_j"].get<double>(), joules, own + 0.001);
    EXPECT_EQ(served["unknown_s"], 0.0) << served;
  }
}

TEST_F(DaemonSource, WhoMayReadTheCountersAsksNobody) {
  serve_everybody();
  const Outcome outcome =
      run(on_tree({path("wattle"), "run", "--quiet", "--json", path("out/j"), "--", "true"}));
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_EQ(domain_of(report("out/j")["energy"], "package_0")["source"], "powercap");
}

TEST_F(DaemonSource, AMeterInAProgramGetsItToo) {
  serve_everybody();
  Process program(
      as_nobody({path("measuring"), path("test_child"), "print", "ready", "read_line"}));
  ASSERT_TRUE(program.prints("ready"));
  spend(2.0);
  const Outcome outcome = release(program);
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_THAT(outcome.err, testing::ContainsRegex("package_0: (1\\.[5-9]|2)"));
}

TEST_F(DaemonSource, ATrackerGetsItToo) {
  serve_everybody();
  Process target(as_nobody({path("test_child"), "print", "ready", "read_line"}));
  ASSERT_TRUE(target.prints("ready"));
  Process tracker(as_nobody({path("wattle"), "track", "--pid", std::to_string(target.pid()),
                             "--sleep-time", "0.05", "--tracking-file", path("out/rows.csv"),
                             "--json", path("out/track.json")}));
  const auto has_begun = [&] {
    const auto rows = read_file(path("out/rows.csv").string());
    constexpr int kHeaderLines = 3;  // they come before the counters are read
    return rows && std::ranges::count(*rows, '\n') > kHeaderLines;
  };
  ASSERT_TRUE(eventually(has_begun));
  spend(2.0);
  EXPECT_EQ(release(target).code(), 0);
  const Outcome outcome = tracker.wait();
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  const Json energy = report("out/track.json")["energy"];
  const Json package = domain_of(energy, "package_0");
  // It is read for the last time after the process has ended: later on a busy machine.
  const double doubt_j = std::max(0.01, package["uncertainty_j"].get<double>());
  EXPECT_NEAR(package["energy_j"].get<double>(), 2.0, doubt_j) << energy;
}

TEST_F(DaemonSource, ADaemonThatWasRestartedIsFlaggedAndNothingIsCountedTwice) {
  serve_everybody();
  Process wattle(as_nobody(waiting_run("out/j")));
  ASSERT_TRUE(wattle.prints("ready"));
  spend(2.0);
  daemon_.reset();  // killed
  spend(2.0);
  serve_everybody();
  spend(1.0);
  EXPECT_EQ(release(wattle).code(), 0);
  const Json domain = domain_of(report("out/j")["energy"], "package_0");
  ASSERT_TRUE(domain.is_object());
  EXPECT_THAT(domain["flags"], Contains("reset")) << domain;
  EXPECT_GT(domain["unknown_s"].get<double>(), 0.0) << domain;
  if (domain["energy_j"].is_number()) {
    EXPECT_LT(domain["energy_j"].get<double>(), 3.01) << "what was spent meanwhile is not known";
  }
}

TEST_F(DaemonSource, ADaemonThatDiesLeavesTheRunAlone) {
  serve_everybody();
  Process wattle(as_nobody(waiting_run("out/j")));
  ASSERT_TRUE(wattle.prints("ready"));
  daemon_.reset();
  const Outcome outcome = release(wattle);
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  const Json domain = domain_of(report("out/j")["energy"], "package_0");
  EXPECT_GT(domain["unknown_s"].get<double>(), 0.0) << domain;
}

TEST_F(DaemonSource, DoctorRecommendsTheDaemonFirst) {
  const Outcome outcome = run(as_nobody({path("wattle"), "doctor", "--verbose"}));
  EXPECT_THAT(outcome.out, HasSubstr("remedy  wattle doctor --fix cpu prints the commands"));
  EXPECT_THAT(outcome.out, HasSubstr("no daemon listens on"));
  const std::string script = run(as_nobody({path("wattle"), "doctor", "--fix", "cpu"})).out;
  EXPECT_LT(script.find("wattle doctor --fix daemon"), script.find("\nsetcap ")) << script;
}

TEST_F(DaemonSource, DoctorSaysWhichGroupMayAsk) {
  serve();
  const Outcome outcome = run(as_nobody({path("wattle"), "doctor", "--verbose"}));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("only root may ask the daemon"),
                                 HasSubstr("--socket-group wattle"), HasSubstr(socket())));
}

TEST_F(DaemonSource, SensorsShowsTheDaemonAsAWayAndCrossChecksIt) {
  serve_everybody();
  const Outcome by_nobody = run(as_nobody({path("wattle"), "sensors"}));
  EXPECT_THAT(by_nobody.out, HasSubstr("daemon: " + socket()));
  EXPECT_THAT(by_nobody.out, HasSubstr("package_0"));
  const Json json =
      parse_json(run(on_tree({path("wattle"), "sensors", "--cross-check", "--json"})).out);
  EXPECT_EQ(json["channels"][0]["source"], "powercap");
  EXPECT_EQ(json["channels"][0]["alternatives"][0]["source"], "daemon");
  EXPECT_THAT(json["cross_check"].dump(), HasSubstr("\"daemon\"")) << json["cross_check"];
}

TEST_F(DaemonSource, ATokenIsTakenFromTheEnvironment) {
  const std::string key = key_file("0123456789abcdef0123456789abcdef");
  serve({"--socket-permissions", "666", "--signing-key-path", key}, "");
  const Words words = {path("wattle"), "run", "--quiet", "--json", path("out/j"), "--", "true"};
  EXPECT_EQ(run(as_nobody(words)).code(), 0);
  EXPECT_THAT(report("out/j")["refused"].dump(), HasSubstr("the daemon requires a token"));
  spend(1.0);
  Start start = as_nobody(words);
  start.environment["WATTLE_TOKEN"] = token("nobody", "cpu-read");
  EXPECT_EQ(run(start).code(), 0);
  EXPECT_EQ(domain_of(report("out/j")["energy"], "package_0")["source"], "daemon");
}

TEST_F(DaemonSource, WhereThereIsNoSocketOneCallFails) {
  const std::string trace = path("out/trace").string();
  Start start = as_nobody({"strace", "-f", "-o", trace, "-e", "trace=socket,connect,sendto",
                           path("wattle"), "run", "--quiet", "--", "true"});
  const Outcome outcome = run(start);
  if (outcome.code() != 0) GTEST_SKIP() << "strace does not work here: " << outcome.err;
  std::size_t calls = 0;
  const std::string text = content_of(trace);
  for (std::size_t at = text.find("connect("); at != std::string::npos;
       at = text.find("connect(", at + 1)) {
    ++calls;
  }
  EXPECT_EQ(calls, 1U) << text;
  EXPECT_THAT(text, Not(HasSubstr("sendto(")));
}

}  // namespace
}  // namespace wattle::integration
