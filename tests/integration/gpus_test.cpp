// GPUs on the command line, played by a scripted libnvidia-ml.so.1.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "command.hpp"
#include "fakes/nvml/control.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTwoGpus =
    "driver 535.104.05\n"
    "gpu NVIDIA H100 PCIe\n"
    "uuid GPU-aaaa\n"
    "pci 0000:41:00\n"
    "gpu Tesla M40 24GB\n"
    "uuid GPU-bbbb\n"
    "counter none\n"
    "instant none\n"
    "average none\n";

class Gpus : public CommandTest {
 protected:
  /// Beside an empty sysfs, so that nothing but the script's GPUs is found.
  [[nodiscard]] Outcome ask(const std::string& script, const Words& words) const {
    const fakes::FakeNvml fake(script);
    Start start = wattle(words + Words{"--sysfs", path("nothing"), "--procfs", path("nothing"),
                                       "--nvml-library", fake.library_path()});
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()}};
    return run(start);
  }
};

TEST_F(Gpus, AreListedWithWhatTheyReport) {
  const Outcome outcome = ask(kTwoGpus, {"sensors"});
  EXPECT_EQ(outcome.code(), 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out,
              HasSubstr("nvidia_gpu_0        NVIDIA H100 PCIe, PCI 0000:41:00.0, GPU-aaaa, "
                        "driver 535.104.05\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("nvidia_gpu_0        power_instant, W, mean over 0.025 s, renewed every "
                        "0.100 s, sees 25 % of the time\n"));
  EXPECT_THAT(outcome.out, HasSubstr("nvidia_gpu_1 energy not read: this GPU, or its driver, does "
                                     "not offer it\n"));
}

TEST_F(Gpus, StandInTheJson) {
  const Json json = parse_json(ask(kTwoGpus, {"sensors", "--json"}).out);
  ASSERT_EQ(json["devices"].size(), 2U);
  EXPECT_EQ(json["devices"][0], (Json{{"domain", "nvidia_gpu_0"},
                                      {"kind", "gpu"},
                                      {"model", "NVIDIA H100 PCIe"},
                                      {"id", "GPU-aaaa"},
                                      {"pci_address", "0000:41:00.0"},
                                      {"driver", "535.104.05"}}));
  const Json& energy = json["channels"][0];
  EXPECT_EQ(energy["quantity"], "energy");
  EXPECT_EQ(energy["scale"], 0.001);
  EXPECT_EQ(energy["modulus_ticks"], nullptr);
  EXPECT_EQ(energy["counts_in_total"], true);
  const Json& power = json["channels"][1];
  EXPECT_EQ(power["quantity"], "power_instant");
  EXPECT_EQ(power["unit"], "W");
  EXPECT_EQ(power["window_s"], 0.025);
  EXPECT_EQ(power["coverage"], 0.25);
}

TEST_F(Gpus, ThatReportOnlyTheirPowerAreReadable) {
  const Json json = parse_json(ask(kTwoGpus, {"doctor", "--json"}).out);
  EXPECT_EQ(json["readable"], (Json{"nvidia_gpu_0", "nvidia_gpu_1"}));
  ASSERT_EQ(json["absent"].size(), 2U);
  EXPECT_EQ(json["absent"][0]["subject"], "AMD and Intel GPUs");
  EXPECT_EQ(json["absent"][1]["subject"], "power rails and batteries");
}

TEST_F(Gpus, ThatHaveNoCounterAreMeasuredByTheirPower) {
  const std::string script = "gpu Tesla M40 24GB\ncounter none\n";
  const Outcome doctor = ask(script, {"doctor", "--verbose"});
  EXPECT_THAT(doctor.out, HasSubstr("nvidia_gpu_0 energy (nvml) has no counter: it is found from "
                                    "the power\n"));
  EXPECT_THAT(doctor.out, Not(HasSubstr("nvidia_gpu_0 energy (nvml) is not measured")));
}

TEST_F(Gpus, ThatReportNoEnergyAreNot) {
  const Outcome outcome =
      ask("gpu A\ncounter none\ninstant none\naverage none\nusage none\n", {"doctor", "--verbose"});
  constexpr int kNothingReadable = 2;
  EXPECT_EQ(outcome.code(), kNothingReadable);
  EXPECT_THAT(outcome.out, HasSubstr("nvidia_gpu_0 (nvml) is not measured\n"
                                     "  reason  neither its energy nor its power can be read"));
}

TEST_F(Gpus, AreNotWaitedForAsLongAsTheirDriverLikes) {
  const Outcome outcome = ask("hang nvmlInit_v2\ngpu A\n", {"doctor", "--verbose"});
  EXPECT_THAT(outcome.out, HasSubstr("the driver did not answer within 2 s"));
}

