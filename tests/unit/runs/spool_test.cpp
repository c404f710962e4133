#include "runs/history/spool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fakes/file_size_limit.hpp"
#include "fakes/temp_folder.hpp"
#include "sample_runs.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

SaveOutcome save(const fs::path& history, const SavedRun& run,
                 std::chrono::milliseconds patience = std::chrono::seconds(2)) {
  return save_or_spool(history, {&run, 1}, patience);
}

class SpoolTest : public testing::Test {
 protected:
  SpoolTest() { ::setenv("XDG_STATE_HOME", (folder_.path() / "state").c_str(), 1); }
  ~SpoolTest() override { ::unsetenv("XDG_STATE_HOME"); }

  [[nodiscard]] fs::path file() const { return folder_.path() / "history.db"; }
  [[nodiscard]] fs::path spool() const { return file().string() + ".spool"; }

  fakes::TempFolder folder_;
};

TEST_F(SpoolTest, KeepsARunUntilItIsSaved) {
  const fs::path waiting = spool_run(file(), saved_run({}, {{"k", "v"}}));
  EXPECT_EQ(waiting.parent_path(), spool());
  EXPECT_EQ(fs::status(waiting).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  RunHistory history(file());
  EXPECT_EQ(import_spool(history).runs, 1U);
  ASSERT_THAT(history.list({}), SizeIs(1));
  EXPECT_EQ(history.list({})[0].tags, (Tags{{"k", "v"}}));
  EXPECT_FALSE(fs::exists(spool()));
}

TEST_F(SpoolTest, SavesARunOnceThatWasTakenInBefore) {
  RunHistory history(file());
  history.save(saved_run());
  (void)spool_run(file(), saved_run());
  EXPECT_EQ(import_spool(history).runs, 1U);
  EXPECT_EQ(history.count({}), 1U);
}

TEST_F(SpoolTest, LeavesDamagedFiles) {
  (void)spool_run(file(), saved_run());
  std::ofstream(spool() / "half.jsonl") << "{\"schema\":";
  std::ofstream(spool() / ".wattle-x.tmp") << "being written";
  RunHistory history(file());
  const SpoolImport taken = import_spool(history);
  EXPECT_EQ(taken.runs, 1U);
  ASSERT_THAT(taken.problems, SizeIs(1));
  EXPECT_THAT(taken.problems[0], HasSubstr("half.jsonl"));
  EXPECT_TRUE(fs::exists(spool() / "half.jsonl"));
}

TEST_F(SpoolTest, SaysOfEachFileWhatIsWrong) {
  (void)spool_run(file(), saved_run());
  for (const char* name : {"a.jsonl", "b.jsonl"}) std::ofstream(spool() / name) << "{";
  EXPECT_THAT(save(file(), saved_run({.code = 1})).problem,
              testing::MatchesRegex("cannot read .*a.jsonl: [^;]*; cannot read .*b.jsonl: .*"));
}

TEST_F(SpoolTest, IsInTheStateFolderWhereTheOtherCannotBeWritten) {
  std::ofstream(folder_.path() / "no folder") << "";
  const fs::path history = folder_.path() / "no folder" / "history.db";
  const fs::path waiting = spool_run(history, saved_run());
  EXPECT_THAT(waiting.string(), HasSubstr("state/wattle/spool/"));
}

TEST_F(SpoolTest, IsUsedWhileTheHistoryIsBusy) {
  { const RunHistory made(file()); }
  SqliteDatabase other(file().string());
  ASSERT_EQ(other.run("BEGIN IMMEDIATE"), 0);
  const SaveOutcome outcome = save(file(), saved_run(), std::chrono::milliseconds(10));
  ASSERT_THAT(outcome.ids, ElementsAre(SizeIs(8)));
  EXPECT_THAT(outcome.problem, HasSubstr("the run waits in"));
  ASSERT_EQ(other.run("COMMIT"), 0);
  const SaveOutcome next = save(file(), saved_run({.code = 1}));
  EXPECT_THAT(next.problem, IsEmpty());
  EXPECT_EQ(RunHistory(file()).count({}), 2U) << "and what waited";
  EXPECT_EQ(RunHistory(file()).get(outcome.ids[0]).record, run_record());
}

TEST_F(SpoolTest, KeepsARunWhereTheHistoryIsAForeignFile) {
  std::ofstream(file()) << "somebody's text\n";
  const SaveOutcome outcome = save(file(), saved_run());
  EXPECT_THAT(outcome.problem, HasSubstr("is not a history of wattle"));
  EXPECT_THAT(outcome.problem, HasSubstr("the run waits in"));
  EXPECT_EQ(fs::file_size(file()), 16U);
}

TEST_F(SpoolTest, KeepsManyRunsTogether) {
  { const RunHistory made(file()); }
  const std::vector<SavedRun> runs = {saved_run(), saved_run({.code = 1}), saved_run()};
  SqliteDatabase other(file().string());
  ASSERT_EQ(other.run("BEGIN IMMEDIATE"), 0);
  const SaveOutcome waiting = save_or_spool(file(), runs, std::chrono::milliseconds(10));
  EXPECT_THAT(waiting.ids, SizeIs(3));
  EXPECT_THAT(waiting.problem, HasSubstr("the runs wait in " + spool().string()));
  ASSERT_EQ(other.run("COMMIT"), 0);
  const SaveOutcome saved = save_or_spool(file(), runs);
  EXPECT_EQ(saved.ids, waiting.ids);
  EXPECT_THAT(saved.problem, IsEmpty());
  EXPECT_EQ(RunHistory(file()).count({}), 2U) << "two are the same";
  EXPECT_FALSE(fs::exists(spool()));
}

TEST_F(SpoolTest, IsUsedOnAFullDisk) {
  (void)std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_THAT(save(file(), saved_run()).problem, IsEmpty());
  {
    const fakes::FileSizeLimit limit(fs::file_size(file()) / 2);
    const SaveOutcome waiting = save(file(), saved_run({.code = 1}));
    EXPECT_THAT(waiting.ids, SizeIs(1));
    EXPECT_THAT(waiting.problem, HasSubstr("the run waits in"));
    const fakes::FileSizeLimit nothing(0);
    const SaveOutcome lost = save(file(), saved_run({.code = 2}));
    EXPECT_THAT(lost.ids, IsEmpty());
    EXPECT_THAT(lost.problem, HasSubstr("the run is not saved"));
  }
  EXPECT_EQ(RunHistory(file()).count({}), 1U) << "what was saved is still there";
}

TEST_F(SpoolTest, KeepsARunWhateverIsWrongWithTheHistory) {
  int number = 0;
  for (const char* change :
       {"PRAGMA user_version = -1", "PRAGMA user_version = 99", "DROP TABLE runs",
        "DROP TABLE dictionaries", "ALTER TABLE runs RENAME COLUMN energy TO joules"}) {
    const fs::path history = folder_.path() / std::to_string(++number) / "history.db";
    RunHistory(history).save(saved_run());
    {
      SqliteDatabase edited(history.string());
      ASSERT_EQ(edited.run(change), 0) << edited.message();
    }
    const SaveOutcome outcome = save(history, saved_run({.code = 1}));
    EXPECT_THAT(outcome.ids, SizeIs(1)) << change;
    EXPECT_THAT(outcome.problem, HasSubstr("the run waits in")) << change;
    EXPECT_THAT(outcome.problem, testing::Not(HasSubstr("Input/output error"))) << change;
  }
}

TEST_F(SpoolTest, OfADeviceIsInTheStateFolder) {
  const SaveOutcome outcome = save("/dev/null", saved_run());
  EXPECT_THAT(outcome.problem,
              HasSubstr("the run waits in " + (folder_.path() / "state").string()));
  EXPECT_FALSE(fs::exists("/dev/null.spool"));
}

/// Transactions in the log of a database
/// (https://www.sqlite.org/fileformat.html#the_write_ahead_log).
std::size_t commits_in(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto number_at = [&](std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      number = number << 8U | static_cast<unsigned char>(bytes.at(i));
    }
    return number;
  };
  constexpr std::size_t kHeader = 32;
  constexpr std::size_t kFrameHeader = 24;
  std::size_t commits = 0;
  if (bytes.size() < kHeader) return 0;
  const std::size_t frame = kFrameHeader + number_at(8);
  for (std::size_t at = kHeader; at + frame <= bytes.size(); at += frame) {
    if (number_at(at + 4) != 0) ++commits;  // pages of the file after a commit
  }
  return commits;
}

