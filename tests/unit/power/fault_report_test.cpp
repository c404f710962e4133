#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heard_log.hpp"
#include "played_machine.hpp"
#include "power/watched_sensor.hpp"

namespace wattle::power_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two GPUs; what the first one shows is set from reading to reading.
class FaultReportTest : public testing::Test {
 protected:
  FaultReportTest() : monitor_(make()) {}

  void read(fakes::Shown shown, std::chrono::nanoseconds until_next = 100ms) {
    shown_ = shown;
    PowerMonitorMaker::read(monitor_);
    machine_.pass(until_next);
  }
  void fail(int times) {
    for (int i = 0; i < times; ++i) read({.raw = 0, .status = ReadStatus::retry});
  }
  std::vector<std::string> reported() {
    const HeardLog log;
    PowerMonitorMaker::report_faults(monitor_);
    return log.messages();
  }

 private:
  PowerMonitor make() {
    machine_.add_gpu(0, [this](auto) { return shown_; });
    machine_.add_gpu(1, always(100));
    return machine_.monitor();
  }
  fakes::Shown shown_ = watts(100);
  PlayedMachine machine_;
  PowerMonitor monitor_;
};

TEST_F(FaultReportTest, IsSilentWhereNothingIsWrong) {
  for (int i = 0; i < 100; ++i) read(watts(100));
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(FaultReportTest, ReportsAtTheEleventhFailureOfAGpu) {
  fail(10);
  EXPECT_THAT(reported(), IsEmpty());
  fail(1);
  EXPECT_THAT(reported(), ElementsAre(AllOf(HasSubstr("GPU 0"), HasSubstr("device_instant"),
                                            HasSubstr("11 readings"))));
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(FaultReportTest, ReportsAtEachFurtherEleventhWhateverSucceedsInBetween) {
  for (int i = 0; i < 11; ++i) {
    fail(1);
    read(watts(100));
  }
  EXPECT_THAT(reported(), ElementsAre(HasSubstr("11 readings")));
  fail(10);
  EXPECT_THAT(reported(), IsEmpty());
  fail(1);
  EXPECT_THAT(reported(), ElementsAre(HasSubstr("22 readings")));
}

TEST_F(FaultReportTest, ReportsOnceManyFailuresInBetween) {
  fail(100);
  EXPECT_THAT(reported(), ElementsAre(HasSubstr("99 readings")));
}

TEST_F(FaultReportTest, ReportsAZeroBetweenTwoValuesAboveIt) {
  read(watts(100));
  read(watts(0));
  EXPECT_THAT(reported(), IsEmpty());  // the GPU may be off from now on
  read(watts(100));
  EXPECT_THAT(reported(), ElementsAre(AllOf(HasSubstr("GPU 0"), HasSubstr("0 W"))));
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(FaultReportTest, ReportsAZeroThatIsReadTwiceBeforeItIsRenewed) {
  for (const double power : {100, 100, 0, 0, 100, 100}) read(watts(power), 50ms);
  EXPECT_THAT(reported(), ElementsAre(AllOf(HasSubstr("GPU 0"), HasSubstr("0 W"))));
}

TEST_F(FaultReportTest, IsSilentAboutAGpuThatIsOff) {
  read(watts(100));
  for (int i = 0; i < 5; ++i) read(watts(0));
  read(watts(100));
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(FaultReportTest, ReportsThatAGpuIsLostAndThatItIsBack) {
  read(watts(100));
  read({.raw = 0, .status = ReadStatus::gone});
  EXPECT_THAT(reported(), ElementsAre(HasSubstr("GPU 0 is lost")));
  read({.raw = 0, .status = ReadStatus::gone});
  EXPECT_THAT(reported(), IsEmpty());
  read(watts(100));
  EXPECT_THAT(reported(), ElementsAre(HasSubstr("GPU 0 is back")));
}

}  // namespace
}  // namespace wattle::power_test
