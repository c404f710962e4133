// Histories that were damaged, or that somebody edited.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "runs/history/history.hpp"
#include "sample_runs.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class HistoryDamageTest : public testing::Test {
 protected:
  HistoryDamageTest() {
    RunHistory history(file());
    for (int i = 0; i < 3; ++i) {
      ids_.push_back(history.save(saved_run(
          {.command = {"make", std::to_string(i)}, .started_unix_s = 1e9 - i, .energy_j = 75.0},
          {{"branch", "main"}})));
    }
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "history.db"; }
  void edit(const std::string& sql) const {
    SqliteDatabase database(file().string());
    ASSERT_EQ(database.run(sql), 0) << sql << ": " << database.message();
  }
  /// Of the second run, a byte of its record in the middle.
  void damage_record() const {
    SqliteDatabase database(file().string());
    std::string record;
    ASSERT_EQ(database.query("SELECT record FROM records WHERE run = 2", {},
                             [&](const SqlRow& row) { record = row.text(0); }),
              0);
    record[record.size() / 2] = static_cast<char>(record[record.size() / 2] ^ 1);
    ASSERT_EQ(database.run("UPDATE records SET record = ? WHERE run = 2", {SqlBlob{record}}), 0);
  }

  fakes::TempFolder folder_;
  std::vector<std::string> ids_;
};

TEST_F(HistoryDamageTest, OfARowIsMendedFromTheRecord) {
  for (const char* change :
       {"energy = 35", "energy = NULL", "wall = 1e-3", "exit_code = 1", "uncertainty = 0",
        "lower_bound = 1", "flags = 4", "started = 999999999.5", "memory = 1"}) {
    edit(std::string("UPDATE runs SET ") + change + " WHERE number = 2");
    RunHistory history(file());
    const std::vector<RunSummary> list = history.list({});
    ASSERT_THAT(list, SizeIs(3)) << change;
    EXPECT_EQ(list[1].energy_j, 75.0) << change;
    EXPECT_EQ(list[1].wall_s, 2.0) << change;
    EXPECT_EQ(list[1].exit_code, 0) << change;
    EXPECT_EQ(list[1].energy_is_lower_bound, false) << change;
    EXPECT_TRUE(list[1].energy_flags.none()) << change;
    EXPECT_THAT(history.take_damage(), IsEmpty()) << "the record is whole";
    EXPECT_THAT(history.check(), AllOf(Field(&RunHistory::Check::repaired, 1U),
                                       Field(&RunHistory::Check::doubtful, IsEmpty())))
        << change;
    EXPECT_EQ(history.check().repaired, 0U) << change;
  }
}

TEST_F(HistoryDamageTest, OfWhatNoRecordHasIsNamed) {
  for (const char* change :
       {"UPDATE tags SET value = 'other' WHERE run = 2", "DELETE FROM tags WHERE run = 2",
        "UPDATE runs SET git_commit = 'abc' WHERE number = 2",
        "UPDATE runs SET git_dirty = 1 WHERE number = 2",
        "UPDATE runs SET seal = seal + 1 WHERE number = 2"}) {
    edit(change);
    RunHistory history(file());
    EXPECT_THAT(history.list({}), SizeIs(3)) << change;
    const auto named = ElementsAre(HasSubstr("run " + ids_[1] + ": its tags, its folder"));
    EXPECT_THAT(history.take_damage(), named) << change;
    EXPECT_THAT(history.check().doubtful, named) << change;
    EXPECT_THAT(history.check().doubtful, IsEmpty()) << change << ": said once";
  }
}

