// AMD and Intel GPUs in a run, in `wattle sensors` and in `wattle doctor`, by a tree like the
// kernel's.
#include <fmt/format.h>

#include <algorithm>

#include "base/dynlib.hpp"
#include "command.hpp"
#include "fakes/drm_tree.hpp"
#include "usage/tree/process_tree.hpp"

namespace wattle::integration {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAddress = "0000:03:00.0";

class DrmGpus : public CommandTest {
 protected:
  void SetUp() override {
    if (DynamicLibrary::open(System{}.nvml_library)) {
      GTEST_SKIP() << "this machine has an NVIDIA driver, whose GPUs would be listed too";
    }
  }
  [[nodiscard]] Words tree() const {
    return {"--sysfs", tree_.system().sysfs, "--procfs", tree_.system().procfs};
  }
  [[nodiscard]] Json ask(const Words& words) const {
    return parse_json(run(wattle(words + tree())).out);
  }
  [[nodiscard]] Json measure_run(const Words& options, const Words& command) const {
    return measure(tree() + options, command).json;
  }

  fakes::DrmTree tree_;
};

TEST_F(DrmGpus, AreListedWithWhatTheyReport) {
  tree_.add_rx6800(0, kAddress);
  tree_.add_arc(1, "0000:0a:00.0");
  const Json json = ask({"sensors", "--json"});
  ASSERT_EQ(json["devices"].size(), 2U);
  EXPECT_EQ(json["devices"][0]["domain"], "amd_gpu_0");
  EXPECT_EQ(json["devices"][0]["model"], "AMD GPU 1002:73bf");
  EXPECT_EQ(json["devices"][0]["pci_address"], kAddress);
  const Json& power = json["channels"][0];
  EXPECT_EQ(power["quantity"], "power_average");
  EXPECT_EQ(power["unit"], "W");
  EXPECT_EQ(power["coverage"], nullptr) << "nobody has told";
  EXPECT_EQ(json["devices"][1]["domain"], "intel_gpu_0");
  EXPECT_THAT(json["refused"].dump(), testing::Not(HasSubstr("drm")));
}

TEST_F(DrmGpus, AreReadable) {
  tree_.add_rx6800(0, kAddress);
  tree_.add_arc(1, "0000:0a:00.0");
  const Json json = ask({"doctor", "--json"});
  EXPECT_THAT(json["readable"], (Json{"amd_gpu_0", "intel_gpu_0"}));
}

TEST_F(DrmGpus, AreMeasuredOnceReadInALane) {
  tree_.add_rx6800(0, kAddress);
  tree_.add_rx6800(1, "0000:83:00.0");
  tree_.set_hwmon_number(1, "power1_average", 50'000'000);
  const Json json = measure_run({}, {"sleep", "1.2"});
  const Json& domains = json["energy"]["domains"];
  ASSERT_EQ(domains.size(), 2U);
  EXPECT_EQ(domains[0]["name"], "amd_gpu_0");
  EXPECT_EQ(domains[0]["device"], "amd_gpu:0");
  EXPECT_EQ(domains[0]["method"], "integrated");
  EXPECT_EQ(domains[0]["quantity"], "power_average");
  EXPECT_NEAR(domains[0]["mean_w"].get<double>(), 100.0, 0.1);
  EXPECT_NEAR(domains[1]["mean_w"].get<double>(), 50.0, 0.1);
  EXPECT_NEAR(json["energy"]["total_mean_w"].get<double>(), 150.0, 0.2);
  EXPECT_THAT(json["energy"]["total_covers"], ElementsAre("gpu"));
}

TEST_F(DrmGpus, SayWhatTheyAreAndDid) {
  tree_.add_mi210(0, kAddress);
  const Json json = measure_run({}, {"sleep", "0.3"});
  const Json& gpu = json["host"]["gpus"].at(0);
  EXPECT_EQ(gpu["domain"], "amd_gpu_0");
  EXPECT_EQ(gpu["uuid"], "18f68e602b8a790f");
  EXPECT_EQ(gpu["driver"], "amdgpu");
  EXPECT_EQ(gpu["memory_total_bytes"], 68'702'699'520);
  EXPECT_EQ(gpu["mean_utilization_percent"], 99.0);
  EXPECT_EQ(gpu["max_temperature_celsius"], 44.0);
  const Json& usage = json["resource_usage"];
  EXPECT_EQ(usage["gpu_utilization"]["system_gpu_count"], 1);
  EXPECT_EQ(usage["max_gpu_ram"]["system"], 0.01048576);
}

TEST_F(DrmGpus, CountTheDifferenceOfACounter) {
  tree_.add_arc(0, kAddress);
  const Words raise = {"sh", "-c",
                       "sleep 0.3; printf '00000000000143000000\\n' > " +
                           (tree_.device(0) / fakes::DrmTree::hwmon(0) / "energy1_input").string() +
                           "; sleep 0.3"};
  tree_.set_hwmon_number(0, "energy1_input", 123'000'000);
  const Json json = measure_run({}, raise);
  const Json& domain = json["energy"]["domains"].at(0);
  EXPECT_EQ(domain["name"], "intel_gpu_0");
  EXPECT_EQ(domain["method"], "counter");
  // On a busy machine it is read late at an end. The +- allows for that where power is even; here
  // all comes at once.
  const double doubt_j = std::max(1e-6, 2 * domain["uncertainty_j"].get<double>());
  EXPECT_NEAR(domain["energy_j"].get<double>(), 20.0, doubt_j);
}

TEST_F(DrmGpus, OfAProcessorAreNotAddedToIt) {
  tree_.add_apu(0, "0000:c1:00.0");
  tree_.add_card(1, "0000:00:02.0", "i915", "8086:4680");
  const Json json = measure_run({}, {"sleep", "0.3"});
  EXPECT_THAT(json["energy"]["domains"], IsEmpty());
  EXPECT_EQ(json["energy"]["total_j"], nullptr);
  EXPECT_EQ(json["host"]["gpus"].size(), 1U) << "its load is known, its power is the processor's";
  EXPECT_EQ(json["host"]["gpus"][0]["mean_utilization_percent"], 3.0);
}

TEST_F(DrmGpus, ThatSleepLeaveTheirEnergyUnknown) {
  tree_.add_rx6800(0, kAddress);
  tree_.write(0, "power/runtime_status", "suspended\n");
  const Json json = measure_run({}, {"sleep", "0.3"});
  const Json& domain = json["energy"]["domains"].at(0);
  EXPECT_EQ(domain["energy_j"], nullptr) << "not 0";
  EXPECT_EQ(json["energy"]["total_j"], nullptr);
}

TEST_F(DrmGpus, ThatStopAnsweringDoNotHurtTheOthers) {
  tree_.add_rx6800(0, kAddress);
  tree_.add_rx6800(1, "0000:83:00.0");
  const std::string file = (tree_.device(1) / fakes::DrmTree::hwmon(1) / "power1_average").string();
  const Json json = measure_run({}, {"sh", "-c", "sleep 0.5; : > " + file + "; sleep 1"});
  const Json& domains = json["energy"]["domains"];
  EXPECT_EQ(domains[0]["unknown_s"], 0.0);
  EXPECT_GT(domains[1]["unknown_s"], 0.3);
  EXPECT_THAT(domains[1]["flags"], Contains("gap"));
}

TEST_F(DrmGpus, AreRefusedWithARemedy) {
  tree_.add_card(0, kAddress, "i915", "8086:56A0");
  const Outcome outcome = run(wattle(Words{"doctor", "--verbose"} + tree()));
  EXPECT_THAT(outcome.out, HasSubstr("intel_gpu_0 (drm) is not measured"));
  EXPECT_THAT(outcome.out, HasSubstr("i915 shows neither its energy nor its power"));
  const Json json = measure_run({}, {"true"});
  EXPECT_EQ(json["host"]["gpus"][0]["domain"], "intel_gpu_0");
  EXPECT_THAT(json["energy"]["total_missing"].dump(), HasSubstr("intel_gpu_0: i915 shows neither"));
}

TEST_F(DrmGpus, CanBeLeftOut) {
  tree_.add_rx6800(0, kAddress);
  tree_.add_arc(1, "0000:0a:00.0");
  const Json json = measure_run({"--gpus", "amd_gpu_0"}, {"true"});
  ASSERT_EQ(json["energy"]["domains"].size(), 1U);
  EXPECT_EQ(json["energy"]["domains"][0]["name"], "amd_gpu_0");
  EXPECT_EQ(run(wattle_run(tree() + Words{"--gpus", "0"}, {"true"})).err,
            "wattle run: --gpus: GPUs of several vendors have the number '0'; there are "
            "amd_gpu_0, intel_gpu_0\nTry: wattle run --help\n");
}

TEST_F(DrmGpus, ReportWhichProcessesUseThem) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  tree_.add_rx6800(0, kAddress);
  // The command's number is not known before it runs: it makes its own entry.
  const std::string procfs = tree_.system().procfs;
  const std::string fdinfo = fakes::amdgpu_fdinfo(kAddress, 1, 2048, 7);
  folder_.write("fdinfo", fdinfo);
  const std::string script = fmt::format(
      "mkdir -p {0}/$$/fd {0}/$$/fdinfo && cp {1}/fdinfo {0}/$$/fdinfo/5 && "
      "ln -s /dev/dri/renderD128 {0}/$$/fd/5 && sleep 2.5",
      procfs, folder_.path().string());
  const Json json = measure_run({}, {"sh", "-c", script});
  EXPECT_EQ(json["host"]["gpus"][0]["used_by_command"], true);
  EXPECT_EQ(json["resource_usage"]["max_gpu_ram"]["main"], 2097152e-9);
}

}  // namespace
}  // namespace wattle::integration
