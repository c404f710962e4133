// GPUs in a run, played by a scripted libnvidia-ml.so.1.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "command.hpp"
#include "fakes/drm_tree.hpp"
#include "fakes/nvml/control.hpp"
#include "usage/tree/process_tree.hpp"

namespace wattle::integration {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// One with an energy counter, one that tells its power alone.
constexpr const char* kTwoPlayedGpus =
    "driver 535.104.05\n"
    "gpu NVIDIA H100 PCIe\n"
    "uuid GPU-aaaa\n"
    "pci 0000:41:00\n"
    "power step 0 300\n"
    "gpu Tesla M40 24GB\n"
    "uuid GPU-bbbb\n"
    "counter none\n"
    "instant none\n"
    "average none\n"
    "power step 0 150\n";

class RunWithGpus : public CommandTest {
 protected:
  /// `wattle run OPTIONS -- COMMAND`, beside an empty sysfs.
  [[nodiscard]] Start start_of(const fakes::FakeNvml& fake, const Words& options,
                               const Words& command) const {
    Start start = wattle_run(Words{"--sysfs", sysfs_, "--nvml-library", fake.library_path(),
                                   "--json", path("run.json")} +
                                 options,
                             command);
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()}};
    return start;
  }
  [[nodiscard]] Json json() const { return parse_json(content_of(path("run.json"))); }
  [[nodiscard]] Json measure_with(const std::string& script, const Words& options,
                                  const Words& command) const {
    const fakes::FakeNvml fake(script);
    EXPECT_EQ(run(start_of(fake, options, command)).code(), 0);
    return json();
  }
  std::string sysfs_ = path("nothing").string();

  [[nodiscard]] std::vector<std::string> lines_of(const std::string& name) const {
    std::ifstream file(path(name));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
};

/// What the energy of a constant power should be, over the time that is known.
void expect_energy(const Json& domain, double watts, double wall_s) {
  const double known_s = wall_s - domain["unknown_s"].get<double>();
  const double expected_j = watts * known_s;
  EXPECT_NEAR(domain["energy_j"].get<double>(), expected_j,
              domain["uncertainty_j"].get<double>() + 1e-3 * expected_j)
      << domain;
}

TEST_F(RunWithGpus, CountsEachGpuOnceInTheTotal) {
  const Json json = measure_with(kTwoPlayedGpus, {"--quiet"}, {"sleep", "1.2"});
  const Json& domains = json["energy"]["domains"];
  ASSERT_EQ(domains.size(), 2U);
  expect_energy(domains[0], 300.0, json["wall_s"]);
  expect_energy(domains[1], 150.0, json["wall_s"]);
  EXPECT_EQ(domains[1]["method"], "integrated");
  EXPECT_THAT(domains[1]["alternatives"], IsEmpty());
  EXPECT_EQ(domains[0]["alternatives"].size(), 2U) << "counter, instant, average";
  EXPECT_EQ(json["energy"]["total_covers"], Json{"gpu"});
  EXPECT_NEAR(json["energy"]["total_j"],
              domains[0]["energy_j"].get<double>() + domains[1]["energy_j"].get<double>(), 1e-6);
}

TEST_F(RunWithGpus, OneThatIsLostDoesNotHurtTheOther) {
  const std::string script = std::string(kTwoPlayedGpus) + "lost 0.6 1000\n";
  const fakes::FakeNvml fake(script);
  const Outcome outcome = run(start_of(fake, {}, {"sleep", "1.5"}));
  const Json report = json();
  const Json& whole = report["energy"]["domains"][0];
  const Json& lost = report["energy"]["domains"][1];
  expect_energy(whole, 300.0, report["wall_s"]);
  EXPECT_EQ(whole["unknown_s"], 0.0);
  expect_energy(lost, 150.0, report["wall_s"]);
  EXPECT_GT(lost["unknown_s"], 0.3);
  EXPECT_THAT(lost["flags"], AllOf(Contains("lost"), Contains("gap")));
  EXPECT_THAT(outcome.err, StartsWith("energy of this machine while the command ran: at least "));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(" s unknown, "), HasSubstr(", gap, lost")));
}

