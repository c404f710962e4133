#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>

#include "sampling/power_course.hpp"

namespace wattle {
namespace {

/// Two domains and their total; every seventh column is unknown.
PowerCourse random_course(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> power(0.0, 500.0);
  PowerCourse course{.length = Seconds(0.1 * static_cast<double>(count) - 0.05),
                     .column = Seconds(0.1),
                     .step = Seconds(0.1)};
  course.domains = {{"package_0", {}}, {"nvidia_gpu_0", {}}};
  for (auto* columns : {&course.domains[0].columns, &course.domains[1].columns, &course.total}) {
    for (std::size_t i = 0; i < count; ++i) {
      PowerColumn column;
      if (i % 7 != 3) {
        column.mean = Watts(power(random));
        column.uncertainty = Watts(0.01 * power(random));
      }
      if (i % 7 > 4) {
        column.lowest = *column.mean - Watts(power(random));
        column.highest = *column.mean + Watts(power(random));
      }
      columns->push_back(column);
    }
  }
  return course;
}

void expect_near(const std::optional<Watts>& is, const std::optional<Watts>& was) {
  ASSERT_EQ(is.has_value(), was.has_value());
  if (!was) return;
  EXPECT_NEAR(is->si(), was->si(), 1e-3);
}

void expect_near(const std::vector<PowerColumn>& is, const std::vector<PowerColumn>& was) {
  ASSERT_EQ(is.size(), was.size());
  for (std::size_t i = 0; i < was.size(); ++i) {
    expect_near(is[i].mean, was[i].mean);
    expect_near(is[i].uncertainty, was[i].uncertainty);
    expect_near(is[i].lowest, was[i].lowest);
    expect_near(is[i].highest, was[i].highest);
  }
}

TEST(PowerCourseBytes, AreReadAgain) {
  const PowerCourse course = random_course(PowerCourse::kMostColumns);
  const auto again = PowerCourse::unpacked(course.packed());
  ASSERT_TRUE(again);
  EXPECT_DOUBLE_EQ(again->length.count(), course.length.count());
  EXPECT_DOUBLE_EQ(again->column.count(), 0.1);
  EXPECT_DOUBLE_EQ(again->step.count(), 0.1);
  ASSERT_EQ(again->domains.size(), 2U);
  EXPECT_EQ(again->domains[1].name, "nvidia_gpu_0");
  for (std::size_t d = 0; d < 2; ++d) {
    expect_near(again->domains[d].columns, course.domains[d].columns);
  }
  expect_near(again->total, course.total);
}

TEST(PowerCourseBytes, AreReadWithoutAHashAsOlderHistoriesHaveThem) {
  std::string bytes = random_course(3).packed();
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  bytes.front() = 2;
  EXPECT_TRUE(PowerCourse::unpacked(bytes));
}

TEST(PowerCourseBytes, AreReadFromNothingElse) {
  const std::string bytes = random_course(3).packed();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(PowerCourse::unpacked(bytes.substr(0, length))) << length;
  }
  EXPECT_FALSE(PowerCourse::unpacked(bytes + "x"));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(PowerCourse::unpacked(other)) << at;
  }
  EXPECT_FALSE(PowerCourse::unpacked("\x01" + bytes.substr(1))) << "another format";
}

TEST(PowerCourse, IsMadeCoarserWithoutLosingItsPeaks) {
  PowerCourse course{.length = Seconds(0.5), .column = Seconds(0.1), .step = Seconds(0.1)};
  const PowerColumn unknown;
  course.domains = {{"package_0",
                     {{.mean = Watts(10.0), .uncertainty = Watts(1.0)},
                      {.mean = Watts(30.0), .uncertainty = Watts(3.0)},
                      {.mean = Watts(20.0)},
                      unknown,
                      unknown}}};
  EXPECT_EQ(course.coarser(5).count(), 5U);
  const PowerCourse coarse = course.coarser(3);
  EXPECT_DOUBLE_EQ(coarse.column.count(), 0.2);
  EXPECT_EQ(coarse.step, Seconds(0.1));
  const std::vector<PowerColumn>& columns = coarse.domains.front().columns;
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].mean, Watts(20.0));
  EXPECT_EQ(columns[0].uncertainty, Watts(2.0));
  EXPECT_EQ(columns[0].lowest, Watts(10.0));
  EXPECT_EQ(columns[0].highest, Watts(30.0));
  EXPECT_EQ(columns[1].mean, Watts(20.0)) << "of its known time";
  EXPECT_FALSE(columns[2].mean);
}

TEST(PowerCourse, CountsAShortLastColumnByItsLength) {
  PowerCourse course{.length = Seconds(0.32), .column = Seconds(0.1), .step = Seconds(0.1)};
  course.domains = {{"package_0",
                     {{.mean = Watts(10.0)},
                      {.mean = Watts(10.0)},
                      {.mean = Watts(10.0)},
                      {.mean = Watts(70.0)}}}};
  const PowerCourse coarse = course.coarser(2);
  EXPECT_NEAR(coarse.domains.front().columns[1].mean->si(), 20.0, 1e-9) << "0.1 s and 0.02 s";
}

}  // namespace
}  // namespace wattle
