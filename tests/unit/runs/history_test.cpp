#include "runs/history/history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fakes/temp_folder.hpp"
#include "runs/history/history_file.hpp"
#include "sample_runs.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What opening the file says is wrong; empty where nothing is.
std::string refusal_of(const fs::path& file) {
  try {
    const RunHistory history(file);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

class RunHistoryTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path file() const { return folder_.path() / "state" / "history.db"; }
  [[nodiscard]] std::vector<std::string> ids(const HistoryFilter& filter) const {
    RunHistory history(file());
    std::vector<std::string> found;
    for (const RunSummary& run : history.list(filter)) found.push_back(run.id);
    return found;
  }

  fakes::TempFolder folder_;
};

TEST_F(RunHistoryTest, KeepsTheWholeRun) {
  PowerCourse series{.length = Seconds(0.2), .column = Seconds(0.1), .step = Seconds(0.1)};
  series.domains = {{"package_0", {{.mean = Watts(10.0)}, {}}}};
  SavedRun run = saved_run({}, {{"branch", "main"}, {"note", "a b"}});
  run.directory = "/home/a/project";
  run.git = GitState{.commit = std::string(40, 'a'),
                     .branch = "main",
                     .dirty = true,
                     .unknown = {},
                     .worktree = "/home/a/project"};
  run.series = series;
  const std::string id = RunHistory(file()).save(run);

  const SavedRun kept = RunHistory(file()).get(id);
  EXPECT_EQ(kept.id, id);
  EXPECT_EQ(kept.record, run.record);
  EXPECT_EQ(kept.tags, run.tags);
  EXPECT_EQ(kept.directory, run.directory);
  ASSERT_TRUE(kept.git);
  EXPECT_EQ(kept.git->commit, run.git->commit);
  EXPECT_EQ(kept.git->branch, "main");
  EXPECT_EQ(kept.git->dirty, true);
  EXPECT_EQ(kept.git->worktree, run.git->worktree);
  ASSERT_TRUE(kept.series);
  ASSERT_EQ(kept.series->count(), 2U);
  EXPECT_EQ(kept.series->domains[0].columns[0].mean, Watts(10.0));
  EXPECT_FALSE(kept.series->domains[0].columns[1].mean);
}

TEST_F(RunHistoryTest, ListsWhatAPersonWantsToSee) {
  RunHistory history(file());
  const std::string id =
      history.save(saved_run({.command = {"make", "a b"}, .code = 3}, {{"k", "v"}}));
  const auto list = history.list({});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].id, id);
  EXPECT_EQ(list[0].command, "make 'a b'");
  EXPECT_EQ(list[0].host, "n1");
  EXPECT_EQ(list[0].exit_code, 3);
  EXPECT_EQ(list[0].signal, std::nullopt);
  EXPECT_EQ(list[0].energy_j, 100.0);
  EXPECT_EQ(list[0].energy_uncertainty_j, 0.5);
  EXPECT_EQ(list[0].cpu_s, 1.5);
  EXPECT_EQ(list[0].peak_rss_bytes, 1'000'000U);
  EXPECT_EQ(list[0].tags, (Tags{{"k", "v"}}));
}

TEST_F(RunHistoryTest, ListsTheSameOfARunWithoutReadingItsRecord) {
  Report report;
  report.command = {"make", "a\xff\x1b"};
  report.host.name = "n\xff\x1b";
  report.exit = {.started = true, .code = 0};
  report.started_unix_s = 1'763'690'000.0 + 1.0 / 3.0;
  report.energy.total.unknown = Seconds(0.1);
  RunHistory history(file());
  for (int i = 1; i < 100; ++i) {
    const double odd = std::pow(1.37, i - 50) / 3.0;
    report.wall = Seconds(odd);
    report.energy.total.energy = Joules(odd);
    report.energy.total.uncertainty = Joules(odd / 7.0);
    report.usage.cpu_user = Seconds(odd / 3.0);
    report.usage.cpu_system = Seconds(odd / 11.0);
    SavedRun run{.record = to_json(report)};
    run.record.pop_back();
    run.summary = summary_of(report);
    history.save(run);
  }
  EXPECT_EQ(history.list({})[0].command, "make 'a\uFFFD\\x1b'");
  const RunHistory::Check found = history.check();
  EXPECT_EQ(found.runs, 99U);
  EXPECT_EQ(found.repaired, 0U);
  EXPECT_THAT(found.damaged, IsEmpty());
}

TEST_F(RunHistoryTest, LeavesWhatIsUnknownUnknown) {
  RunHistory history(file());
  const std::string id = history.save(saved_run({.energy_j = -1.0}));
  EXPECT_EQ(history.list({})[0].energy_j, std::nullopt);
  EXPECT_EQ(history.list({})[0].energy_is_lower_bound, std::nullopt);
  EXPECT_EQ(history.list({})[0].git_dirty, std::nullopt);
  EXPECT_FALSE(history.get(id).git);
  EXPECT_FALSE(history.get(id).series);
}

