// The table of GPU sensors: what is known of a board before anybody looked.
#include <gtest/gtest.h>

#include <ostream>

#include "sensors/known_sensors.hpp"

namespace wattle {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// An average whose filter nobody has described.
constexpr int kAverage = -1;

struct Expected {
  const char* board;
  unsigned driver;
  int instant_ms;  ///< window of field 186; 0: not known
  int usage_ms;    ///< the same of nvmlDeviceGetPowerUsage, or `kAverage`
  friend std::ostream& operator<<(std::ostream& out, const Expected& e) {
    return out << e.board << ", driver " << e.driver;
  }
};

class KnownGpu : public testing::TestWithParam<Expected> {};

int window_ms(const GaugeFacts& facts) {
  if (facts.longest_lag) return facts.window ? 0 : kAverage;
  return facts.window ? static_cast<int>(*facts.window / milliseconds(1)) : 0;
}

TEST_P(KnownGpu, HasTheWindowsOfItsBoardAndDriver) {
  const GpuFacts facts = known_gpu(GetParam().board, GetParam().driver);
  EXPECT_EQ(window_ms(facts.instant), GetParam().instant_ms);
  EXPECT_EQ(window_ms(facts.usage), GetParam().usage_ms);
}

INSTANTIATE_TEST_SUITE_P(
    Boards, KnownGpu,
    testing::Values(
        Expected{"NVIDIA H100 PCIe", 535, 25, kAverage},
        Expected{"NVIDIA H100 80GB HBM3", 550, 25, kAverage},
        Expected{"NVIDIA H100 80GB HBM3", 525, 25, 0}, Expected{"NVIDIA H200", 580, 25, kAverage},
        Expected{"NVIDIA A100-SXM4-80GB", 470, 25, 25}, Expected{"A100-PCIE-40GB", 550, 25, 25},
        Expected{"NVIDIA GeForce RTX 4090", 550, 100, kAverage},
        Expected{"NVIDIA RTX 6000 Ada Generation", 550, 100, kAverage},
        Expected{"NVIDIA L40S", 550, 100, kAverage},
        Expected{"NVIDIA RTX A5000", 535, 100, kAverage},
        Expected{"NVIDIA GeForce RTX 3090", 525, 100, kAverage},
        Expected{"NVIDIA GeForce RTX 3090", 530, 100, 100},
        Expected{"NVIDIA GeForce RTX 3090", 535, 100, kAverage},
        Expected{"Quadro RTX 8000", 535, 20, 20}, Expected{"Quadro RTX 6000", 535, 100, 100},
        Expected{"NVIDIA TITAN RTX", 535, 100, 100}, Expected{"Tesla T4", 535, 100, 100},
        Expected{"Tesla V100-SXM2-16GB", 535, 10, 10},
        Expected{"Tesla P100-PCIE-16GB", 535, 10, 10},
        Expected{"NVIDIA GeForce GTX 1080 Ti", 535, 10, 10},
        Expected{"NVIDIA TITAN X (Pascal)", 535, 11, 11},
        Expected{"GeForce GTX TITAN X", 470, 0, 0}, Expected{"Tesla K40m", 470, 0, 0},
        Expected{"Tesla M40 24GB", 470, 14, 14}));

// Boards that nobody has measured, and names that only look like known ones.
INSTANTIATE_TEST_SUITE_P(
    Strangers, KnownGpu,
    testing::Values(Expected{"NVIDIA B200", 580, 0, 0}, Expected{"NVIDIA GH200 480GB", 550, 0, 0},
                    Expected{"NVIDIA A1000", 550, 0, 0}, Expected{"NVIDIA T400 4GB", 550, 0, 0},
                    Expected{"NVIDIA A100X", 550, 0, 0}, Expected{"", 550, 0, 0},
                    Expected{"---", 550, 0, 0}, Expected{"GeForce RTX 4O90", 550, 0, 0},
                    Expected{"GeForce RTX", 550, 0, 0}));

TEST(KnownGpuFacts, HaveACounterOfItsOwnWhereThatWasMeasured) {
  EXPECT_EQ(known_gpu("NVIDIA H100 PCIe", 580).counter_feed, CounterFeed::own);
  EXPECT_EQ(known_gpu("NVIDIA H200", 580).counter_feed, CounterFeed::own);
  EXPECT_EQ(known_gpu("NVIDIA A100-SXM4-80GB", 580).counter_feed, CounterFeed::unknown);
}

TEST(KnownGpuFacts, SayHowMuchOfTheTimeASensorSees) {
  EXPECT_EQ(known_gpu("NVIDIA H100 PCIe", 550).instant.coverage(), 0.25);
  EXPECT_FALSE(known_gpu("NVIDIA H100 PCIe", 550).average.coverage().has_value())
      << "nobody has described its filter";
  EXPECT_EQ(known_gpu("Tesla V100-SXM2-16GB", 550).usage.coverage(), 0.5);
  EXPECT_FALSE(known_gpu("Tesla K80", 470).usage.coverage().has_value());
  EXPECT_EQ(known_gpu("Tesla K40m", 470).usage.coverage(), 1.0)
      << "it lags, and looks all the time";
  EXPECT_FALSE(GaugeFacts{}.coverage().has_value());
}

TEST(KnownGpuFacts, KnowHowOftenRecordedBoardsWereRenewed) {
  const auto update = [](const char* board) { return known_gpu(board, 470).usage.update.mean; };
  EXPECT_EQ(update("NVIDIA A100-PCIE-40GB"), microseconds(101'150));
  EXPECT_EQ(update("Tesla M40"), milliseconds(31));
  EXPECT_EQ(update("NVIDIA TITAN X (Pascal)"), milliseconds(20));
  EXPECT_EQ(update("GeForce GTX TITAN X"), milliseconds(100));
  EXPECT_EQ(update("Tesla K40m"), microseconds(15'400));
}

TEST(KnownGpuFacts, KnowByHowMuchAK40Lags) {
  EXPECT_EQ(known_gpu("Tesla K40m", 470).usage.time_constant, milliseconds(55));
  EXPECT_FALSE(known_gpu("GeForce GTX TITAN X", 470).usage.time_constant.has_value());
}

TEST(KnownGpuFacts, WithoutADriverVersionSayOnlyWhatHoldsForAll) {
  EXPECT_EQ(window_ms(known_gpu("NVIDIA A100-SXM4-80GB", std::nullopt).usage), 25);
  EXPECT_FALSE(known_gpu("NVIDIA GeForce RTX 3090", std::nullopt).usage.window.has_value());
}

TEST(KnownGpuFacts, ReportThatGraceHopperCountsItsWholeModule) {
  EXPECT_EQ(known_gpu("NVIDIA GH200 480GB", 550).energy_scope, Scope::module);
  EXPECT_EQ(known_gpu("NVIDIA H100 PCIe", 550).energy_scope, Scope::device);
}

TEST(DriverBranch, IsTheFirstNumberOfTheVersion) {
  EXPECT_EQ(parse_driver_branch("550.54.15"), 550U);
  EXPECT_EQ(parse_driver_branch("470.1"), 470U);
}

TEST(DriverBranch, IsAbsentWhereThereIsNoVersion) {
  for (const char* text : {"", ".", "550", "550.", ".54", "R550.54", "-1.5", "99999999999.1"}) {
    EXPECT_FALSE(parse_driver_branch(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace wattle