TEST_F(SpoolTest, IsTakenInInOneTransaction) {
  constexpr int kRuns = 50;
  for (int i = 0; i < kRuns; ++i) (void)spool_run(file(), saved_run({.started_unix_s = 1e9 + i}));
  RunHistory history(file());
  history.save(saved_run({.code = 7}));  // there is a log after the first change
  const fs::path log = file().string() + "-wal";
  if (!fs::exists(log)) GTEST_SKIP() << "no log on this file system";
  const std::size_t before = commits_in(log);
  EXPECT_EQ(import_spool(history).runs, std::size_t{kRuns});
  EXPECT_EQ(history.count({}), std::size_t{kRuns} + 1);
  EXPECT_LE(commits_in(log), before + 1);
}

TEST_F(SpoolTest, SaysHowManyRunsWaited) {
  (void)spool_run(file(), saved_run({.code = 1}));
  (void)spool_run(file(), saved_run({.code = 2}));
  EXPECT_EQ(save(file(), saved_run()).taken_in, 2U);
}

TEST_F(SpoolTest, OfOthersIsLeftAlone) {
  (void)spool_run(file(), saved_run({.code = 1}));
  fs::permissions(spool(), fs::perms::others_write, fs::perm_options::add);
  RunHistory history(file());
  const SpoolImport taken = import_spool(history);
  EXPECT_EQ(taken.runs, 0U);
  EXPECT_THAT(taken.problems, ElementsAre(HasSubstr("other users may write to")));
  const fs::path elsewhere = spool_run(file(), saved_run({.code = 2}));
  EXPECT_THAT(elsewhere.string(), HasSubstr("/state/wattle/spool/"));
}