TEST_F(RunHistoryTest, FindsRunsByWhatIsAskedFor) {
  RunHistory history(file());
  const auto save = [&](RecordFacts facts, double after_s, const Tags& tags = {}) {
    facts.started_unix_s += after_s;
    return history.save(saved_run(facts, tags));
  };
  const std::string first = save({.command = {"make"}}, 0, {{"branch", "main"}, {"cpu", "big"}});
  const std::string second =
      save({.command = {"make", "test"}, .host = "n2"}, 10, {{"branch", "b"}});
  const std::string third = save({.command = {"100%_done"}}, 20);
  const double begin = RecordFacts{}.started_unix_s;

  EXPECT_THAT(ids({}), ElementsAre(third, second, first)) << "the newest first";
  EXPECT_THAT(ids({.command = "make"}), ElementsAre(second, first));
  EXPECT_THAT(ids({.command = "0%_d"}), ElementsAre(third)) << "not a pattern";
  EXPECT_THAT(ids({.host = "n2"}), ElementsAre(second));
  EXPECT_THAT(ids({.host = "n3"}), IsEmpty());
  EXPECT_THAT(ids({.tags = {{"branch", "main"}}}), ElementsAre(first));
  EXPECT_THAT(ids({.tags = {{"branch", ""}}}), ElementsAre(second, first));
  EXPECT_THAT(ids({.tags = {{"branch", "main"}, {"cpu", "small"}}}), IsEmpty());
  EXPECT_THAT(ids({.since_unix_s = begin + 10}), ElementsAre(third, second));
  EXPECT_THAT(ids({.until_unix_s = begin + 10}), ElementsAre(first));
  EXPECT_THAT(ids({.limit = 2}), ElementsAre(third, second));
  EXPECT_EQ(history.count({.command = "make", .limit = 1}), 2U);
}

TEST_F(RunHistoryTest, SavesARecordOnce) {
  RunHistory history(file());
  const std::string id = history.save(saved_run());
  EXPECT_EQ(history.save(saved_run()), id);
  EXPECT_EQ(history.save_all(std::vector{saved_run(), saved_run({.code = 1})}).added, 1U);
  EXPECT_EQ(history.count({}), 2U);
}

TEST_F(RunHistoryTest, RefusesWhatIsNoRecord) {
  RunHistory history(file());
  EXPECT_THROW(history.save({.id = {}, .record = "{}"}), FormatError);
  EXPECT_THROW(
      (void)history.save_all(std::vector<SavedRun>{saved_run(), {.id = {}, .record = "x"}}),
      FormatError);
  EXPECT_EQ(history.count({}), 0U) << "all or none";
}