TEST_F(Gpus, OfADriverThatHangsDoNotHoldUpARun) {
  const fakes::FakeNvml fake("hang nvmlInit_v2\ngpu A\n");
  Start start = wattle_run({"--quiet", "--nvml-library", fake.library_path()}, {"echo", "done"});
  start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()}};
  EXPECT_EQ(run(start).out, "done\n");
}

TEST_F(Gpus, ComeFromTheLibraryThatTheEnvironmentNames) {
  const fakes::FakeNvml fake(kTwoGpus);
  Start start = wattle({"doctor", "--json"});
  start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()},
                       {"WATTLE_NVML_LIBRARY", fake.library_path()}};
  EXPECT_THAT(run(start).out, HasSubstr("nvidia_gpu_1"));
}

TEST_F(Gpus, AreMissedWhereTheNamedLibraryIsNone) {
  const Outcome outcome =
      run(wattle({"doctor", "--verbose", "--nvml-library", path("nothing.so")}));
  EXPECT_THAT(outcome.out, HasSubstr("NVIDIA GPUs (nvml) is not measured"));
  EXPECT_THAT(outcome.out, HasSubstr("name another with --nvml-library"));
}

TEST_F(Gpus, AreAbsentWhereThereIsNoDriver) {
  if (DynamicLibrary::open(System{}.nvml_library)) {
    GTEST_SKIP() << "this machine has an NVIDIA driver";
  }
  const Words nowhere = {"--sysfs", path("nothing"), "--procfs", path("nothing")};
  const Json json = parse_json(run(wattle(Words{"doctor", "--json"} + nowhere)).out);
  ASSERT_EQ(json["absent"].size(), 3U);
  EXPECT_EQ(json["absent"][0]["subject"], "NVIDIA GPUs");
  EXPECT_EQ(json["absent"][1]["subject"], "AMD and Intel GPUs");
  EXPECT_EQ(json["absent"][2]["subject"], "power rails and batteries");
  EXPECT_THAT(run(wattle(Words{"doctor", "--verbose"} + nowhere)).out,
              HasSubstr("NVIDIA GPUs (nvml) is not there\n  reason  no NVIDIA GPU was found\n"));
}

TEST_F(Gpus, PhaseOfAGpuIsAsCertainAsARun) {
  // One with a gauge alone, one with a counter alone.
  const fakes::FakeNvml fake(
      "gpu NVIDIA H100 PCIe\ncounter none\naverage none\nusage none\npower step 0 300\n"
      "gpu NVIDIA H100 PCIe\ninstant none\naverage none\nusage none\npower step 0 300\n");
  const auto measured = [&](const std::string& script) {
    Start start;
    start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()}};
    return measure_in(start, {"--sysfs", path("nothing"), "--nvml-library", fake.library_path()},
                      {"env", "W=" + wattle_program(), "sh", "-c", script})
        .json;
  };
  // When the driver renews a value, and how late a busy machine reads it, is chance: the best of
  // three tries.
  double most = std::numeric_limits<double>::infinity();  // of a phase's to a run's
  for (int attempt = 0; attempt < 3 && most > 1.25; ++attempt) {
    const Json run = measured("sleep 2")["energy"]["domains"];
    const Json phases =
        measured("sleep 0.5; $W mark a; sleep 2; $W mark --end a; sleep 0.5")["phases"];
    const Json phase = phases["rows"].at(0)["domains"];
    ASSERT_EQ(run.size(), 2U);
    ASSERT_EQ(phase.size(), 2U);
    EXPECT_EQ(run[0]["method"], "integrated");
    EXPECT_EQ(run[1]["method"], "counter");
    const auto ratio = [&](std::size_t gpu) {
      const double run_j = run[gpu]["uncertainty_j"];
      EXPECT_GT(run_j, 0.0);
      return phase[gpu]["uncertainty_j"].get<double>() / run_j;
    };
    most = std::min(most, std::max(ratio(0), ratio(1)));
  }
  EXPECT_LE(most, 1.25);
}

TEST_F(Gpus, PhaseDoesNotWaitForADriverThatIsSlow) {
  constexpr double kLatencyS = 3.0;
  const fakes::FakeNvml fake(
      "gpu NVIDIA A\naverage none\nusage none\ncounter none\n"
      "power step 0 300\nlatency nvmlDeviceGetPowerUsage 3000 from 1\n"
      "latency nvmlDeviceGetFieldValues 3000 from 1\n");
  Start start;
  start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()}};
  const auto [outcome, json] = measure_in(
      start, {"--sysfs", path("nothing"), "--nvml-library", fake.library_path()},
      {"env", "W=" + wattle_program(), "sh", "-c", "sleep 1.5; $W mark a; $W mark --end a"});
  EXPECT_EQ(outcome.code(), 0) << outcome.err;
  EXPECT_LT(json["phases"]["rows"].at(0)["time_s"], kLatencyS / 2.0) << json["phases"];
  EXPECT_LT(json["wall_s"], 1.5 + kLatencyS / 2.0);
}

}  // namespace
}  // namespace wattle::integration