TEST_F(RunWithGpus, OneThatHangsDoesNotHoldUpTheEnd) {
  const std::string script =
      std::string(kTwoPlayedGpus) + "hang nvmlDeviceGetPowerUsage from 0.5\n";
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "1.5"});
  EXPECT_LT(json["wall_s"], 30.0);
  const Json& whole = json["energy"]["domains"][0];
  expect_energy(whole, 300.0, json["wall_s"]);
  EXPECT_EQ(whole["unknown_s"], 0.0);
  EXPECT_THAT(json["energy"]["domains"][1]["flags"], AllOf(Contains("late"), Contains("gap")));
  EXPECT_GT(json["energy"]["domains"][1]["unknown_s"], 0.0);
}

TEST_F(RunWithGpus, ASlowOneDoesNotLengthenTheWindowOfTheOthers) {
  const std::string script =
      "gpu Tesla V100\npower step 0 200\ninstant none\naverage none\nusage none\n"
      "gpu A\nlatency nvmlDeviceGetFieldValues 300\n";
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "1"});
  const Json& quick = json["energy"]["domains"][0];
  expect_energy(quick, 200.0, json["wall_s"]);
  EXPECT_NEAR(quick["mean_w"].get<double>(), 200.0, quick["uncertainty_j"].get<double>());
}

TEST_F(RunWithGpus, ABurstThatAGaugeDoesNotSeeIsCounted) {
  const std::string script =
      "driver 535.104.05\ngpu NVIDIA H100 PCIe\npower step 0 100 0.52 400 0.565 100\n";
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "1"});
  const Json& domain = json["energy"]["domains"][0];
  EXPECT_NE(domain["quantity"], "power_instant") << "it looks at a quarter of the time";
  EXPECT_NEAR(domain["energy_j"].get<double>(), 100.0 * json["wall_s"].get<double>() + 13.5,
              domain["uncertainty_j"].get<double>());
}

TEST_F(RunWithGpus, DoesNotKnowWhoUsedThemBetweenListsThatDidNotCome) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  std::string script;
  for (const char* kind : {"Compute", "Graphics"}) {
    for (const char* version : {"", "_v2", "_v3"}) {
      script += fmt::format("error nvmlDeviceGet{}RunningProcesses{} 4 from 1.5\n", kind, version);
    }
  }
  const Json json = measure_with(script + kTwoPlayedGpus, {"--quiet"}, {"sleep", "5.5"});
  EXPECT_EQ(json["host"]["gpus"][0]["used_by_command"], nullptr);
  EXPECT_EQ(json["host"]["gpus"][0]["used_by_command_unknown"],
            "the driver did not list its processes often enough");
}

TEST_F(RunWithGpus, DoesNotTakeTheMemoryOfAProcessThatHasEndedForNobodys) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  constexpr int kBeyondEveryProcess = 4'194'305;  // PID_MAX_LIMIT of Linux is 4194304
  const std::string script =
      kTwoPlayedGpus + fmt::format("process compute {} 5000000000\n", kBeyondEveryProcess);
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "2.5"});
  EXPECT_EQ(json["host"]["gpus"][1]["used_by_command"], nullptr);
  EXPECT_EQ(json["resource_usage"]["max_gpu_ram"]["combined"], nullptr)
      << "it may be the command's";
}

TEST_F(RunWithGpus, OneWhoseProcessesHangDoesNotHideThoseOfTheOthers) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  std::string script = kTwoPlayedGpus;
  for (const char* version : {"", "_v2", "_v3"}) {
    script += fmt::format("hang nvmlDeviceGetComputeRunningProcesses{}\n", version);
  }
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "2.5"});
  EXPECT_EQ(json["host"]["gpus"][0]["used_by_command"], false);
  EXPECT_EQ(json["host"]["gpus"][1]["used_by_command"], nullptr);
}

