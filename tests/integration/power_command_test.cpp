// `wattle power` and `wattle energy`, of a scripted driver and a tree of powercap files.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <csignal>
#include <memory>
#include <sstream>
#include <thread>

#include "command.hpp"
#include "fakes/drm_tree.hpp"
#include "fakes/nvml/control.hpp"
#include "fakes/powercap_tree.hpp"
#include "pty.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr int kNothing = 2;

constexpr const char* kTwoBoards =
    "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\npower step 0 100\nmemory_power step 0 20\n"
    "gpu Tesla M40 24GB\nuuid GPU-bbbb\npower step 0 40\ninstant none\naverage none\n";

class PowerCommand : public CommandTest {
 protected:
  /// The package draws 100 W until the test ends: a counter that stands still is none.
  PowerCommand() : fake_(kTwoBoards) {
    tree_.add_zone("intel-rapl:0", "package-0");
    player_ = std::make_unique<Process>(
        Start{.command = {player_program(), "3600000", tree_.zone_path("intel-rapl:0"), "100",
                          "6.103515625e-05", "61035", "1000"}});
  }

  /// `wattle WORDS` on a machine with these GPUs and CPUs.
  [[nodiscard]] Start on_machine(const Words& words, bool gpus = true, bool cpus = true) const {
    const std::string nowhere = path("nothing").string();
    Start start = wattle(words + Words{"--sysfs", cpus ? tree_.system().sysfs.string() : nowhere,
                                       "--procfs", cpus ? tree_.system().procfs.string() : nowhere,
                                       "--nvml-library", gpus ? fake_.library_path() : nowhere});
    start.environment = {{"WATTLE_FAKE_NVML", fake_.script_path()}};
    return start;
  }
  /// Other GPUs than the two boards.
  void set_gpus(std::string_view script) { fake_.set_script(script); }
  /// Ends it with Ctrl-C once it has printed `text`.
  [[nodiscard]] static Outcome end_after(const Start& start, std::string_view text,
                                         int signal = SIGINT) {
    Process process(start);
    EXPECT_TRUE(process.prints(text)) << text;
    process.send(signal);
    return process.wait();
  }

 private:
  fakes::FakeNvml fake_;
  fakes::PowercapTree tree_;
  std::unique_ptr<Process> player_;
};

TEST_F(PowerCommand, PrintsLinesUntilCtrlCThenTheTotals) {
  const Outcome outcome = end_after(on_machine({"power", "--period", "0.05"}), " W");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, StartsWith("     elapsed           total    nvidia_gpu_0    nvidia_gpu_1"
                                      "       package_0  ± and flags\n"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("100(\\.0)? W"));
  EXPECT_THAT(outcome.out, HasSubstr("± is the sampling error only (95 %)"));
  EXPECT_THAT(outcome.out, HasSubstr("\nnvidia_gpu_0  "));
  EXPECT_THAT(outcome.out, HasSubstr("\npackage_0     energy"));
}

TEST_F(PowerCommand, PrintsEnergiesUntilItIsTerminated) {
  const Outcome outcome = end_after(on_machine({"energy", "--period", "0.05"}), " J  ±", SIGTERM);
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(" J"), HasSubstr("± is the sampling error only (95 %)")));
}

TEST_F(PowerCommand, PrintsJsonLinesEachWithItsSchema) {
  const Outcome outcome = end_after(on_machine({"power", "--json", "--period", "0.05"}), "reading");
  std::istringstream lines(outcome.out);
  std::string line;
  Json last;
  int readings = 0;
  while (std::getline(lines, line)) {
    last = parse_json(line);
    EXPECT_EQ(last["schema"], "wattle.power/1");
    EXPECT_EQ(last["devices"].size(), 3U);
    readings += last["type"] == "reading" ? 1 : 0;
  }
  EXPECT_GE(readings, 1);
  EXPECT_EQ(last["type"], "total");
  EXPECT_GT(last["devices"][0]["energy_j"], 0.0);
}