TEST_F(RunHistoryTest, FindsARunByTheBeginningOfItsId) {
  RunHistory history(file());
  const std::string id = history.save(saved_run());
  EXPECT_EQ(history.get(id.substr(0, 5)).id, id);
  const auto message = [&](const std::string& asked) -> std::string {
    try {
      (void)history.get(asked);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message("run.json"), HasSubstr("'run.json' is no ID of a run"));
  EXPECT_THAT(message(id == "00000000" ? "00000001" : "00000000"), HasSubstr("no run has the ID"));
}

TEST_F(RunHistoryTest, RemovesRuns) {
  RunHistory history(file());
  const std::string first = history.save(saved_run({}, {{"k", "v"}}));
  const std::string second = history.save(saved_run({.code = 1}));
  EXPECT_THROW(history.remove({first, "00000000"}), InvalidArgument);
  EXPECT_EQ(history.count({}), 2U) << "all or none";
  history.remove({first});
  EXPECT_THAT(ids({}), ElementsAre(second));
  EXPECT_THAT(ids({.tags = {{"k", "v"}}}), IsEmpty());
}

TEST_F(RunHistoryTest, IsReadByItsOwnerAlone) {
  RunHistory history(file());
  history.save(saved_run());
  for (const char* extension : {"", "-wal", "-shm"}) {
    struct stat status {};
    ASSERT_EQ(::stat((file().string() + extension).c_str(), &status), 0) << extension;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << extension;
  }
}

TEST_F(RunHistoryTest, LeavesForeignFilesAsTheyAre) {
  fs::create_directories(file().parent_path());
  const std::string name = file().string();
  std::vector<std::string> foreign = {"some text\n", std::string("SQLite format 3\0", 16),
                                      std::string(4096, '\0')};
  {
    SqliteDatabase other(name);
    ASSERT_EQ(other.run("CREATE TABLE runs (a)"), 0);
  }
  foreign.push_back(bytes_of(file()));
  for (const std::string& content : foreign) {
    std::ofstream(file(), std::ios::binary) << content;
    EXPECT_THAT(refusal_of(file()), HasSubstr("is not a history of wattle"));
    EXPECT_EQ(bytes_of(file()), content);
    EXPECT_FALSE(fs::exists(name + "-wal"));
  }
}

TEST_F(RunHistoryTest, BringsAnOlderFileToTheNewestVersion) {
  {
    RunHistory history(file());
    history.save(saved_run());
    history.save(saved_run({.started_unix_s = 1'763'690'001.0, .unknown_s = 0.5}));
  }
  {
    SqliteDatabase older(file().string());
    ASSERT_EQ(older.run("ALTER TABLE records DROP COLUMN series_seal"), 0);
    ASSERT_EQ(older.run("ALTER TABLE records DROP COLUMN seal"), 0);
    ASSERT_EQ(older.run("ALTER TABLE runs DROP COLUMN flags"), 0);
    ASSERT_EQ(older.run("ALTER TABLE runs DROP COLUMN seal"), 0);
    ASSERT_EQ(older.run("ALTER TABLE runs DROP COLUMN lower_bound"), 0);
    ASSERT_EQ(older.run("DROP INDEX runs_by_start"), 0);
    ASSERT_EQ(older.run("CREATE INDEX runs_by_start ON runs (started)"), 0);
    ASSERT_EQ(older.run("PRAGMA user_version = 1"), 0);
  }
  const auto list = RunHistory(file()).list({});
  ASSERT_THAT(list, testing::SizeIs(2));
  const RunHistory::Check checked = RunHistory(file()).check();
  EXPECT_EQ(checked.repaired, 0U);
  EXPECT_THAT(checked.doubtful, testing::IsEmpty());
  EXPECT_EQ(list[0].energy_is_lower_bound, true) << "found in the record";
  EXPECT_EQ(list[1].energy_is_lower_bound, false);
  SqliteDatabase newest(file().string());
  std::string index;
  ASSERT_EQ(newest.query("SELECT sql FROM sqlite_master WHERE name = 'runs_by_start'", {},
                         [&](const SqlRow& row) { index = row.text(0); }),
            0);
  EXPECT_THAT(index, HasSubstr("(started, host)"));
}

TEST_F(RunHistoryTest, LeavesTheFileOfANewerWattleAsItIs) {
  { RunHistory(file()).save(saved_run()); }
  {
    SqliteDatabase newer(file().string());
    ASSERT_EQ(newer.run("PRAGMA user_version = 99"), 0);
  }
  const std::string before = bytes_of(file());
  EXPECT_THAT(refusal_of(file()),
              HasSubstr("is of version 99, and this wattle reads up to 5; use a newer wattle"));
  EXPECT_EQ(bytes_of(file()), before);
}

TEST_F(RunHistoryTest, SaysThatAFileIsDamaged) {
  { RunHistory(file()).save(saved_run()); }
  std::string content = bytes_of(file());
  std::fill(content.begin() + 100, content.end(), '\x7f');
  std::ofstream(file(), std::ios::binary) << content;
  std::string message = refusal_of(file());
  if (message.empty()) {
    try {
      RunHistory(file()).save(saved_run());
    } catch (const Error& error) {
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr("is damaged"));
  EXPECT_THAT(message, HasSubstr(".recover"));
  EXPECT_EQ(bytes_of(file()), content);
}

TEST(HistoryFile, IsOnTheFileSystemOfTheNearestFolder) {
  const fakes::TempFolder folder;
  EXPECT_EQ(nearest_folder(folder.path() / "history.db"), folder.path());
  EXPECT_EQ(nearest_folder(folder.path() / "a" / "b" / "history.db"), folder.path());
  EXPECT_EQ(nearest_folder("history.db"), std::filesystem::current_path());
  EXPECT_EQ(nearest_folder("/none/history.db"), "/");
}

TEST_F(RunHistoryTest, IsNotMadeToBeRead) {
  try {
    const RunHistory history(file(), RunHistory::IfMissing::refuse);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no history yet"));
  }
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(RunHistoryTest, IsBusyWhileSomebodyElseWrites) {
  RunHistory history(file(), RunHistory::IfMissing::make, 0ms);
  SqliteDatabase other(file().string());
  ASSERT_EQ(other.run("BEGIN IMMEDIATE"), 0);
  try {
    history.save(saved_run());
    FAIL();
  } catch (const WriteError& error) {
    EXPECT_EQ(error.error_number(), EBUSY);
    EXPECT_THAT(error.what(), HasSubstr("another process keeps it locked"));
  }
  EXPECT_EQ(history.count({}), 0U) << "reading goes on";
  ASSERT_EQ(other.run("COMMIT"), 0);
  history.save(saved_run());
}

TEST_F(RunHistoryTest, TakesLittleRoom) {
  RunHistory history(file());
  std::vector<SavedRun> runs;
  for (int i = 0; i < 1000; ++i) {
    runs.push_back(saved_run({.command = {"make", "target-" + std::to_string(i)},
                              .started_unix_s = 1'763'690'000.0 + 61.7 * i,
                              .energy_j = 100.0 + 0.37 * i},
                             {{"branch", "main"}}));
  }
  EXPECT_EQ(history.save_all(runs).added, 1000U);
  ASSERT_EQ(SqliteDatabase(file().string()).run("PRAGMA wal_checkpoint(TRUNCATE)"), 0);
  EXPECT_LT(fs::file_size(file()), 1000U * 1200U);
}

}  // namespace
}  // namespace wattle