TEST_F(RunWithGpus, NamesAGpuThatCannotBeRead) {
  const std::string script = kTwoPlayedGpus + std::string("error * 15\n");
  const Json json = measure_with(script, {"--quiet"}, {"true"});
  ASSERT_EQ(json["host"]["gpus"].size(), 2U);
  EXPECT_EQ(json["host"]["gpus"][1]["domain"], "nvidia_gpu_1");
  EXPECT_EQ(json["host"]["gpus"][1]["unknown"], "the GPU has fallen off the bus");
  EXPECT_EQ(json["resource_usage"]["gpu_utilization"]["system_gpu_count"], 2);
  EXPECT_EQ(json["resource_usage"]["max_gpu_ram"]["system"], nullptr) << "not that of one";
}

TEST_F(RunWithGpus, SaysWhatTheyAreAndDid) {
  const std::string script = kTwoPlayedGpus + std::string("memory 80000000000 3000000000\n");
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "0.3"});
  const Json& gpu = json["host"]["gpus"][0];
  EXPECT_EQ(gpu["model"], "NVIDIA H100 PCIe");
  EXPECT_EQ(gpu["uuid"], "GPU-aaaa");
  EXPECT_EQ(gpu["pci_address"], "0000:41:00.0");
  EXPECT_EQ(gpu["memory_total_bytes"], 80'000'000'000);
  EXPECT_EQ(gpu["peak_memory_used_bytes"], 1'000'000'000);
  EXPECT_EQ(gpu["mean_utilization_percent"], 80.0);
  const Json& usage = json["resource_usage"];
  EXPECT_EQ(usage["max_gpu_ram"]["system"], 4.0);
  EXPECT_EQ(usage["max_gpu_ram"]["system_capacity"], 160.0);
  EXPECT_EQ(usage["gpu_utilization"]["system_gpu_count"], 2);
  EXPECT_EQ(usage["gpu_utilization"]["gpu_percentages"]["mean_sum_percent"], 160.0);
  EXPECT_EQ(usage["gpu_utilization"]["gpu_percentages"]["mean_hardware_percent"], 80.0);
}

TEST_F(RunWithGpus, DoesNotKnowWhoUsedThemWhereTheDriverDoesNotReport) {
  std::string script;
  for (const char* kind : {"Compute", "Graphics"}) {
    for (const char* version : {"", "_v2", "_v3"}) {
      script += fmt::format("error nvmlDeviceGet{}RunningProcesses{} 4\n", kind, version);
    }
  }
  const Json json = measure_with(script + kTwoPlayedGpus, {"--quiet"}, {"sleep", "0.2"});
  const Json& gpu = json["host"]["gpus"].at(0);
  EXPECT_EQ(gpu["used_by_command"], nullptr);
  EXPECT_TRUE(gpu["used_by_command_unknown"].is_string());
  EXPECT_EQ(json["resource_usage"]["max_gpu_ram"]["combined"], nullptr) << "unknown is not 0";
}

TEST_F(RunWithGpus, KnowsThatNobodyOfTheCommandUsedThem) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const std::string script = kTwoPlayedGpus + std::string("process compute 1 5000\n");
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "2.5"});
  EXPECT_EQ(json["host"]["gpus"][0]["used_by_command"], false);
  EXPECT_EQ(json["host"]["gpus"][1]["used_by_command"], false) << "somebody else did";
  EXPECT_EQ(json["resource_usage"]["max_gpu_ram"]["combined"], 0.0);
}