TEST_F(PowerCommand, KnowsTheCountersOfCpusUpToEachLine) {
  const Outcome outcome = end_after(
      on_machine({"power", "--domain", "package", "--json", "--period", "0.05"}), "reading");
  const Json line = parse_json(outcome.out.substr(0, outcome.out.find('\n')));
  EXPECT_EQ(line["devices"][0]["unknown_s"], 0.0);
  EXPECT_THAT(line["devices"][0]["flags"].dump(), Not(HasSubstr("gap")));
}

TEST_F(PowerCommand, PrintsATableWhoseTotalsAreNotInIt) {
  const Outcome outcome =
      end_after(on_machine({"energy", "--csv", "--period", "0.05"}), ",package_0,");
  EXPECT_THAT(outcome.out,
              StartsWith("time_unix_s,elapsed_s,domain,quantity,energy_j,uncertainty_j,unknown_s,"
                         "flags\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("±")));
  EXPECT_THAT(outcome.err, HasSubstr("± is the sampling error only (95 %)"));
}

/// A GPU that shows the power of its module alone (Grace-Hopper).
constexpr const char* kModuleAlone =
    "gpu NVIDIA GH200 480GB\ncounter none\nusage none\nmodule_power step 0 700\n"
    "error field:186:0 3\nerror field:185:0 3\n";

TEST_F(PowerCommand, NamesThePowerOfAModuleAsSuch) {
  set_gpus(kModuleAlone);
  const Outcome outcome = end_after(on_machine({"power", "--period", "0.2"}, true, false), "700");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("nvidia_gpu_0"), HasSubstr("module_instant")));
  const Outcome energy =
      end_after(on_machine({"energy", "--json", "--period", "0.2"}, true, false), "energy_j");
  EXPECT_THAT(energy.out, HasSubstr("\"quantity\":\"module_"));
}

TEST_F(PowerCommand, AddsThePowerOfAModuleToNoTotalOfARun) {
  set_gpus(kModuleAlone);
  Start start = on_machine({"run", "--json", "-"});
  start.command = start.command + Words{"--", "true"};
  const Outcome outcome = run(start);
  const Json energy = parse_json(outcome.out)["energy"];
  for (const Json& domain : energy["domains"]) EXPECT_NE(domain["name"], "nvidia_gpu_0");
  const auto missing = std::ranges::find(energy["total_missing"], "gpu",
                                         [](const Json& entry) { return entry["kind"]; });
  ASSERT_NE(missing, energy["total_missing"].end());
  EXPECT_THAT((*missing)["reason"].get<std::string>(),
              HasSubstr("nvidia_gpu_0: its driver shows only the power of the whole module"));
}

TEST_F(PowerCommand, CallsAGpuOfEachMakerByItsOwnName) {
  fakes::DrmTree amd;
  amd.add_rx6800(0, "0000:03:00.0");
  Start start = on_machine({"power", "--period", "0.05"}, true, false);
  *std::ranges::find(start.command, path("nothing").string()) = amd.system().sysfs.string();
  const Outcome outcome = end_after(start, " W");
  EXPECT_THAT(outcome.out, StartsWith("     elapsed           total    nvidia_gpu_0    nvidia_gpu_1"
                                      "       amd_gpu_0  ± and flags\n"));
}

TEST_F(PowerCommand, ShowsTheChosenGpusAlone) {
  const Outcome outcome =
      end_after(on_machine({"power", "--gpus", "GPU-bbbb", "--period", "0.05"}), " W");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("nvidia_gpu_1"), Not(HasSubstr("nvidia_gpu_0"))));
}

TEST_F(PowerCommand, ShowsTheChosenDomainAlone) {
  const Outcome memory =
      end_after(on_machine({"power", "--domain", "memory_average", "--period", "0.05"}), " W");
  EXPECT_THAT(memory.out,
              AllOf(testing::ContainsRegex("20(\\.0+)? W"), Not(HasSubstr("package_0"))));
  const Outcome package =
      end_after(on_machine({"power", "--domain", "package", "--period", "0.05"}), " W");
  EXPECT_THAT(package.out, AllOf(HasSubstr("package_0"), Not(HasSubstr("gpu"))));
}

