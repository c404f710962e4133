#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/files/file.hpp"
#include "fakes/temp_folder.hpp"
#include "run/running_output.hpp"
#include "units/marked_units.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr TimePoint kRunBegin{100s};

Mark started(std::string tag, std::string id, double weight = 1.0) {
  return {.kind = MarkKind::unit, .name = std::move(tag), .id = std::move(id), .number = weight};
}

Mark ended(std::string tag, std::string id, double work = 0.0) {
  return {.kind = MarkKind::unit_end, .name = std::move(tag), .id = std::move(id), .number = work};
}

/// A run of a machine whose package draws 10 W.
class RunUnitsTest : public testing::Test {
 protected:
  RunUnitsTest()
      : units_(
            {{.place = 0, .domain = Domain::package(0)}},
            [this](std::size_t, TimePoint begin, TimePoint end) {
              MeasuredEnergy energy;
              const TimePoint known = std::min(end, fails_from_);
              if (end <= silent_until_) {
                energy.unknown = end - begin;
                return energy;
              }
              energy.energy = Joules(10.0 * Seconds(known - begin).count());
              energy.unknown = end - known;
              return energy;
            },
            [](std::size_t) { return std::optional<TimePoint>(); }, kRunBegin,
            [this](const UnitEnergy& unit, const std::string& id) {
              done_.push_back(unit.tag + " " + id);
              rows_.push_back(unit_row(unit, id));
            }) {}

  /// Reads each 20 ms until then.
  void read_until(TimePoint end) {
    for (; at_ < end; at_ += 20ms) units_.read(at_);
  }

  std::vector<std::string> done_;  ///< tag and ID
  std::vector<std::string> rows_;
  detail::MarkedUnits units_;
  TimePoint fails_from_ = TimePoint::max();
  TimePoint silent_until_ = TimePoint::min();  ///< nothing is known of windows that end before
  TimePoint at_ = kRunBegin;
};

TEST_F(RunUnitsTest, CountEachUnitWhoseTagDoesNotFitInOnce) {
  for (int i = 0; i < 260; ++i) {
    ASSERT_TRUE(units_.take(started("tag " + std::to_string(i), "1"), kRunBegin));
  }
  EXPECT_EQ(units_.report().beyond_tags, 4U);
}

TEST_F(RunUnitsTest, ShareWhatWasSpentWhileTheyRan) {
  read_until(kRunBegin + 1s);
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin + 1s));
  EXPECT_TRUE(units_.take(started("a", "2", 3.0), kRunBegin + 1s));
  read_until(kRunBegin + 3s);
  EXPECT_TRUE(units_.take(ended("a", "1", 7.0), kRunBegin + 3s));
  EXPECT_TRUE(units_.take(ended("a", "2"), kRunBegin + 3s));
  read_until(kRunBegin + 5s);
  const UnitsReport report = units_.end(kRunBegin + 5s);
  ASSERT_EQ(report.tags.size(), 1U);
  EXPECT_EQ(report.tags.front().count, 2U);
  EXPECT_NEAR(report.tags.front().sum.si(), 20.0, 1e-6);
  EXPECT_EQ(report.tags.front().work, 7.0);
  const UnitBalance& balance = report.domains.front().balance;
  EXPECT_NEAR(balance.measured.si(), 50.0, 1e-9);
  EXPECT_NEAR(balance.without_units.si(), 30.0, 1e-6);
  EXPECT_EQ(report.waiting, 0U);
}