/// The process whose parent is `parent`; 0 where there is none yet.
pid_t child_of(pid_t parent) {
  const std::string number = std::to_string(parent);
  std::ifstream file("/proc/" + number + "/task/" + number + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

TEST_F(RunWithGpus, KnowsThatTheCommandUsedOne) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  Start start = start_of(fake, {"--quiet"}, {"sleep", "2.5"});
  // The script is read when the command's process is there already, held back: it can name it.
  ASSERT_EQ(::mkfifo(path("script").c_str(), 0600), 0);
  start.environment = {{"WATTLE_FAKE_NVML", path("script")}};
  Process process(start);
  {
    std::ofstream script(path("script"));
    script << kTwoPlayedGpus << "process compute " << child_of(process.pid()) << " 5000000000\n";
  }
  EXPECT_EQ(process.wait().code(), 0);
  const Json report = json();
  EXPECT_EQ(report["host"]["gpus"][0]["used_by_command"], false);
  EXPECT_EQ(report["host"]["gpus"][1]["used_by_command"], true);
  EXPECT_EQ(report["resource_usage"]["max_gpu_ram"]["main"], 5.0);
  EXPECT_EQ(report["resource_usage"]["max_gpu_ram"]["descendants"], 0.0);
}

/// What is idle power is the lowest that was seen, not what was used on average.
TEST_F(RunWithGpus, DividesOneByItsUsersAndItsLowestPower) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  const std::string gpu = "gpu A\npower step 0 100 1.5 500\nprocess compute 1 1000 sm 30\n";
  const fakes::FakeNvml fake(gpu);
  Start start = start_of(fake, {"--quiet"}, {"sleep", "3"});
  ASSERT_EQ(::mkfifo(path("script").c_str(), 0600), 0);
  start.environment = {{"WATTLE_FAKE_NVML", path("script")}};
  Process process(start);
  std::ofstream(path("script")) << gpu << "process compute " << child_of(process.pid())
                                << " 1000 sm 30\n";
  EXPECT_EQ(process.wait().code(), 0);
  const Json share = json()["share"]["gpus"].at(0);
  ASSERT_TRUE(share["typical_j"].is_number()) << share;
  const double part = share["typical_j"].get<double>() / share["measured_j"].get<double>();
  EXPECT_GT(part, 0.3) << share << " half of what is not idle, and half of the idle half";
  EXPECT_LT(part, 0.5) << share;
}

TEST_F(RunWithGpus, ListsTheirProcessesAsOftenAsItReads) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  // The sixth list never comes: after half a second, not five.
  std::string script = "gpu A\n";
  for (const char* version : {"", "_v2", "_v3"}) {
    script += fmt::format("hang nvmlDeviceGetComputeRunningProcesses{} every 6\n", version);
  }
  const Json json = measure_with(script, {"--quiet"}, {"sleep", "4.5"});
  EXPECT_EQ(json["host"]["gpus"][0]["used_by_command_unknown"],
            "the driver did not list its processes often enough");
  const Json slow = measure_with(script, {"--quiet", "--interval", "1"}, {"sleep", "4.5"});
  EXPECT_EQ(slow["host"]["gpus"][0]["used_by_command"], false) << "no more often than that";
}

/// An NVIDIA board beside an AMD one.
class RunWithGpusOfTwoVendors : public RunWithGpus {
 protected:
  RunWithGpusOfTwoVendors() {
    tree_.add_rx6800(0, "0000:03:00.0");
    sysfs_ = tree_.system().sysfs.string();
  }
  [[nodiscard]] Json measure_both(const Words& options) const {
    return measure_with("gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\npci 0000:41:00\n",
                        Words{"--quiet"} + options, {"sleep", "0.3"});
  }
  fakes::DrmTree tree_;
};

TEST_F(RunWithGpusOfTwoVendors, SumsThoseOfOneBrand) {
  const Json usage = measure_both({})["resource_usage"];
  EXPECT_EQ(usage["gpu_utilization"]["system_gpu_count"], 1);
  EXPECT_EQ(usage["gpu_utilization"]["n_expected_gpus"], 1);
  EXPECT_EQ(usage["gpu_utilization"]["gpu_percentages"]["mean_hardware_percent"], 80.0);
  EXPECT_EQ(usage["max_gpu_ram"]["system_capacity"], 80.0) << "NVIDIA's alone";
}

