#include "sampling/power_course.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "known_history.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using testing::IsEmpty;
using testing::SizeIs;

/// Read every 100 ms.
PowerCourse course_of(const std::vector<CourseSource>& sources, nanoseconds length,
                      std::size_t most_columns = 720) {
  return power_course(
      sources,
      {.begin = kBegin, .end = kBegin + length, .interval = 100ms, .most_columns = most_columns});
}

/// A counter of half joules that is read every 100 ms: 10 W, and 30 W from 1 s to 2 s.
class Counted : public KnownHistory {
 public:
  explicit Counted(nanoseconds lateness = 0ns) : KnownHistory(half_joules()) {
    std::uint64_t ticks = 100;
    for (int i = 0; i <= 40; ++i) {
      read(i * 100ms + (i == 0 ? 0ns : lateness), ticks % 1000);
      ticks += i >= 10 && i < 20 ? 6 : 2;
    }
  }
};

std::vector<std::optional<Watts>> means(const std::vector<PowerColumn>& columns) {
  std::vector<std::optional<Watts>> means;
  for (const PowerColumn& column : columns) means.push_back(column.mean);
  return means;
}

TEST(PowerCourse, HasAColumnForEachIntervalOfAShortTime) {
  const Counted counted;
  const PowerCourse course = course_of({{.domain = Domain::package(0), .counter = &*counted}}, 4s);
  EXPECT_EQ(course.column, Seconds(0.1));
  EXPECT_EQ(course.step, Seconds(0.1));
  ASSERT_THAT(course.domains, SizeIs(1));
  ASSERT_THAT(course.domains.front().columns, SizeIs(40));
  for (std::size_t i = 0; i < 40; ++i) {
    const PowerColumn& column = course.domains.front().columns[i];
    ASSERT_TRUE(column.mean) << i;
    EXPECT_NEAR(column.mean->si(), i >= 10 && i < 20 ? 30.0 : 10.0, 1e-6) << i;
    EXPECT_FALSE(column.lowest) << "the mean is all there is";
  }
}

TEST(PowerCourse, TakesReadingsThatCameALittleLateForTheEndsOfTheirIntervals) {
  const Counted late(3ms);
  const auto columns =
      course_of({{.domain = Domain::package(0), .counter = &*late}}, 4s).domains.front().columns;
  EXPECT_NEAR(columns[9].mean->si(), 10.0, 0.5) << "no part of the step after it";
  EXPECT_NEAR(columns[10].mean->si(), 30.0, 0.5);
}

TEST(PowerCourse, KeepsThePeaksOfALongTime) {
  const Counted counted;
  const PowerCourse course =
      course_of({{.domain = Domain::package(0), .counter = &*counted}}, 4s, 3);
  EXPECT_EQ(course.column, Seconds(1.4));
  ASSERT_THAT(course.domains.front().columns, SizeIs(3));
  const PowerColumn& first = course.domains.front().columns[0];
  EXPECT_NEAR(first.mean->si(), (10 * 10.0 + 4 * 30.0) / 14, 1e-6);
  EXPECT_NEAR(first.lowest->si(), 10.0, 1e-6);
  EXPECT_NEAR(first.highest->si(), 30.0, 1e-6);
  EXPECT_NEAR(course.domains.front().columns[2].highest->si(), 10.0, 1e-6);
}

TEST(PowerCourse, IsUnknownWhereNothingIsKnown) {
  KnownHistory gauge(whole_watts());
  gauge.read_through(0s, 900ms, 100);
  gauge.read_through(3s, 4s, 200);
  const History* const gauges[] = {&*gauge};
  const auto columns =
      course_of({{.domain = Domain::nvidia_gpu(0), .gauges = gauges}}, 4s).domains.front().columns;
  EXPECT_EQ(columns[5].mean, Watts(100.0));
  EXPECT_EQ(columns[20].mean, std::nullopt);
  EXPECT_EQ(columns[35].mean, Watts(200.0));
}

TEST(PowerCourse, ShowsWhatTheGaugeShowedWhereThereIsAlsoACounter) {
  // 400 W for 0.3 s. The counter is renewed once a second, so it cannot say when that was.
  KnownHistory gauge(whole_watts());
  gauge.read_through(0s, 900ms, 100);
  gauge.read_through(1s, 1200ms, 400);
  gauge.read_through(1300ms, 4s, 100);
  Channel slow = half_joules();
  slow.domain = Domain::nvidia_gpu(0);
  slow.counter.modulus = 0;
  slow.counter.max_power = Watts(1000.0);
  slow.update = {.mean = 1s, .spread = 0ns, .p99 = 1s};
  KnownHistory counter(slow);
  for (int i = 0; i <= 4; ++i) {
    counter.read(i * 1s, static_cast<std::uint64_t>(i < 2 ? 200 * i : 200 * i + 180));
  }
  const History* const gauges[] = {&*gauge};
  const auto columns =
      course_of({{.domain = Domain::nvidia_gpu(0), .counter = &*counter, .gauges = gauges}}, 4s)
          .domains.front()
          .columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(columns[i].mean, Watts(i >= 10 && i < 13 ? 400.0 : 100.0)) << i;
  }
}

TEST(PowerCourse, ShowsTheCounterWhereTheGaugeNeverShowedAnything) {
  const Counted counted;
  KnownHistory gauge(whole_watts());
  for (nanoseconds at = 0ns; at <= 4s; at += 100ms) gauge.fail(at);
  const History* const gauges[] = {&*gauge};
  const auto columns =
      course_of({{.domain = Domain::package(0), .counter = &*counted, .gauges = gauges}}, 4s)
          .domains.front()
          .columns;
  EXPECT_NEAR(columns[15].mean->si(), 30.0, 1e-6);
}