TEST_F(RunUnitsTest, AreGroupedByLoadAndByWork) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  EXPECT_TRUE(units_.take(started("a", "2"), kRunBegin + 1s));
  EXPECT_TRUE(units_.take(ended("a", "1", 5.0), kRunBegin + 2s));
  EXPECT_TRUE(units_.take(ended("a", "2", 7.0), kRunBegin + 3s));
  EXPECT_TRUE(units_.take(started("a", "3"), kRunBegin + 4s));
  EXPECT_TRUE(units_.take(ended("a", "3"), kRunBegin + 5s));
  read_until(kRunBegin + 6s);
  const UnitTag tag = units_.end(kRunBegin + 6s).tags.front();
  ASSERT_EQ(tag.by_running.size(), 2U);
  EXPECT_EQ(tag.by_running[0].number, 1.0);
  EXPECT_EQ(tag.by_running[0].count, 2U) << "1 and 3 were alone when they started";
  EXPECT_NEAR(tag.by_running[0].mean.si(), 12.5, 1e-6);
  EXPECT_EQ(tag.by_running[1].number, 2.0);
  EXPECT_NEAR(tag.by_running[1].mean.si(), 15.0, 1e-6);
  ASSERT_EQ(tag.by_work.size(), 1U) << "5 and 7 are within 4 to 8; 3 had no work";
  EXPECT_EQ(tag.by_work[0].number, 6.0);
  EXPECT_EQ(tag.by_work[0].count, 2U);
}

TEST_F(RunUnitsTest, ThatRunAtTheEndHaveNone) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  read_until(kRunBegin + 2s);
  const UnitsReport report = units_.end(kRunBegin + 2s);
  EXPECT_EQ(report.running, 1U);
  EXPECT_NEAR(report.domains.front().balance.running.si(), 20.0, 1e-6);
}

TEST_F(RunUnitsTest, AreKnownByTagAndId) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  EXPECT_TRUE(units_.take(started("b", "1"), kRunBegin));
  EXPECT_FALSE(units_.take(started("a", "1"), kRunBegin + 1ms)) << "it runs";
  EXPECT_FALSE(units_.take(ended("a", "2"), kRunBegin + 1ms)) << "it never started";
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2ms));
  EXPECT_FALSE(units_.take(ended("a", "1"), kRunBegin + 3ms)) << "it has ended";
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin + 4ms));
}

TEST_F(RunUnitsTest, HaveAWeight) {
  for (const double weight : {0.0, -1.0, 1e7}) {
    EXPECT_FALSE(units_.take(started("a", "1", weight), kRunBegin)) << weight;
  }
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
}

TEST_F(RunUnitsTest, OfMarksThatAreReadLateStartWhereNothingIsDividedYet) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  read_until(kRunBegin + 10s);
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 1s));
  read_until(kRunBegin + 12s);
  const UnitsReport report = units_.end(kRunBegin + 12s);
  const UnitBalance& balance = report.domains.front().balance;
  EXPECT_NEAR(balance.measured.si(), 120.0, 1e-9);
  EXPECT_NEAR(balance.units.si() + balance.without_units.si(), 120.0, 1e-9);
  EXPECT_NEAR(report.tags.front().mean_time.count(), 9.0, 0.1);
}

TEST_F(RunUnitsTest, AreUnknownWhereNothingWasRead) {
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  fails_from_ = kRunBegin + 1s;
  read_until(kRunBegin + 2s);
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2s));
  read_until(kRunBegin + 3s);
  const UnitsReport report = units_.end(kRunBegin + 3s);
  EXPECT_EQ(report.tags.front().count, 0U);
  EXPECT_EQ(report.tags.front().unknown, 1U);
}

TEST_F(RunUnitsTest, AreGivenOutOnceWithTheirId) {
  for (const char* const id : {"1", "2", "3"})
    EXPECT_TRUE(units_.take(started("a", id), kRunBegin));
  EXPECT_TRUE(units_.take(ended("a", "2"), kRunBegin + 1s));
  EXPECT_TRUE(units_.take(started("a", "2"), kRunBegin + 1s));
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2s));
  read_until(kRunBegin + 5s);
  EXPECT_THAT(done_, ElementsAre("a 2", "a 1"));
  EXPECT_TRUE(units_.take(ended("a", "2"), kRunBegin + 5s));
  (void)units_.end(kRunBegin + 6s);
  EXPECT_THAT(done_, ElementsAre("a 2", "a 1", "a 2")) << "3 has not ended";
}