TEST_F(RunWithGpusOfTwoVendors, ListsAndMeasuresAll) {
  const Json json = measure_both({});
  EXPECT_EQ(json["host"]["gpus"].size(), 2U);
  EXPECT_EQ(json["energy"]["domains"].size(), 2U);
}

TEST_F(RunWithGpusOfTwoVendors, SumsTheOtherBrandWhereThatIsChosen) {
  const Json usage = measure_both({"--gpus", "amd_gpu_0"})["resource_usage"];
  EXPECT_EQ(usage["gpu_utilization"]["system_gpu_count"], 1);
  EXPECT_EQ(usage["gpu_utilization"]["gpu_percentages"]["mean_hardware_percent"], 57.0);
}

TEST_F(RunWithGpus, MeasuresTheChosenOnesOnly) {
  for (const char* name : {"1", "GPU-b", "nvidia_gpu_1"}) {
    const Json json = measure_with(kTwoPlayedGpus, {"--quiet", "--gpus", name}, {"true"});
    ASSERT_EQ(json["energy"]["domains"].size(), 1U) << name;
    EXPECT_EQ(json["energy"]["domains"][0]["name"], "nvidia_gpu_1");
    EXPECT_THAT(json["energy"]["total_missing"],
                Contains((Json{{"kind", "gpu"}, {"reason", "nvidia_gpu_0: left out by --gpus"}})));
    EXPECT_NE(json["resource_usage"]["max_gpu_ram"]["system"], nullptr) << "of the chosen one";
  }
}

TEST_F(RunWithGpus, LeavesTheDriverAloneWhereNoneIsChosen) {
  const Json json = measure_with("hang nvmlInit_v2\n" + std::string(kTwoPlayedGpus),
                                 {"--quiet", "--gpus", "none"}, {"true"});
  EXPECT_LT(json["overhead"]["cpu_s"], 1.0);
  EXPECT_EQ(json["host"]["gpus"], nullptr);
  EXPECT_THAT(json["energy"]["total_missing"],
              Contains((Json{{"kind", "gpu"}, {"reason", "left out by --gpus"}})));
}

TEST_F(RunWithGpus, LooksAtWhatCudaMayUseOnlyIfAsked) {
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  Start start = start_of(fake, {"--quiet"}, {"true"});
  start.environment["CUDA_VISIBLE_DEVICES"] = "GPU-bbbb";
  (void)run(start);
  EXPECT_EQ(json()["energy"]["domains"].size(), 2U);
  start = start_of(fake, {"--quiet", "--gpus", "visible"}, {"true"});
  start.environment["CUDA_VISIBLE_DEVICES"] = "GPU-bbbb";
  (void)run(start);
  ASSERT_EQ(json()["energy"]["domains"].size(), 1U);
  EXPECT_EQ(json()["energy"]["domains"][0]["name"], "nvidia_gpu_1");
}