TEST_F(SpoolTest, IsUsedWhereOthersOwnTheHistoryOrMayWriteToIt) {
  RunHistory(file()).save(saved_run());
  fs::permissions(file(), fs::perms::others_write | fs::perms::others_read, fs::perm_options::add);
  const SaveOutcome outcome = save(file(), saved_run({.code = 1}));
  EXPECT_THAT(outcome.problem, HasSubstr("other users may write to"));
  EXPECT_THAT(outcome.problem, HasSubstr("the run waits in"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root is two users";
  constexpr uid_t kOther = 12345;
  fs::permissions(file(), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(::chown(file().c_str(), kOther, kOther), 0);
  EXPECT_THAT(save(file(), saved_run({.code = 2})).problem, HasSubstr("belongs to another user"));
  EXPECT_EQ(RunHistory(file(), RunHistory::IfMissing::refuse).count({}), 1U) << "it is read";
  EXPECT_FALSE(fs::exists(file().string() + "-wal"));
}

TEST_F(SpoolTest, IsUsedWhereOthersMayPutFilesBesideTheHistory) {
  RunHistory(file()).save(saved_run());
  fs::permissions(folder_.path(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(save(file(), saved_run({.code = 1})).problem, HasSubstr("other users may write to"));
  fs::permissions(folder_.path(), fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_EQ(save(file(), saved_run({.code = 2})).problem, "") << "only the owner renames files";
  for (const char* end : {"-wal", "-journal"}) {
    const std::string beside = file().string() + end;
    std::ofstream(beside) << "";
    fs::permissions(beside, fs::perms::others_read | fs::perms::others_write,
                    fs::perm_options::add);
    EXPECT_THAT(save(file(), saved_run({.code = 3})).problem,
                HasSubstr("other users may write to " + beside));
    fs::remove(beside);
  }
}

TEST_F(SpoolTest, SaysThatARunIsLost) {
  std::ofstream(folder_.path() / "no folder") << "";
  ::setenv("XDG_STATE_HOME", (folder_.path() / "no folder").c_str(), 1);
  const SaveOutcome outcome = save(folder_.path() / "no folder" / "history.db", saved_run());
  EXPECT_THAT(outcome.ids, IsEmpty());
  EXPECT_THAT(outcome.problem, HasSubstr("the run is not saved"));
}

}  // namespace
}  // namespace wattle