TEST(PowerCourse, ShowsTheCounterFromWhereTheGaugeShowsNothing) {
  const Counted counted;
  for (const std::size_t most_columns : {std::size_t{720}, std::size_t{4}}) {
    KnownHistory gauge(whole_watts());
    gauge.read_through(0s, 900ms, 12);
    for (nanoseconds at = 1s; at <= 4s; at += 100ms) gauge.fail(at);
    const History* const gauges[] = {&*gauge};
    const auto columns =
        course_of({{.domain = Domain::package(0), .counter = &*counted, .gauges = gauges}}, 4s,
                  most_columns)
            .domains.front()
            .columns;
    const auto mean_at = [&](double part) {
      return columns[static_cast<std::size_t>(part * static_cast<double>(columns.size()))].mean;
    };
    ASSERT_TRUE(mean_at(0.1) && mean_at(0.35) && mean_at(0.9));
    EXPECT_EQ(mean_at(0.1), Watts(12.0)) << "as the gauge showed";
    EXPECT_NEAR(mean_at(0.35)->si(), 30.0, 1e-6);
    EXPECT_NEAR(mean_at(0.9)->si(), 10.0, 1e-6);
  }
}

TEST(PowerCourse, HasNoExtremesWhereACounterIsStuck) {
  // Both are renewed every millisecond; a step is shorter than it takes to see that the slow one is
  // stuck, and longer than it takes for the fast one.
  for (const nanoseconds update : {1ms, 20ms}) {
    Channel channel = restless_half_joules();
    channel.update = {.mean = update, .spread = 0ns, .p99 = update};
    KnownHistory counter(channel);
    std::uint64_t ticks = 100;
    for (int i = 0; i <= 120; ++i) {
      counter.read(i * 100ms, ticks % 1000);
      ticks += i >= 30 && i < 90 ? 0 : 2;  // 10 W
    }
    const auto columns = course_of({{.domain = Domain::package(0), .counter = &*counter}}, 12s, 6)
                             .domains.front()
                             .columns;
    ASSERT_THAT(columns, SizeIs(6));
    EXPECT_EQ(columns[2].mean, std::nullopt);
    EXPECT_EQ(columns[2].lowest, std::nullopt);
    EXPECT_EQ(columns[2].highest, std::nullopt);
    EXPECT_NEAR(columns[0].lowest->si(), 10.0, 1e-6);
  }
}

TEST(PowerCourse, AddsUpTheDomainsThatDoNotOverlap) {
  const Counted counted;
  KnownHistory gauge(whole_watts());
  gauge.read_through(0s, 1900ms, 100);
  gauge.read_through(3s, 4s, 200);
  const History* const gauges[] = {&*gauge};
  const std::vector<CourseSource> sources = {{.domain = Domain::package(0), .counter = &*counted},
                                             {.domain = Domain::core(0), .counter = &*counted},
                                             {.domain = Domain::nvidia_gpu(0), .gauges = gauges}};
  const PowerCourse course = course_of(sources, 4s);
  ASSERT_THAT(course.total, SizeIs(40));
  EXPECT_NEAR(course.total[5].mean->si(), 110.0, 1e-6);
  EXPECT_NEAR(course.total[15].mean->si(), 130.0, 1e-6);
  EXPECT_EQ(course.total[25].mean, std::nullopt) << "a part of it is not known";

  const PowerCourse long_one = course_of(sources, 4s, 2);
  EXPECT_NEAR(long_one.total[0].highest->si(), 130.0, 1e-6) << "of one and the same step";
  EXPECT_NEAR(long_one.total[0].lowest->si(), 110.0, 1e-6);
}

TEST(PowerCourse, AddsUpWhatComesBackWithItsSign) {
  // Two counters of one kind that are late show the same change late.
  const Counted counted;
  const PowerCourse course = course_of({{.domain = Domain::package(0), .counter = &*counted},
                                        {.domain = Domain::package(1), .counter = &*counted}},
                                       4s, 4);
  const PowerColumn& one = course.domains.front().columns[1];
  ASSERT_GT(std::abs(one.common.si()), 0.0) << "the power changes there";
  UncertaintySum sum;
  for (int i = 0; i < 2; ++i) sum.add(Joules(one.uncertainty.si()), Joules(one.common.si()));
  EXPECT_NEAR(course.total[1].uncertainty.si(), sum.uncertainty().si(), 1e-9);
  EXPECT_NEAR(course.total[1].common.si(), 2.0 * one.common.si(), 1e-9);
}

TEST(PowerCourse, HasNoTotalOfOneDomain) {
  const Counted counted;
  EXPECT_THAT(course_of({{.domain = Domain::package(0), .counter = &*counted}}, 4s).total,
              IsEmpty());
}

TEST(PowerCourse, OfNoTimeIsEmpty) {
  const Counted counted;
  const PowerCourse course = course_of({{.domain = Domain::package(0), .counter = &*counted}}, 0s);
  EXPECT_EQ(course.length, Seconds(0.0));
  EXPECT_THAT(course.domains, IsEmpty());
}

TEST(PowerCourse, OfADayHasNoMoreColumnsThanAreAskedFor) {
  const Counted counted;
  const PowerCourse course =
      course_of({{.domain = Domain::package(0), .counter = &*counted}}, 24h, 700);
  EXPECT_LE(course.domains.front().columns.size(), 700U);
  EXPECT_GE(course.domains.front().columns.size(), 350U);
  EXPECT_EQ(means(course.domains.front().columns).back(), std::nullopt);
}

}  // namespace
}  // namespace wattle
