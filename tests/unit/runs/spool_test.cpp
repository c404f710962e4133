#include "runs/spool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fakes/temp_folder.hpp"
#include "sample_runs.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

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
  EXPECT_EQ(take_in_spool(history).runs, 1U);
  ASSERT_THAT(history.list({}), SizeIs(1));
  EXPECT_EQ(history.list({})[0].tags, (Tags{{"k", "v"}}));
  EXPECT_FALSE(fs::exists(spool()));
}

TEST_F(SpoolTest, SavesARunOnceThatWasTakenInBefore) {
  RunHistory history(file());
  history.save(saved_run());
  (void)spool_run(file(), saved_run());
  EXPECT_EQ(take_in_spool(history).runs, 1U);
  EXPECT_EQ(history.count({}), 1U);
}

TEST_F(SpoolTest, LeavesDamagedFiles) {
  (void)spool_run(file(), saved_run());
  std::ofstream(spool() / "half.jsonl") << "{\"schema\":";
  std::ofstream(spool() / ".wattle-x.tmp") << "being written";
  RunHistory history(file());
  const TakenIn taken = take_in_spool(history);
  EXPECT_EQ(taken.runs, 1U);
  ASSERT_THAT(taken.problems, SizeIs(1));
  EXPECT_THAT(taken.problems[0], HasSubstr("half.jsonl"));
  EXPECT_TRUE(fs::exists(spool() / "half.jsonl"));
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
  const SaveOutcome outcome = save_or_spool(file(), saved_run(), std::chrono::milliseconds(10));
  EXPECT_THAT(outcome.id, SizeIs(8));
  EXPECT_THAT(outcome.problem, HasSubstr("the run waits in"));
  ASSERT_EQ(other.run("COMMIT"), 0);
  const SaveOutcome next = save_or_spool(file(), saved_run({.code = 1}));
  EXPECT_THAT(next.problem, IsEmpty());
  EXPECT_EQ(RunHistory(file()).count({}), 2U) << "and what waited";
  EXPECT_EQ(RunHistory(file()).get(outcome.id).record, run_record());
}

TEST_F(SpoolTest, KeepsARunWhereTheHistoryIsAForeignFile) {
  std::ofstream(file()) << "somebody's text\n";
  const SaveOutcome outcome = save_or_spool(file(), saved_run());
  EXPECT_THAT(outcome.problem, HasSubstr("is not a history of wattle"));
  EXPECT_THAT(outcome.problem, HasSubstr("the run waits in"));
  EXPECT_EQ(fs::file_size(file()), 16U);
}

TEST_F(SpoolTest, SaysThatARunIsLost) {
  std::ofstream(folder_.path() / "no folder") << "";
  ::setenv("XDG_STATE_HOME", (folder_.path() / "no folder").c_str(), 1);
  const SaveOutcome outcome =
      save_or_spool(folder_.path() / "no folder" / "history.db", saved_run());
  EXPECT_THAT(outcome.id, IsEmpty());
  EXPECT_THAT(outcome.problem, HasSubstr("the run is not saved"));
}

}  // namespace
}  // namespace wattle
