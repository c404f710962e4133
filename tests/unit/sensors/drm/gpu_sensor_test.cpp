#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "fakes/drm_tree.hpp"
#include "fakes/virtual_clock.hpp"
#include "sensors/drm/diagnosis.hpp"
#include "sensors/drm/gpu.hpp"
#include "sensors/read_status.hpp"

namespace wattle::drm {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

using fakes::kAddress;

class DrmSensor : public testing::Test {
 protected:
  DrmGpuSensor sensor() {
    return {examine(find_cards(tree_.system()).gpus.at(0)),
            std::make_shared<OpenGpuFiles>(tree_.system().procfs), clock_};
  }
  static Reading read(DrmGpuSensor& sensor, Metric metric) {
    std::vector<Reading> readings(sensor.channels().size());
    sensor.read(readings);
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (sensor.channels()[i].metric == metric) return readings[i];
    }
    throw std::runtime_error("no such channel");
  }

  fakes::DrmTree tree_;
  fakes::VirtualClock clock_;
};

TEST_F(DrmSensor, ReadsWhatItsFilesHoldNow) {
  tree_.add_rx6800(0, kAddress);
  DrmGpuSensor gpu = sensor();
  tree_.set_hwmon_number(0, "power1_average", 42'000'000);
  const Reading reading = read(gpu, Metric::power_average);
  EXPECT_EQ(reading.status, ReadStatus::ok);
  EXPECT_EQ(reading.raw, 42'000'000U);
}

TEST_F(DrmSensor, StampsEachReadingWithTheMiddleOfItsOwnTime) {
  tree_.add_rx6800(0, kAddress);
  DrmGpuSensor gpu = sensor();
  clock_.advance_at_each_look(milliseconds(10));
  const TimePoint begin = clock_.at();
  std::vector<Reading> readings(gpu.channels().size());
  gpu.read(readings);
  EXPECT_EQ(readings[0].at, begin + milliseconds(5));
  EXPECT_EQ(readings[0].half_width, milliseconds(5));
  EXPECT_EQ(readings[1].at, begin + milliseconds(15));
}

TEST_F(DrmSensor, ReadsNothingThatNobodyWants) {
  tree_.add_rx6800(0, kAddress);
  DrmGpuSensor gpu = sensor();
  std::vector<Reading> readings(gpu.channels().size(), Reading{.raw = 7});
  gpu.read_some(ChannelSet(2), readings);
  EXPECT_EQ(readings[0].raw, 7U);
  EXPECT_EQ(readings[1].raw, 203'000'000U);
}

TEST_F(DrmSensor, LetsAGpuSleep) {
  tree_.add_rx6800(0, kAddress);
  DrmGpuSensor gpu = sensor();
  tree_.write(0, "power/runtime_status", "suspended\n");
  EXPECT_EQ(read(gpu, Metric::power_average).status, ReadStatus::retry) << "neither 0 nor stale";
  EXPECT_EQ(read(gpu, Metric::utilization).status, ReadStatus::retry);
  EXPECT_EQ(read(gpu, Metric::memory_used).status, ReadStatus::ok) << "the driver's own books";
  tree_.write(0, "power/runtime_status", "active\n");
  EXPECT_EQ(read(gpu, Metric::power_average).status, ReadStatus::ok);
}

TEST_F(DrmSensor, PassesOverGarbage) {
  tree_.add_rx6800(0, kAddress);
  DrmGpuSensor gpu = sensor();
  for (const char* text : {"", "N/A\n", "4294967295000000\n"}) {
    tree_.write_hwmon(0, "power1_average", text);
    const Reading reading = read(gpu, Metric::power_average);
    EXPECT_EQ(reading.status, ReadStatus::retry) << text;
  }
}

TEST_F(DrmSensor, KnowsADeviceThatIsGone) {
  DrmGpu gpu;
  gpu.channels.push_back({.domain = Domain::amd_gpu(0), .metric = Metric::power_average});
  gpu.sources.push_back({});  // EBADF, as ENODEV for a device that was taken away
  DrmGpuSensor sensor(std::move(gpu), std::make_shared<OpenGpuFiles>("/proc"), clock_);
  EXPECT_EQ(read(sensor, Metric::power_average).status, ReadStatus::gone);
}

TEST_F(DrmSensor, HopesWhereTheDriverIsBusy) {
  for (const int error : {EBUSY, EPERM, ENODATA, EAGAIN, EIO, EINVAL, EOPNOTSUPP, ETIME, 0}) {
    EXPECT_EQ(status_of(error), ReadStatus::retry) << error;
  }
  for (const int error : {ENODEV, ENXIO, ENOENT, ESTALE}) {
    EXPECT_EQ(status_of(error), ReadStatus::gone) << error;
  }
}

TEST_F(DrmSensor, IsReadInALaneOfItsOwn) {
  tree_.add_rx6800(0, kAddress);
  EXPECT_TRUE(sensor().may_block());
}

TEST_F(DrmSensor, ListsWhoUsesIt) {
  tree_.add_rx6800(0, kAddress);
  tree_.open_gpu(20, 5, 0, fakes::amdgpu_fdinfo(kAddress, 1, 3, 7));
  const auto processes = sensor().processes();
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 1U);
  EXPECT_EQ(processes->at(0).pid, 20);
  EXPECT_EQ(processes->at(0).memory_bytes, 3072U);
}

TEST_F(DrmSensor, DoesNotTakeAMissingListForAnEmptyOne) {
  tree_.add_rx6800(0, kAddress);
  DrmGpuSensor gpu = sensor();
  std::filesystem::remove_all(tree_.system().procfs);
  EXPECT_EQ(gpu.processes(), std::nullopt);
}

}  // namespace
}  // namespace wattle::drm
