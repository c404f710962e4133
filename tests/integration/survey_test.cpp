// `wattle sensors` and `wattle doctor`: what can be read here, and what cannot and why.
#include <fstream>

#include "base/dynlib.hpp"
#include "command.hpp"
#include "fakes/powercap_tree.hpp"
#include "pty.hpp"
#include "unit/report/golden.hpp"

namespace wattle::integration {
namespace {

using fakes::kServerDramUnit;
using fakes::kServerPsysUnit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class Survey : public CommandTest {
 protected:
  void SetUp() override {
    if (DynamicLibrary::open(System{}.nvml_library)) {
      GTEST_SKIP() << "this machine has an NVIDIA driver, whose GPUs would be listed too";
    }
  }
  /// A tree of two domains inside one socket, and the platform.
  void add_healthy_zones() {
    tree_.add_zone("intel-rapl:0", "package-0");
    tree_.add_zone("intel-rapl:0:0", "dram", kServerDramUnit);
    tree_.add_zone("intel-rapl:0:1", "core");
    tree_.add_zone("intel-rapl:1", "psys", kServerPsysUnit);
  }
  /// Runs it on the tree; in what it says the tree is called ROOT.
  [[nodiscard]] Outcome ask(const Words& words, Start start = {}) const {
    const System system = tree_.system();
    start.command =
        wattle(words + Words{"--sysfs", system.sysfs, "--procfs", system.procfs}).command;
    Outcome outcome = run(start);
    const std::string root = tree_.root();
    for (std::size_t at = 0; (at = outcome.out.find(root)) != std::string::npos;) {
      outcome.out.replace(at, root.size(), "ROOT");
    }
    EXPECT_THAT(outcome.err, IsEmpty());
    return outcome;
  }

  fakes::PowercapTree tree_;
};

TEST_F(Survey, SensorsListsEveryCounter) {
  add_healthy_zones();
  tree_.write_file("intel-rapl:0", "constraint_0_max_power_uw", "125000000\n");
  const Outcome outcome = ask({"sensors"});
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(
      outcome.out,
      R"(package_0          energy counter, 61.04 µJ a tick, wraps after 17 min 29 s at 250.0 W
                     powercap: ROOT/sys/class/powercap/intel-rapl:0/energy_uj
dram_0             energy counter, 15.26 µJ a tick, wraps after 131.07 s at 500.0 W
                     powercap: ROOT/sys/class/powercap/intel-rapl:0:0/energy_uj
core_0             energy counter, 61.04 µJ a tick, wraps after 17 min 29 s at 250.0 W
                     powercap: ROOT/sys/class/powercap/intel-rapl:0:1/energy_uj
                     inside package_0, not added to a total
psys               energy counter, 1.000 J a tick, wraps after 119 h 18 min at 10.00 kW
                     powercap: ROOT/sys/class/powercap/intel-rapl:1/energy_uj
)");
}

TEST_F(Survey, SensorsFitTheTerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  add_healthy_zones();
  tree_.write_file("intel-rapl:0:0", "energy_uj", "soon\n");
  testing_support::expect_looks("look_sensors.txt", [&](const TextStyle& style) {
    Pty terminal;
    terminal.resize(static_cast<unsigned short>(style.width));
    // Paths that are the same wherever the tree is.
    Start start = wattle({"sensors", "--sysfs", "sys", "--procfs", "proc"});
    start.folder = tree_.root();
    start.environment = {{"LC_ALL", style.unicode ? "C.UTF-8" : "C"},
                         {"NO_COLOR", style.color ? "" : "1"}};
    start.prepare = [&] { terminal.become_terminal(); };
    Process process(start);
    std::string text = terminal.text_to_the_end();
    EXPECT_EQ(process.wait().code(), 0);
    std::erase(text, '\r');
    return text;
  });
}

TEST_F(Survey, SensorsJsonHasItsSchema) {
  add_healthy_zones();
  const Json json = parse_json(ask({"sensors", "--json"}).out);
  EXPECT_EQ(json["schema"], "wattle.sensors/2");
  EXPECT_THAT(keys_of(json),
              ElementsAre("schema", "devices", "channels", "refused", "absent", "sources"));
  ASSERT_EQ(json["channels"].size(), 4U);
  EXPECT_EQ(json["channels"][1],
            (Json{{"domain", "dram_0"},
                  {"quantity", "energy"},
                  {"unit", "J"},
                  {"scope", "device"},
                  {"source", "powercap"},
                  {"place", "ROOT/sys/class/powercap/intel-rapl:0:0/energy_uj"},
                  {"scale", 1.0 / 65536.0},
                  {"costly", false},
                  {"update_interval_s", 0.001},
                  {"alternatives", Json::array()},
                  {"counter", nullptr},
                  {"tick_j", 1.0 / 65536.0},
                  {"modulus_ticks", 4294967296U},
                  {"max_power_w", 500.0},
                  {"shortest_wrap_s", 131.072},
                  {"must_be_read_within_s", 131.072},
                  {"contained_in", nullptr},
                  {"counts_in_total", true}}));
  EXPECT_EQ(json["channels"][2]["contained_in"], "package_0");
  EXPECT_EQ(json["channels"][2]["counts_in_total"], false);
  EXPECT_EQ(json["channels"][3]["counts_in_total"], false);
  EXPECT_THAT(json["refused"], IsEmpty());
}

TEST_F(Survey, SensorsWithoutAnyStillSucceeds) {
  const Outcome outcome = ask({"sensors"});
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, StartsWith("CPU energy         not read: "));
  EXPECT_THAT(outcome.out, HasSubstr("wattle doctor reports the causes and the remedies."));
  const Json json = parse_json(ask({"sensors", "--json"}).out);
  EXPECT_EQ(json["channels"], Json::array());
  EXPECT_THAT(keys_of(json["refused"][0]), ElementsAre("source", "subject", "reason", "remedy"));
}

TEST_F(Survey, DoctorIsContentWhereEverythingCanBeRead) {
  add_healthy_zones();
  const Outcome outcome = ask({"doctor"});
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_EQ(outcome.out,
            "✓ CPU energy  package_0, dram_0, core_0, psys\n"
            "✓ CPU time, memory, I/O of commands\n");
}

TEST_F(Survey, DoctorIsInAsciiWhereTheLocaleIs) {
  add_healthy_zones();
  tree_.write_file("intel-rapl:0:0", "energy_uj", "soon\n");
  EXPECT_EQ(ask({"doctor"}, {.command = {}, .environment = {{"LC_ALL", "C"}}}).out,
            "ok CPU energy  package_0, core_0, psys\n"
            "no dram_0      its counter does not hold an energy: 'soon\\x0a'\n"
            "ok CPU time, memory, I/O of commands\n"
            "proofs and risks: wattle doctor --verbose\n");
}

TEST_F(Survey, DoctorReportsWhatIsMissingBesideTheRest) {
  add_healthy_zones();
  tree_.write_file("intel-rapl:0:0", "energy_uj", "soon\n");
  const Outcome outcome = ask({"doctor", "--verbose"});
  EXPECT_EQ(outcome.code(), 1);
  EXPECT_EQ(outcome.out, R"(readable: package_0, core_0, psys

dram_0 (powercap) is not measured
  reason  its counter does not hold an energy: 'soon\x0a'
  proof   ROOT/sys/class/powercap/intel-rapl:0:0/energy_uj
)");
}

TEST_F(Survey, DoctorReportsWhenNothingCanBeRead) {
  std::ofstream(tree_.root() / "proc/modules") << "kvm 1 0 - Live 0x0\n";
  const Outcome outcome = ask({"doctor", "--verbose"});
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(
      outcome.out,
      StartsWith(R"(no energy can be measured here; CPU time and memory can: wattle run, track

CPU energy (powercap) is not measured
  reason  the kernel module that reads the energy counters is not loaded
  proof   ROOT/sys/class/powercap holds no zones; the module intel_rapl_msr is not in /proc/modules
  remedy  sudo modprobe intel_rapl_msr (AMD too; at every boot: echo intel_rapl_msr | sudo tee /etc/modules-load.d/wattle.conf)
)"));
}

TEST_F(Survey, DoctorReportsWhereItLookedForGpusWhereNothingCanBeRead) {
  EXPECT_THAT(ask({"doctor", "--verbose"}).out, HasSubstr("(nvml) is not there\n  reason  "));
}

TEST_F(Survey, DoctorJsonHasItsSchema) {
  add_healthy_zones();
  tree_.write_file("intel-rapl:0:0", "energy_uj", "");
  const Outcome outcome = ask({"doctor", "--json"});
  EXPECT_EQ(outcome.code(), 1);
  const Json json = parse_json(outcome.out);
  EXPECT_EQ(json["schema"], "wattle.doctor/2");
  EXPECT_THAT(keys_of(json), ElementsAre("schema", "readable", "refused", "absent"));
  EXPECT_EQ(json["readable"], (Json{"package_0", "core_0", "psys"}));
  ASSERT_EQ(json["refused"].size(), 1U);
  EXPECT_EQ(json["refused"][0], (Json{{"source", "powercap"},
                                      {"subject", "dram_0"},
                                      {"reason", "its counter does not hold an energy: ''"},
                                      {"proof", "ROOT/sys/class/powercap/intel-rapl:0:0/energy_uj"},
                                      {"remedy", nullptr},
                                      {"risk", nullptr}}));
}

TEST_F(Survey, DoctorNamesTheRootThatDoesNotExist) {
  const Outcome outcome = run(wattle({"doctor", "--verbose", "--sysfs", path("nothing")}));
  EXPECT_EQ(outcome.code(), 2);
  EXPECT_THAT(outcome.out, HasSubstr("there is no folder " + path("nothing").string()));
}

TEST_F(Survey, RootsComeFromTheEnvironmentToo) {
  add_healthy_zones();
  Start start = wattle({"doctor", "--verbose"});
  start.environment = {{"WATTLE_SYSFS", tree_.system().sysfs},
                       {"WATTLE_PROCFS", tree_.system().procfs}};
  EXPECT_THAT(run(start).out, StartsWith("readable: package_0, dram_0, core_0, psys\n"));
}

TEST_F(Survey, FullDiskIsAnErrorNotASilence) {
  const Outcome outcome =
      run({.command = {"sh", "-c", "'" + wattle_program() + "' doctor > /dev/full"}});
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write stdout: No space left on device"));
}

TEST_F(Survey, NumbersHavePointsInEveryLocale) {
  // Made here: a machine rarely has one that writes 1,5 for 1.5.
  const Outcome made =
      run({.command = {"localedef", "-i", "de_DE", "-f", "UTF-8", path("de_DE.UTF-8")}});
  const Environment german = {{"LOCPATH", folder_.path()}, {"LC_ALL", "de_DE.UTF-8"}};
  const Outcome number = run({.command = {"env", "printf", "%.1f", "1,5"}, .environment = german});
  if (number.out != "1,5") GTEST_SKIP() << "no German locale can be made: " << made.err;

  add_healthy_zones();
  const Start in_german{.environment = german};
  EXPECT_EQ(ask({"sensors"}, in_german).out, ask({"sensors"}).out);
  EXPECT_EQ(ask({"sensors", "--json"}, in_german).out, ask({"sensors", "--json"}).out);
  const auto [outcome, json] = measure_in(in_german, {"--interval", "0.05"}, {"true"});
  EXPECT_EQ(json["interval_s"], 0.05);
  Start report = wattle_run({}, {"true"});
  report.environment = german;
  EXPECT_THAT(run(report).err, testing::ContainsRegex("\ntime          0\\.[0-9]+ s\n"));
}

}  // namespace
}  // namespace wattle::integration
