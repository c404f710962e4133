// The fake NVML's own arithmetic: what other tests take for the truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "fakes/nvml/control.hpp"
#include "fakes/nvml/power_curve.hpp"
#include "fakes/nvml/script.hpp"

namespace fakenvml {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using Shape = PowerCurve::Shape;

TEST(PowerCurve, OfStepsHoldsEachPowerUntilTheNext) {
  const PowerCurve curve(Shape::step, {{0.0, 70.0}, {2.0, 300.0}, {5.0, 100.0}});
  EXPECT_DOUBLE_EQ(curve.energy_j(2.0), 140.0);
  EXPECT_DOUBLE_EQ(curve.energy_j(3.0), 440.0);
  EXPECT_DOUBLE_EQ(curve.energy_j(7.0), 140.0 + 900.0 + 200.0);
}

TEST(PowerCurve, OfLinesIsAddedUpExactly) {
  const PowerCurve curve(Shape::linear, {{1.0, 100.0}, {3.0, 300.0}});
  EXPECT_DOUBLE_EQ(curve.energy_j(1.0), 100.0) << "constant before the first point";
  EXPECT_DOUBLE_EQ(curve.energy_j(2.0), 100.0 + 150.0);
  EXPECT_DOUBLE_EQ(curve.energy_j(5.0), 100.0 + 400.0 + 600.0) << "constant after the last";
}

TEST(PowerCurve, OfManyLinesEqualsTheSumOfTheirTrapezoids) {
  std::vector<PowerCurve::Point> points;
  double expected_j = 0.0;
  for (int i = 0; i <= 100; ++i) {
    points.push_back({i * 0.1, 200.0 + 100.0 * std::sin(i * 0.7)});
    if (i > 0) expected_j += 0.05 * (points[points.size() - 2].watts + points.back().watts);
  }
  EXPECT_NEAR(PowerCurve(Shape::linear, points).energy_j(10.0), expected_j, 1e-9);
}

TEST(PowerCurve, MeanReachesBackBeforeTimeZero) {
  const PowerCurve curve(Shape::step, {{0.0, 100.0}, {1.0, 200.0}});
  EXPECT_DOUBLE_EQ(curve.mean_w(0.0, 0.5), 100.0);
  EXPECT_DOUBLE_EQ(curve.mean_w(1.5, 1.0), 150.0);
}

TEST(PowerCurve, NeedsIncreasingTimes) {
  EXPECT_THROW(PowerCurve(Shape::step, {}), std::invalid_argument);
  EXPECT_THROW(PowerCurve(Shape::step, {{1.0, 5.0}, {1.0, 6.0}}), std::invalid_argument);
}

Script parsed(const std::string& text) {
  Script script;
  std::istringstream stream(text);
  parse_script(stream, script);
  return script;
}

TEST(Script, DescribesEachGpuAfterItsName) {
  const Script script = parsed(
      "driver 470.1\n"
      "# a comment\n"
      "gpu NVIDIA A100-SXM4-80GB   # with a name of words\n"
      "pci 0001:41:02\n"
      "counter none\n"
      "gpu Tesla V100\n"
      "counter 5000 step_ms 20\n");
  EXPECT_EQ(script.driver, "470.1");
  ASSERT_THAT(script.gpus, SizeIs(2));
  EXPECT_EQ(script.gpus.front().pci_bus, 0x41U);
  EXPECT_FALSE(script.gpus.front().counter.has_value());
  EXPECT_EQ(script.gpus.back().counter->step_ms, 20);
}

TEST(Script, HoldsEachUtilizationUntilTheNext) {
  const Script script = parsed("gpu A\nutilization step 0 20 5 2 80 30 4 none\ngpu B\n");
  const Gpu& gpu = script.gpus.front();
  using Shown = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(gpu.utilization_at(-1.0), Shown(20, 5));
  EXPECT_EQ(gpu.utilization_at(1.9), Shown(20, 5));
  EXPECT_EQ(gpu.utilization_at(2.0), Shown(80, 30));
  EXPECT_EQ(gpu.utilization_at(4.0), std::nullopt);
  EXPECT_EQ(script.gpus.back().utilization_at(7.0), Shown(80, 30));
}

TEST(Script, NamesTheLineThatMeansNothing) {
  try {
    parsed("gpu A\npowr step 0 1\n");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2"));
  }
}

TEST(FakeNvml, CountsTheIntegralOfItsScriptInStepsOfTime) {
  wattle::fakes::FakeNvml fake("gpu A\npower linear 0 100 10 300\ncounter 7 step_ms 100\n");
  const auto library = wattle::DynamicLibrary::open(fake.library_path());
  ASSERT_EQ(library.find<int()>("nvmlInit_v2")(), 0);
  void* device = nullptr;
  ASSERT_EQ(library.find<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2")(0, &device), 0);
  auto* const energy =
      library.find<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  const auto millijoules_at = [&](double seconds) {
    fake.set_time(wattle::Seconds(seconds));
    unsigned long long mj = 0;
    EXPECT_EQ(energy(device, &mj), 0);
    return mj;
  };
  EXPECT_EQ(millijoules_at(0.0), 7U);
  EXPECT_EQ(millijoules_at(0.0999), 7U) << "not renewed yet";
  EXPECT_EQ(millijoules_at(0.1), 7U + 10'100U);
  EXPECT_EQ(millijoules_at(10.0), 7U + 2'000'000U);
  EXPECT_EQ(library.find<int()>("nvmlShutdown")(), 0);
}

}  // namespace
}  // namespace fakenvml
