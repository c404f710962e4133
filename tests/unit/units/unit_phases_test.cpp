// Phases of units, what is not known of them, and what units cost by regression.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "unit_book_fixture.hpp"

namespace wattle::detail {
namespace {

/// Numbers without a pattern.
std::size_t hash_of(std::size_t step, std::size_t gpu) {
  std::uint64_t bits = (step * 2 + gpu + 1) * 0x9E3779B97F4A7C15U;
  bits ^= bits >> 29U;
  return static_cast<std::size_t>((bits * 0xBF58476D1CE4E5B9U) >> 33U);
}

TEST_F(UnitBookTest, ReportsPhasesAfterTheirTag) {
  UnitBook& own = book();
  Unit a = begin("request");
  clock_.advance(1s);
  reads(9.0);
  enter(a, "decode");
  clock_.advance(2s);
  reads(4.0);
  end(a);
  settle();
  const UnitsReport report = own.report();
  ASSERT_EQ(report.tags.size(), 2U);
  EXPECT_NEAR(report.tags[0].sum.si(), 13.0, 1e-6);
  EXPECT_EQ(report.tags[1].tag, "request");
  EXPECT_EQ(report.tags[1].phase, "decode");
  EXPECT_EQ(report.tags[1].count, 1U);
  EXPECT_NEAR(report.tags[1].sum.si(), 4.0, 1e-6);
  EXPECT_NEAR(report.tags[1].mean_time.count(), 2.0, 1e-3);
}

TEST_F(UnitBookTest, KnowsNoEnergyOfAUnitWhosePhasesAreAllUnknown) {
  UnitBook& own = book({{.name = "package_0"}}, {.idle = IdleShare::kept, .lag = 0ns});
  Unit a = begin("request");
  enter(a, "prefill");
  clock_.advance(1s);
  reads(7.0);
  enter(a, "decode");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  settle();
  EXPECT_FALSE(own.result(a.started.id)->energy.energy) << "not 0";
  for (const UnitTag& row : own.report().tags) {
    EXPECT_EQ(row.count, 0U) << row.phase;
    EXPECT_FALSE(row.mean) << row.phase;
  }
  EXPECT_EQ(own.report().tags.at(1).unknown, 1U) << "the phase too";
}

TEST_F(UnitBookTest, IsNotShortBecauseItsLastPhaseIs) {
  UnitBook& own = book();
  Unit a = begin("request");
  clock_.advance(5s);
  reads(50.0);
  clock_.advance(10ms);
  enter(a, "last");
  clock_.advance(10ms);
  end(a);
  clock_.advance(80ms);
  reads(1.0);
  EXPECT_FALSE(own.result(a.started.id)->energy.flags.has(Flag::short_window));
}

TEST_F(UnitBookTest, LearnsNoIdlePowerFromTheTailOfUnits) {
  UnitBook& own = book({{.name = "package_0"}}, {.idle = IdleShare::kept, .lag = 0ns});
  const Unit a = begin("a");
  clock_.advance(1s);
  reads(7.0);
  end(a);
  for (int i = 0; i < 13; ++i) {
    clock_.advance(100ms);
    reads(i < 3 ? 3.0 : 0.4);  // a late sensor shows the unit
  }
  ASSERT_TRUE(own.shares(0).idle());
  EXPECT_NEAR(own.shares(0).idle()->power.si(), 4.0, 1e-6);
}

TEST_F(UnitBookTest, FindsTheCostOfUnitsThatEachHaveAGpu) {
  UnitBook& own = book({{.name = "nvidia_gpu_0", .gpu = 1}, {.name = "nvidia_gpu_1", .gpu = 2}});
  constexpr std::array<double, 2> kWatts = {10.0, 20.0};
  std::array<std::vector<Unit>, 2> running;
  for (std::size_t step = 0; step < 900; ++step) {
    for (const std::size_t gpu : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t wanted = hash_of(step / 3, gpu) % 5;
      while (running.at(gpu).size() > wanted) {
        end(running.at(gpu).back());
        running.at(gpu).pop_back();
      }
      while (running.at(gpu).size() < wanted) {
        running.at(gpu).push_back(
            begin(gpu == 0 ? "a" : "b", 1.0, static_cast<std::uint8_t>(gpu + 1)));
      }
    }
    clock_.advance(100ms);
    for (const std::size_t gpu : {std::size_t{0}, std::size_t{1}}) {
      const auto units = static_cast<double>(running.at(gpu).size());
      reads(0.1 * (50.0 + kWatts.at(gpu) * units), gpu);
    }
  }
  for (const std::vector<Unit>& rest : running) {
    for (const Unit& unit : rest) end(unit);
  }
  settle();
  const UnitsReport report = own.report();
  ASSERT_EQ(report.tags.size(), 2U);
  for (const UnitTag& tag : report.tags) {
    EXPECT_EQ(tag.doubt, "");
    ASSERT_TRUE(tag.fitted);
    EXPECT_NEAR(tag.fitted->value.si(), kWatts.at(tag.tag == "a" ? 0 : 1) * tag.mean_time.count(),
                0.05 * tag.fitted->value.si());
  }
  ASSERT_EQ(report.contrasts.size(), 1U);
  const UnitContrast& contrast = report.contrasts.front();
  EXPECT_NEAR(*contrast.ratio, contrast.first == "a" ? 0.5 : 2.0, 0.02);
}

}  // namespace
}  // namespace wattle::detail