TEST_F(RunWithGpus, DoesNotStartTheCommandForAGpuThatIsNotThere) {
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  const Outcome outcome = run(start_of(fake, {"--gpus", "0,7"}, {"touch", path("ran")}));
  EXPECT_EQ(outcome.code(), 125);
  EXPECT_EQ(outcome.err,
            "wattle run: --gpus: no GPU is called '7'; there are 0 (GPU-aaaa), 1 (GPU-bbbb)\n"
            "Try: wattle run --help\n");
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(RunWithGpus, WritesASeries) {
  (void)measure_with(kTwoPlayedGpus, {"--quiet", "--series", path("run.csv")}, {"sleep", "0.55"});
  const std::vector<std::string> lines = lines_of("run.csv");
  ASSERT_GE(lines.size(), 1U + 3U);
  EXPECT_EQ(lines[0],
            "time_unix_s,elapsed_s,domain,power_w,utilization_percent,memory_used_bytes,"
            "temperature_celsius,clock_hz,power_uncertainty_w,flags");
  EXPECT_EQ((lines.size() - 1) % 3, 0U) << "the host and two GPUs at each interval";
  for (const std::string& line : lines) {
    EXPECT_EQ(std::ranges::count(line, ','), 9) << line;
  }
  EXPECT_THAT(lines[1], HasSubstr(",host,,"));
  EXPECT_THAT(lines[2], HasSubstr(",nvidia_gpu_0,300.000,"));
  EXPECT_THAT(lines[3], HasSubstr(",nvidia_gpu_1,150.000,"));
}

TEST_F(RunWithGpus, AppendsToASeriesOfAnOlderVersionInItsColumns) {
  std::ofstream(path("run.csv")) << "time_unix_s,elapsed_s,domain,power_w,utilization_percent,"
                                    "memory_used_bytes,temperature_celsius,clock_hz\n";
  (void)measure_with(kTwoPlayedGpus, {"--quiet", "--append", "--series", path("run.csv")},
                     {"sleep", "0.25"});
  for (const std::string& line : lines_of("run.csv")) {
    EXPECT_EQ(std::ranges::count(line, ','), 7) << line;
  }
}

TEST_F(RunWithGpus, EndsASeriesWithTheRestOfTheLastInterval) {
  const Json report =
      measure_with(kTwoPlayedGpus, {"--quiet", "--interval", "0.2", "--series", path("run.csv")},
                   {"sleep", "0.3"});
  const std::vector<std::string> lines = lines_of("run.csv");
  EXPECT_EQ(lines.size(), 1U + 3U * 2U);
  EXPECT_THAT(lines.back(),
              HasSubstr(fmt::format(",{:.6f},nvidia_gpu_1,150", report["wall_s"].get<double>())));
}

TEST_F(RunWithGpus, AppendsToASeriesWithoutASecondHeader) {
  for (int i = 0; i < 2; ++i) {
    const Words options = {"--quiet", "--append", "--series", path("run.csv"), "--gpus", "none"};
    EXPECT_EQ(run(wattle_run(options, {"sleep", "0.15"})).code(), 0);
  }
  int headers = 0;
  for (const std::string& line : lines_of("run.csv")) headers += line.starts_with("time_unix_s");
  EXPECT_EQ(headers, 1);
}

TEST_F(RunWithGpus, SaysThatASeriesCouldNotBeWritten) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  const Outcome outcome = run(start_of(fake, {"--series", "/dev/full"}, {"echo", "ran"}));
  EXPECT_EQ(outcome.code(), 125);
  EXPECT_THAT(outcome.err, HasSubstr("/dev/full"));
  EXPECT_THAT(outcome.out, IsEmpty()) << "the header does not fit: known before the command starts";
}

TEST_F(RunWithGpus, RefusesASeriesInTheFileOfAnotherOutput) {
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  const Outcome outcome =
      run(start_of(fake, {"--series", path("run.json")}, {"touch", path("ran")}));
  EXPECT_EQ(outcome.code(), 125);
  EXPECT_THAT(outcome.err, HasSubstr("--json and --series name the same file: "));
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

TEST_F(RunWithGpus, DoesNotWaitForWhoeverReadsASeries) {
  ASSERT_EQ(::mkfifo(path("series").c_str(), 0600), 0);
  const Fd nobody_reads(::open(path("series").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  const Outcome outcome =
      run(start_of(fake, {"--interval", "0.001", "--series", path("series")}, {"sleep", "1.5"}));
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write"));
}

TEST_F(RunWithGpus, RefusesASeriesWhereNoFileCanBe) {
  const fakes::FakeNvml fake(kTwoPlayedGpus);
  const Outcome outcome =
      run(start_of(fake, {"--series", path("no/such/folder")}, {"touch", path("ran")}));
  EXPECT_EQ(outcome.code(), 125);
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

}  // namespace
}  // namespace wattle::integration