TEST_F(HistoryDamageTest, OfWhatOnlyARunShowsIsNamed) {
  const std::string id = [&] {
    SavedRun run = saved_run({.command = {"make", "all"}}, {{"branch", "main"}});
    run.directory = "/home/a/project";
    run.git = GitState{.commit = "abc", .branch = "main", .worktree = "/home/a/project"};
    return RunHistory(file()).save(run);
  }();
  const auto named = ElementsAre(HasSubstr("run " + id + ": its tags, its folder"));
  for (const char* change :
       {"UPDATE records SET directory = '/tmp'", "UPDATE records SET directory = NULL",
        "UPDATE records SET worktree = '/'", "UPDATE records SET git_branch = 'other'",
        "UPDATE records SET git_unknown = 'why'", "UPDATE records SET seal = NULL",
        "UPDATE tags SET value = 'other'", "UPDATE runs SET git_dirty = 0",
        "UPDATE runs SET git_commit = 'abd'", "UPDATE records SET worktree = NULL"}) {
    const bool is_row = std::string_view(change).starts_with("UPDATE runs");
    edit(std::string(change) + (is_row ? " WHERE number = 4" : " WHERE run = 4"));
    RunHistory history(file());
    EXPECT_EQ(history.get(id).id, id);
    EXPECT_THAT(history.take_damage(), named) << change;
    EXPECT_THAT(history.check().doubtful, named) << change;
    EXPECT_THAT(history.check().doubtful, IsEmpty()) << change << ": said once";
    EXPECT_EQ(history.get(id).id, id);
    EXPECT_THAT(history.take_damage(), IsEmpty()) << change;
  }
}

TEST_F(HistoryDamageTest, OfASeriesThatIsGoneOrAnothersIsNamed) {
  SavedRun run = saved_run({.command = {"make", "all"}});
  run.series = PowerCourse{.length = Seconds(0.3), .column = Seconds(0.1), .step = Seconds(0.1)};
  run.series->domains = {{"package_0", {{.mean = Watts(10)}, {.mean = Watts(20)}, {}}}};
  const std::string id = RunHistory(file()).save(run);
  SavedRun other = saved_run({.command = {"make", "other"}});
  other.series = run.series;
  other.series->domains = {{"package_0", {{.mean = Watts(30)}, {.mean = Watts(20)}, {}}}};
  (void)RunHistory(file()).save(other);
  for (const char* change :
       {"UPDATE records SET series = (SELECT series FROM records WHERE run = 5) WHERE run = 4",
        "UPDATE records SET series = NULL WHERE run = 4"}) {
    edit(change);
    RunHistory history(file());
    EXPECT_FALSE(history.get(id).series);
    const auto named = ElementsAre(HasSubstr("run " + id + ": its power over time is damaged"));
    EXPECT_THAT(history.take_damage(), named) << change;
    EXPECT_THAT(history.check().doubtful, named) << change;
  }
}

TEST_F(HistoryDamageTest, OfASeriesIsNamedAndLeavesTheRest) {
  SavedRun run = saved_run({.command = {"make", "all"}});
  run.series = PowerCourse{.length = Seconds(0.3), .column = Seconds(0.1), .step = Seconds(0.1)};
  run.series->domains = {{"package_0", {{.mean = Watts(10)}, {.mean = Watts(20)}, {}}}};
  const std::string id = RunHistory(file()).save(run);
  EXPECT_THAT(RunHistory(file()).check().doubtful, IsEmpty());
  {
    SqliteDatabase database(file().string());
    std::string series;
    ASSERT_EQ(database.query("SELECT series FROM records WHERE run = 4", {},
                             [&](const SqlRow& row) { series = row.text(0); }),
              0);
    series[series.size() / 2] = static_cast<char>(series[series.size() / 2] ^ 1);
    ASSERT_EQ(database.run("UPDATE records SET series = ? WHERE run = 4", {SqlBlob{series}}), 0);
  }
  RunHistory history(file());
  const SavedRun read = history.get(id);
  EXPECT_EQ(read.record, run.record);
  EXPECT_FALSE(read.series);
  const auto named = ElementsAre(HasSubstr("run " + id + ": its power over time is damaged"));
  EXPECT_THAT(history.take_damage(), named);
  EXPECT_THAT(history.check().doubtful, named);
}