TEST_F(RunUnitsTest, AreRowsOfATable) {
  EXPECT_TRUE(units_.take(started("a,\x1b", "7", 2.0), kRunBegin + 1s));
  EXPECT_TRUE(units_.take(ended("a,\x1b", "7", 120.0), kRunBegin + 3s));
  read_until(kRunBegin + 4s);
  (void)units_.end(kRunBegin + 4s);
  ASSERT_EQ(rows_.size(), 1U);
  EXPECT_EQ(rows_[0].substr(0, 11), R"("a,\x1b",7,)");
  EXPECT_NE(rows_[0].find(",2.000000,2,120,20,"), std::string::npos) << rows_[0];
}

TEST_F(RunUnitsTest, AreRowsWithoutEnergyWhereItIsUnknown) {
  fails_from_ = kRunBegin;
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin));
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 1s));
  (void)units_.end(kRunBegin + 2s);
  ASSERT_EQ(rows_.size(), 1U);
  EXPECT_NE(rows_[0].find("1.000000,1,0,,,1.000000,"), std::string::npos) << rows_[0];
}

TEST_F(RunUnitsTest, AreKnownWhereACounterMovesLate) {
  silent_until_ = kRunBegin + 100ms;
  EXPECT_TRUE(units_.take(started("a", "1"), kRunBegin + 50ms));
  read_until(kRunBegin + 2s);
  EXPECT_TRUE(units_.take(ended("a", "1"), kRunBegin + 2s));
  read_until(kRunBegin + 3s);
  const UnitsReport report = units_.end(kRunBegin + 3s);
  EXPECT_EQ(report.tags.front().unknown, 0U);
  // What was spent between two readings belongs to who ran then.
  EXPECT_NEAR(report.tags.front().sum.si(), 20.0, 1e-6);
}

TEST_F(RunUnitsTest, AreLimitedInNumber) {
  for (std::size_t i = 0; i < detail::MarkedUnits::kMostRunning; ++i) {
    ASSERT_TRUE(units_.take(started("a", std::to_string(i)), kRunBegin));
  }
  EXPECT_TRUE(units_.take(started("a", "one more"), kRunBegin));
  EXPECT_EQ(units_.end(kRunBegin + 1s).refused, 1U);
}

TEST(UnitRowsFile, HasTheHeaderOnceAlsoWhereItGoesOn) {
  const fakes::TempFolder folder;
  const std::string path = folder.path() / "units.csv";
  for (const bool append : {false, true}) {
    UnitRows rows(path, append);
    rows.add({.tag = "a"}, "1");
    rows.write();
    EXPECT_EQ(rows.failure(), "");
  }
  const auto text = read_file(path);
  ASSERT_TRUE(text);
  EXPECT_EQ(std::ranges::count(*text, '\n'), 3);
  EXPECT_EQ(text->find("tag,id,start_unix_s,time_s,weight,work,energy_j,"), 0U);
  EXPECT_EQ(text->rfind("tag,id"), 0U);
}

TEST(UnitRowsFile, IsRefusedWhereItCannotBeWritten) {
  EXPECT_THROW(UnitRows("/dev/full", true), WriteError);
}

TEST(CsvFile, IsANewOneAndWhoReadsTheOldOneKeepsIt) {
  const fakes::TempFolder folder;
  const std::string path = (folder.path() / "rows.csv").string();
  { const CsvFile old(path, "old\n", false); }
  std::ifstream reader(path);
  { const CsvFile made(path, "new\n", false); }
  std::string line;
  ASSERT_TRUE(std::getline(reader, line));
  EXPECT_EQ(line, "old");
  EXPECT_EQ(read_file(path), "new\n");
}

}  // namespace
}  // namespace wattle::app
