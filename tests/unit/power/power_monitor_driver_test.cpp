// The power monitor and the calls that it makes of a driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "fakes/gated_sensor.hpp"
#include "fakes/nvml/control.hpp"
#include "heard_log.hpp"
#include "played_machine.hpp"
#include "sanitized.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::power_test {
namespace {
using namespace std::chrono_literals;
using fakes::eventually;
using fakes::FakeNvml;
using testing::ElementsAre;
using testing::SizeIs;

class DriverTest : public testing::Test {
 protected:
  /// A monitor of the GPUs of a scripted driver.
  static void with_monitor(const std::string& script, const PowerMonitorOptions& options,
                           const std::function<void(PowerMonitor&, FakeNvml&)>& look) {
    FakeNvml fake(script);
    PowerMonitorOptions own = options;
    own.system = fake.system();
    PowerMonitor monitor(own);
    look(monitor, fake);
  }
};

TEST_F(DriverTest, IsNotCalledWhereNoGpuIsSelected) {
  const FakeNvml fake("gpu A\npower step 0 100\n");
  const PowerMonitor monitor({.gpus = GpuSelection::none(),
                              .if_unavailable = IfUnavailable::ignore,
                              .system = fake.system()});
  EXPECT_EQ(fake.calls("nvmlInit_v2"), 0U);
}

TEST_F(DriverTest, ReportsItsThreeDomainsOfEachGpu) {
  with_monitor("gpu A\npower step 0 100\nmemory_power step 0 20\ngpu B\npower step 0 200\n",
               {.update_period = 50ms}, [](PowerMonitor& monitor, FakeNvml&) {
                 EXPECT_THAT(monitor.gpu_indices(), ElementsAre(0, 1));
                 EXPECT_THAT(monitor.supported_domains(0), SizeIs(3));
                 EXPECT_THAT(monitor.supported_domains(1), SizeIs(2));
                 EXPECT_EQ(monitor.power().at(0)->power, Watts(100.0));
                 EXPECT_EQ(monitor.power(PowerDomain::memory_average).at(0)->power, Watts(20.0));
                 EXPECT_EQ(monitor.power().at(1)->power, Watts(200.0));
               });
}

// [20]: fields alone, which old drivers do not have.
TEST_F(DriverTest, OfOldIsAskedInItsOwnWay) {
  with_monitor("gpu A\npower step 0 100\ninstant none\naverage none\n", {.update_period = 50ms},
               [](PowerMonitor& monitor, FakeNvml&) {
                 EXPECT_THAT(monitor.supported_domains(0), SizeIs(1));
                 EXPECT_EQ(monitor.power().at(0)->power, Watts(100.0));
               });
}

TEST_F(DriverTest, ThatAnswersNotSupportedNowAndThenIsReadAllTheSame) {
  with_monitor("gpu A\npower step 0 100\nerror nvmlDeviceGetFieldValues 3 every 2\n",
               {.update_period = 1ms}, [](PowerMonitor& monitor, FakeNvml& fake) {
                 const std::uint64_t before = fake.calls("nvmlDeviceGetFieldValues");
                 EXPECT_TRUE(eventually(
                     [&] { return fake.calls("nvmlDeviceGetFieldValues") > before + 20; }));
                 EXPECT_EQ(monitor.power().at(0)->power, Watts(100.0));
                 EXPECT_TRUE(eventually([&] {
                   const TimePoint now = machine_clock().now();
                   return monitor.power_at(now).at(0).has_value();
                 }));
               });
}

TEST_F(DriverTest, ThatIsSlowToListItsGpusDoesNotKeepTheOthersFromBeingMonitored) {
  with_monitor("gpu A\npower step 0 100\ngpu B\nhang nvmlDeviceGetName\n", {.update_period = 50ms},
               [](PowerMonitor& monitor, FakeNvml& fake) {
                 EXPECT_THAT(monitor.gpu_indices(), ElementsAre(0));
                 fake.release_hung();
               });
}

TEST_F(DriverTest, IsReadAtHalfItsUpdatePeriodWhereNobodySaysHowOften) {
  FakeNvml fake("gpu A\npower linear 0 100 100 1100\ninstant window_ms 20 update_ms 60\n");
  fake.let_time_pass();
  const PowerMonitor monitor({.system = fake.system()});
  EXPECT_NEAR(Seconds(monitor.update_period()).count(), 0.03, 0.01);
}

}  // namespace
}  // namespace wattle::power_test