TEST_F(HistoryDamageTest, OfARunWithoutARecordLeavesItOut) {
  edit("UPDATE records SET run = 7 WHERE run = 2");
  RunHistory history(file());
  std::vector<std::string> seen;
  history.each({}, [&](const SavedRun& run) { seen.push_back(run.id); });
  EXPECT_THAT(seen, ElementsAre(ids_[0], ids_[2]));
  EXPECT_THAT(history.take_damage(), ElementsAre(HasSubstr("it has no record")));
  EXPECT_THROW((void)history.get(ids_[1]), Error);
}

TEST_F(HistoryDamageTest, OfATextIsMendedFromTheRecord) {
  edit("UPDATE commands SET line = 'rm -rf /' WHERE line = 'make 1'");
  RunHistory history(file());
  EXPECT_EQ(history.list({})[1].command, "make 1");
  EXPECT_EQ(history.check().repaired, 1U);
  EXPECT_EQ(history.list({})[1].command, "make 1");
}

TEST_F(HistoryDamageTest, OfARecordHidesTheOthersNot) {
  damage_record();
  RunHistory history(file());
  std::vector<std::string> seen;
  history.each({}, [&](const SavedRun& run) { seen.push_back(run.id); });
  EXPECT_THAT(seen, ElementsAre(ids_[0], ids_[2]));
  EXPECT_THAT(history.take_damage(), ElementsAre(HasSubstr("run " + ids_[1] + " is damaged")));
  EXPECT_THAT(history.take_damage(), IsEmpty()) << "said once";
  try {
    (void)history.get(ids_[1]);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("run " + ids_[1] + " is damaged"));
  }
}

TEST_F(HistoryDamageTest, OfARecordIsReportedAndEndsWithAnImport) {
  damage_record();
  RunHistory history(file());
  const RunHistory::Check found = history.check();
  EXPECT_EQ(found.runs, 3U);
  EXPECT_THAT(found.damaged, ElementsAre(HasSubstr("run " + ids_[1] + " stays damaged")));
  EXPECT_EQ(history.save(
                saved_run({.command = {"make", "1"}, .started_unix_s = 1e9 - 1, .energy_j = 75.0})),
            ids_[1]);
  EXPECT_THAT(history.check().damaged, IsEmpty());
  EXPECT_EQ(history.count({}), 3U);
}

TEST_F(HistoryDamageTest, OfBothLeavesTheRunOut) {
  damage_record();
  edit("UPDATE runs SET energy = 35 WHERE number = 2");
  RunHistory history(file());
  EXPECT_THAT(history.list({}), SizeIs(2)) << "a wrong figure is worse than none";
  EXPECT_THAT(history.take_damage(), SizeIs(1));
}

TEST_F(HistoryDamageTest, OfAnotherVersionIsNamed) {
  edit("PRAGMA user_version = -1");
  try {
    const RunHistory history(file());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is damaged: it is of version -1"));
  }
}

TEST_F(HistoryDamageTest, OfTheTablesIsNoErrorOfADisk) {
  edit("ALTER TABLE runs RENAME TO others");
  RunHistory history(file());
  try {
    (void)history.list({});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is damaged or was edited (no such table: runs)"));
  }
}

TEST_F(HistoryDamageTest, TriggersDoNothing) {
  edit("CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM runs; END");
  RunHistory history(file());
  history.save(saved_run({.code = 9}));
  EXPECT_EQ(history.count({}), 4U);
}

TEST_F(HistoryDamageTest, ViewsDoNothing) {
  edit("ALTER TABLE tags RENAME TO old");
  edit(
      "CREATE VIEW tags AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      "SELECT i AS key, i AS value, i AS run FROM n");
  RunHistory history(file());
  EXPECT_THROW((void)history.list({}), Error);
}

}  // namespace
}  // namespace wattle
