// Trackers of machines with GPUs of several vendors: a board of NVIDIA's, one of Intel's, and AMD's
// inside of the processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fakes/drm_tree.hpp"
#include "fakes/nvml/control.hpp"
#include "wattle/tracker.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TrackedVendors : public testing::Test {
 protected:
  TrackedVendors()
      : nvidia_(
            "gpu NVIDIA H100 PCIe\nuuid GPU-aaaa\nmemory 80000000000 1000000000\n"
            "utilization 60 10\n") {
    nvidia_.let_time_pass();
    others_.add_apu(0, "0000:04:00.0");
    others_.add_arc(1, "0000:83:00.0");
    options_.resource_usage_file = "";
    options_.sleep_time = std::chrono::milliseconds(20);
    options_.system.sysfs = others_.system().sysfs;
    options_.system.nvml_library = nvidia_.system().nvml_library;
  }

  [[nodiscard]] ResourceUsage track() const {
    Tracker tracker(options_);
    tracker.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // any time does
    tracker.stop();
    return tracker.resource_usage();
  }

  fakes::FakeNvml nvidia_;
  fakes::DrmTree others_;
  TrackerOptions options_;
};

TEST_F(TrackedVendors, HaveTheFiveGroupsOfOneBrand) {
  const ResourceUsage usage = track();
  EXPECT_EQ(usage.gpu_utilization.system_gpu_count, 1U);
  EXPECT_EQ(usage.gpu_utilization.n_expected_gpus, 1U);
  EXPECT_EQ(usage.gpu_utilization.gpu_percentages.mean_hardware_percent, 60.0) << "not 20 of three";
  EXPECT_EQ(usage.max_gpu_ram.system_capacity, 80.0);
  EXPECT_EQ(usage.max_gpu_ram.system, 1.0);
}

TEST_F(TrackedVendors, HaveTheEnergyOfAllThatAreNotInsideOfAProcessor) {
  const ResourceUsage usage = track();
  ASSERT_TRUE(usage.energy);
  std::vector<std::string> domains;
  for (const DomainEnergy& domain : usage.energy->domains) domains.push_back(domain.domain);
  EXPECT_THAT(domains, ElementsAre("nvidia_gpu_0", "intel_gpu_0"));
  EXPECT_THAT(usage.to_native_json(), HasSubstr(R"("name":"intel_gpu_0")"));
}

TEST_F(TrackedVendors, HaveTheGroupsOfTheBrandThatIsAskedFor) {
  options_.gpu_brand = "amd";
  const ResourceUsage amd = track();
  EXPECT_EQ(amd.gpu_utilization.system_gpu_count, 1U);
  EXPECT_TRUE(amd.max_gpu_ram.system_capacity);
  EXPECT_NE(amd.max_gpu_ram.system_capacity, 80.0);
  options_.gpu_brand = "intel";
  const ResourceUsage intel = track();
  EXPECT_EQ(intel.gpu_utilization.system_gpu_count, 1U);
  EXPECT_FALSE(intel.gpu_utilization.gpu_percentages.mean_sum_percent)
      << "neither 0 nor that of the others: its driver shows none";
}

TEST_F(TrackedVendors, HaveTheGroupsOfABoardBeforeThoseOfAProcessorWithoutNvidia) {
  options_.system.nvml_library = "/nonexistent/libnvidia-ml.so.1";
  const ResourceUsage usage = track();
  EXPECT_FALSE(usage.gpu_utilization.gpu_percentages.mean_sum_percent) << "Intel's has none";
  ASSERT_TRUE(usage.energy);
  ASSERT_EQ(usage.energy->domains.size(), 1U);
  EXPECT_EQ(usage.energy->domains[0].domain, "intel_gpu_0");
}

}  // namespace
}  // namespace wattle