TEST_F(PowerCommand, RunsWithCpusAlone) {
  const Outcome outcome = end_after(on_machine({"power", "--period", "0.05"}, false, true), " W");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("package_0"), Not(HasSubstr("gpu"))));
}

TEST_F(PowerCommand, RunsWithGpusAloneAndSaysWhatIsNotShown) {
  const Outcome outcome = end_after(on_machine({"power", "--period", "0.05"}, true, false), " W");
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("nvidia_gpu_0"), Not(HasSubstr("package"))));
  EXPECT_THAT(outcome.err, HasSubstr("wattle power: not shown: CPU energy: there is no folder"));
}

TEST_F(PowerCommand, SaysWhyWhereNothingCanBeMeasured) {
  for (const char* command : {"power", "energy"}) {
    const Outcome outcome = run(on_machine({command}, false, false));
    EXPECT_EQ(outcome.code(), kNothing);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("nothing can be read here"),
                                   HasSubstr("there is no folder"), HasSubstr("wattle doctor")));
  }
}

TEST_F(PowerCommand, SpeaksOfEnergyWhereThatIsAskedFor) {
  const std::string err = run(on_machine({"energy"}, false, false)).err;
  EXPECT_THAT(err,
              HasSubstr("wattle energy: cannot measure energy: nothing can be read here\n  CPU"));
  EXPECT_THAT(err, Not(HasSubstr("monitor power")));
}

TEST_F(PowerCommand, SaysEachReasonOnceWhereNothingCanBeMeasured) {
  const std::string err = run(on_machine({"power"}, false, false)).err;
  const std::size_t first = err.find("there is no folder");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(err.find("CPU energy", err.find("CPU energy") + 1), std::string::npos) << err;
}

TEST_F(PowerCommand, SaysThatTheGpusOfADomainWereLeftOut) {
  const Outcome outcome =
      run(on_machine({"power", "--gpus", "none", "--domain", "device_instant"}));
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_THAT(outcome.err, HasSubstr("left out by --gpus"));
}

TEST_F(PowerCommand, SaysWhereTheChosenDomainIsNotThere) {
  EXPECT_EQ(run(on_machine({"power", "--domain", "dram"})).code(), kNothing);
  EXPECT_EQ(run(on_machine({"power", "--domain", "memory_average", "--gpus", "1"})).code(),
            kNothing);
}

TEST_F(PowerCommand, RefusesWrongOptions) {
  for (const Words& words : {Words{"power", "--domain", "core"}, Words{"power", "--domain", ""},
                             Words{"power", "--period", "0"}, Words{"power", "--period", "soon"},
                             Words{"energy", "--json", "--csv"}, Words{"energy", "--gpus", ""},
                             Words{"energy", "--gpus", "0,,1"}, Words{"energy", "--gpus", "7"},
                             Words{"energy", "what"}}) {
    const Outcome outcome = run(on_machine(words));
    EXPECT_EQ(outcome.code(), kUsage) << words.back();
    EXPECT_THAT(outcome.err, HasSubstr("Try: wattle " + words.front() + " --help"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
}

TEST_F(PowerCommand, MarksWhatLacksALostGpu) {
  set_gpus("gpu A\npower step 0 100\ngpu B\npower step 0 40\nlost 0.4 1000\n");
  const Outcome outcome = end_after(on_machine({"energy", "--period", "0.1"}, true, false), "≥");
  EXPECT_THAT(outcome.out, testing::ContainsRegex("\ntotal +≥.* unknown\n"));
}

TEST_F(PowerCommand, EndsSilentlyWhereNobodyReadsAnyMore) {
  Process process(on_machine({"power", "--period", "0.01"}));
  ASSERT_TRUE(process.prints(" W"));
  process.close_output();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("stdout")));
}

TEST_F(PowerCommand, FailsOnADiskThatIsFull) {
  Start start = on_machine({"power", "--period", "0.01"});
  start.prepare = [] { ::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO); };
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("No space left on device"));
}

