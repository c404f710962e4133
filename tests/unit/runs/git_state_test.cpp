#include "runs/history/git_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/temp_folder.hpp"

namespace wattle {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kCommit(40, 'a');
const std::string kOther(40, 'b');

class GitStateTest : public testing::Test {
 protected:
  [[nodiscard]] GitState state(const std::string& folder = "project") const {
    const auto found = read_git_state(folder_.path() / folder);
    EXPECT_TRUE(found);
    return found.value_or(GitState{});
  }
  fakes::TempFolder folder_;
};

TEST_F(GitStateTest, IsTheCommitOfTheBranch) {
  folder_.write("project/.git/HEAD", "ref: refs/heads/topic/a\n");
  folder_.write("project/.git/refs/heads/topic/a", kCommit + "\n");
  EXPECT_EQ(state().commit, kCommit);
  EXPECT_EQ(state().branch, "topic/a");
  EXPECT_EQ(state().dirty, std::nullopt) << "only git knows";
  EXPECT_EQ(state().worktree, folder_.path() / "project");
}

TEST_F(GitStateTest, IsFoundFromAFolderInside) {
  folder_.write("project/.git/HEAD", kCommit + "\n");
  folder_.write("project/src/deep/file", "");
  EXPECT_EQ(state("project/src/deep").commit, kCommit);
  EXPECT_THAT(state("project/src/deep").branch, IsEmpty()) << "a detached HEAD";
}

TEST_F(GitStateTest, IsFoundAmongThePackedRefs) {
  folder_.write("project/.git/HEAD", "ref: refs/heads/main\n");
  folder_.write("project/.git/packed-refs", "# pack-refs with: peeled\n" + kOther +
                                                " refs/heads/mai\n" + kCommit +
                                                " refs/heads/main\n^" + kOther + "\n");
  EXPECT_EQ(state().commit, kCommit);
}

TEST_F(GitStateTest, IsThatOfALinkedWorktree) {
  folder_.write("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
  folder_.write("main/.git/worktrees/w/commondir", "../..\n");
  folder_.write("main/.git/refs/heads/w", kCommit + "\n");
  folder_.write("project/.git", "gitdir: ../main/.git/worktrees/w\n");
  EXPECT_EQ(state().commit, kCommit);
  EXPECT_EQ(state().branch, "w");
}

TEST_F(GitStateTest, IsUnknownWithoutACommit) {
  folder_.write("project/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_THAT(state().commit, IsEmpty());
  EXPECT_THAT(state().unknown, HasSubstr("no commit"));
}

TEST_F(GitStateTest, FollowsNoRefOutOfTheRepository) {
  folder_.write("secret", kCommit + "\n");
  folder_.write("project/.git/HEAD", "ref: ../../secret\n");
  EXPECT_THAT(state().commit, IsEmpty());
}

TEST_F(GitStateTest, DoesNotLoopThroughRefs) {
  folder_.write("project/.git/HEAD", "ref: refs/heads/a\n");
  folder_.write("project/.git/refs/heads/a", "ref: refs/heads/a\n");
  EXPECT_THAT(state().commit, IsEmpty());
}

TEST_F(GitStateTest, IsUnknownForWhatIsNoHead) {
  folder_.write("project/.git/HEAD", "nonsense\n");
  EXPECT_THAT(state().unknown, HasSubstr("not understood"));
}

TEST_F(GitStateTest, IsAbsentOutsideOfARepository) {
  folder_.write("project/file", "");
  // Unless all of the machine is one.
  const auto above = read_git_state(folder_.path());
  EXPECT_EQ(read_git_state(folder_.path() / "project").has_value(), above.has_value());
}

}  // namespace
}  // namespace wattle