TEST_F(PowerCommand, EndsThoughNobodyTakesItsLines) {
  Start start = on_machine({"power", "--period", "0.001"});
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  start.prepare = [&] { ::dup2(ends[1], STDOUT_FILENO); };
  Process process(start);
  // Wait until the pipe is full.
  EXPECT_TRUE(eventually([&] {
    pollfd room{.fd = ends[1], .events = POLLOUT, .revents = 0};
    return ::poll(&room, 1, 0) == 0;
  }));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, HasSubstr("± is the sampling error only (95 %)"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(PowerCommand, FailsWhereStdoutIsClosed) {
  Start start = on_machine({"power"});
  start.prepare = [] { ::close(STDOUT_FILENO); };
  const Outcome outcome = run(start);
  EXPECT_EQ(outcome.code(), kFailed);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("stdout"), Not(HasSubstr("--help"))));
}

TEST_F(PowerCommand, GoesOnWhereCtrlCWasIgnoredFromTheBeginning) {
  Start start = on_machine({"power", "--period", "0.05"});
  start.prepare = [] { (void)std::signal(SIGINT, SIG_IGN); };
  Process process(start);
  ASSERT_TRUE(process.prints(" W"));
  process.send(SIGINT);
  ASSERT_TRUE(process.prints("     1."));  // a second on
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(PowerCommand, PrintsTheHeaderOfATableAlsoToAReaderThatHadNoRoom) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const Fd reads(ends[0]);
  Fd writes(ends[1]);
  const std::string filler(PIPE_BUF, ' ');
  while (::write(writes.get(), filler.data(), filler.size()) > 0) {
  }
  Start start = on_machine({"power", "--csv", "--period", "0.05"});
  start.prepare = [&] { ::dup2(writes.get(), STDOUT_FILENO); };
  Process process(start);
  writes.reset();
  // By then it has tried to print the header. If it is slower, the test shows less.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::string printed;
  EXPECT_TRUE(eventually([&] {
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(reads.get(), piece.data(), piece.size());
    if (count > 0) printed.append(piece.data(), static_cast<std::size_t>(count));
    return printed.find("package_0") != std::string::npos && printed.ends_with('\n');
  }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().code(), 0);
  EXPECT_THAT(printed.substr(printed.find_first_not_of(' ')), StartsWith("time_unix_s,"));
}

TEST_F(PowerCommand, DrawsInPlaceOnATerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  for (const char* command : {"power", "energy"}) {
    Pty terminal;
    Start start = on_machine({command, "--period", "0.05"});
    start.prepare = [&] { terminal.become_terminal(); };
    Process process(start);
    EXPECT_TRUE(terminal.shows("package_0")) << command;
    // Up by the lines of the text before, and the rest of the screen cleared.
    EXPECT_TRUE(terminal.shows("A\r\x1b[J")) << command;
    terminal.type("\x03");
    EXPECT_EQ(process.wait().code(), 0) << command;
  }
}

TEST_F(PowerCommand, DrawsNothingInPlaceOnADumbTerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  Start start = on_machine({"power", "--period", "0.05"});
  start.environment["TERM"] = "dumb";
  start.prepare = [&] { terminal.become_terminal(); };
  Process process(start);
  EXPECT_TRUE(terminal.shows("package_0"));
  terminal.type("\x03");
  EXPECT_EQ(process.wait().code(), 0);
  EXPECT_THAT(terminal.text(), Not(HasSubstr("\x1b")));
}

TEST_F(PowerCommand, EndsWithTheKeyOnATerminal) {
  if (!Pty::available()) GTEST_SKIP() << "this system gives no terminals";
  Pty terminal;
  Start start = on_machine({"power", "--period", "0.05"});
  start.prepare = [&] { terminal.become_terminal(); };
  Process process(start);
  ASSERT_TRUE(terminal.shows(" W"));
  terminal.type("\x03");
  EXPECT_TRUE(terminal.shows("sampling error only"));
  EXPECT_EQ(process.wait().code(), 0);
}

}  // namespace
}  // namespace wattle::integration
