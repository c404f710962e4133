#include "usage/tree/tree_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/process_files.hpp"
#include "fakes/virtual_clock.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::FakeProcess;
using testing::HasSubstr;

constexpr std::uint64_t kKiB = 1024;

/// Process 100 is followed. A tick of its times is 10 ms.
class TreeReaderTest : public testing::TestWithParam<bool> {
 protected:
  TreeReaderTest() : files_(GetParam()) {}

  [[nodiscard]] TreeReader reader(const TreeOptions& options = {}) const {
    return TreeReader(files_.system(), clock_, 100, options);
  }
  const TreeState& tick(TreeReader& reader) {
    clock_.advance(100ms);
    return reader.read();
  }

  fakes::ProcessFiles files_;
  fakes::VirtualClock clock_;
};

// With the files that list children, and by looking at all processes.
INSTANTIATE_TEST_SUITE_P(Kernels, TreeReaderTest, testing::Bool());

TEST_P(TreeReaderTest, CountsFromTheBeginOnly) {
  files_.put({.pid = 100, .user = 500, .system = 50, .waited_user = 70});
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().main.cpu, 0s);
  files_.put({.pid = 100, .user = 520, .system = 60, .waited_user = 75});
  tick(tree);
  EXPECT_EQ(tree.state().main.cpu, 300ms);
  EXPECT_EQ(tree.state().descendants.cpu, 50ms);
}

TEST_P(TreeReaderTest, FindsChildrenAndTheirsAtOnce) {
  files_.put({.pid = 100});
  files_.put({.pid = 400, .user = 9999});  // a stranger
  TreeReader tree = reader();
  files_.put({.pid = 100, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .user = 10, .threads = 3, .children = {99}});
  files_.put({.pid = 99, .parent = 101, .user = 5, .threads = 2});
  tick(tree);
  EXPECT_EQ(tree.state().descendants.processes, 2U);
  EXPECT_EQ(tree.state().descendants.cpu, 150ms) << "all that they used";
  EXPECT_EQ(tree.state().descendants.threads, 5U);
  EXPECT_EQ(tree.processes_seen(), 3U);
}

TEST_P(TreeReaderTest, LeavesOutWhatChildrenUsedBeforeTheBegin) {
  files_.put({.pid = 100, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .user = 1000});
  TreeReader tree = reader();
  files_.put({.pid = 101, .parent = 100, .user = 1010});
  EXPECT_EQ(tick(tree).descendants.cpu, 100ms);
  // It ends; all that it ever used comes to its parent.
  files_.take(101);
  files_.put({.pid = 100, .waited_user = 1012});
  EXPECT_EQ(tick(tree).descendants.cpu, 120ms);
  EXPECT_EQ(tree.state().descendants.processes, 0U);
}

TEST_P(TreeReaderTest, CountsChildrenThatCameAndWentUnseen) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put({.pid = 100, .waited_user = 30, .waited_system = 3});
  EXPECT_EQ(tick(tree).descendants.cpu, 330ms);
}

TEST_P(TreeReaderTest, KeepsTheTimeOfAChildWhoseParentIgnoresItsEnd) {
  files_.put({.pid = 100, .children = {101}});
  TreeReader tree = reader();
  files_.put({.pid = 101, .parent = 100, .user = 40});
  tick(tree);
  files_.take(101);
  files_.put({.pid = 100});
  EXPECT_EQ(tick(tree).descendants.cpu, 400ms);
}

TEST_P(TreeReaderTest, CountsAZombieUntilItIsWaitedFor) {
  files_.put({.pid = 100, .children = {101}});
  TreeReader tree = reader();
  files_.put({.pid = 101, .parent = 100, .state = 'Z', .user = 40, .rss_kib = 0, .shared_kib = 0});
  EXPECT_EQ(tick(tree).descendants.cpu, 400ms);
  EXPECT_EQ(tree.state().descendants.threads, 0U);
  files_.take(101);
  files_.put({.pid = 100, .waited_user = 40});
  EXPECT_EQ(tick(tree).descendants.cpu, 400ms);
}

TEST_P(TreeReaderTest, FollowsAnOrphan) {
  files_.put({.pid = 100, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .children = {102}});
  files_.put({.pid = 102, .parent = 101});
  TreeReader tree = reader();
  files_.take(101);
  files_.put({.pid = 100});
  files_.put({.pid = 102, .parent = 1, .user = 20});
  EXPECT_EQ(tick(tree).descendants.cpu, 200ms);
  files_.take(102);
  EXPECT_EQ(tick(tree).descendants.cpu, 200ms) << "nobody of the tree waits for it";
}

TEST_P(TreeReaderTest, DistinguishesAProcessFromTheNextOfItsNumber) {
  files_.put({.pid = 100, .children = {101}});
  files_.put({.pid = 101, .parent = 100});
  TreeReader tree = reader();
  files_.put({.pid = 101, .parent = 100, .user = 30});
  tick(tree);
  files_.put({.pid = 100, .waited_user = 30, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .user = 5, .start_time = 2000});
  EXPECT_EQ(tick(tree).descendants.cpu, 350ms);
  EXPECT_EQ(tree.processes_seen(), 3U);
}

TEST_P(TreeReaderTest, EndsWithItsProcess) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put({.pid = 100, .user = 30});
  EXPECT_FALSE(tick(tree).has_ended);
  files_.take(100);
  EXPECT_TRUE(tick(tree).has_ended);
  EXPECT_EQ(tree.state().main.cpu, 300ms) << "what was last seen";
}

TEST_P(TreeReaderTest, EndsWhereItsNumberIsSomebodyElses) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put({.pid = 100, .user = 700, .start_time = 5000});
  EXPECT_TRUE(tick(tree).has_ended);
  EXPECT_EQ(tree.state().main.cpu, 0s);
}

TEST_P(TreeReaderTest, CountsAProcessThatIsNotYetWaitedFor) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put({.pid = 100, .state = 'Z', .user = 30, .rss_kib = 0, .shared_kib = 0});
  EXPECT_TRUE(tick(tree).has_ended);
  EXPECT_EQ(tree.state().main.cpu, 300ms);
}

/// It can work for long to give its memory back, and that is part of what it cost.
TEST_P(TreeReaderTest, FollowsAProcessThatIsAboutToBeAZombie) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put(
      {.pid = 100, .state = 'R', .user = 30, .address_bytes = 0, .rss_kib = 0, .shared_kib = 0});
  EXPECT_FALSE(tick(tree).has_ended);
  EXPECT_EQ(tree.state().main.threads, 0U) << "it has no memory that could be shown";
  files_.put({.pid = 100, .state = 'Z', .user = 90, .rss_kib = 0, .shared_kib = 0});
  EXPECT_TRUE(tick(tree).has_ended);
  EXPECT_EQ(tree.state().main.cpu, 900ms);
}

/// Waited for between two readings of one tick, or just before the tick.
TEST_P(TreeReaderTest, ShowsNoMemoryAndNoThreadsOfAProcessThatIsGone) {
  for (const std::uint64_t rss_kib : {std::uint64_t{0}, std::uint64_t{400}}) {
    files_.put({.pid = 100});
    TreeReader tree = reader();
    files_.put({.pid = 100, .start_time = 2000, .rss_kib = rss_kib, .shared_kib = 0});
    clock_.advance(1s);
    EXPECT_TRUE(tree.read_all().has_ended);
    EXPECT_EQ(tree.state().main.threads, 0U);
    EXPECT_EQ(tree.state().main.rss_bytes, 0U);
  }
}

TEST_P(TreeReaderTest, AddsUpMemoryOfWhichEachPageCountsOnce) {
  files_.put({.pid = 100, .children = {101, 102}});
  files_.put({.pid = 101, .parent = 100});
  files_.put({.pid = 102, .parent = 100});
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().main.rss_bytes, 400 * kKiB);
  EXPECT_EQ(tree.state().main.private_bytes, 200 * kKiB);
  EXPECT_EQ(tree.state().descendants.rss_bytes, 800 * kKiB);
  EXPECT_EQ(tree.state().descendants.pss_bytes, 600 * kKiB);
  EXPECT_EQ(tree.state().descendants.private_bytes, 400 * kKiB);
  EXPECT_FALSE(tree.state().descendants.is_estimated);
}

TEST_P(TreeReaderTest, CountsAProcessWithoutPssByItsRss) {
  files_.put({.pid = 100, .children = {101, 102}});
  files_.put({.pid = 101, .parent = 100, .pss_kib = 0});
  files_.put({.pid = 102, .parent = 100});
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().descendants.pss_bytes, (400 + 300) * kKiB);
  EXPECT_EQ(tree.state().descendants.private_bytes, (300 + 200) * kKiB);
  EXPECT_TRUE(tree.state().descendants.is_estimated);
  EXPECT_FALSE(tree.state().main.is_estimated);
}

TEST_P(TreeReaderTest, DoesNotAskForThePssOfALargeProcess) {
  const std::uint64_t rss_kib = std::uint64_t{5} << 20U;
  files_.put({.pid = 100, .rss_kib = rss_kib});
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().main.pss_bytes, rss_kib * kKiB);
  EXPECT_TRUE(tree.state().main.is_estimated);
  EXPECT_EQ(tree.pss_gaps().too_large, 1U);
  const TreeReader forced = reader({.pss = PssPolicy::force});
  EXPECT_FALSE(forced.state().main.is_estimated);
}

TEST_P(TreeReaderTest, CountsPagesOfALargeForkNoMoreOftenThanTheMachineHasThem) {
  const std::uint64_t rss_kib = std::uint64_t{5} << 20U;
  files_.folder().write("meminfo", "MemTotal: 9000000 kB\nAnonPages: " + std::to_string(rss_kib) +
                                       " kB\nMapped: 100 kB\n");
  files_.put({.pid = 100, .rss_kib = rss_kib, .children = {101, 102}});
  files_.put({.pid = 101, .parent = 100, .rss_kib = rss_kib});
  files_.put({.pid = 102, .parent = 100, .rss_kib = rss_kib});
  const TreeReader tree = reader();
  const GroupState& both = tree.state().combined;
  EXPECT_EQ(both.pss_bytes, (rss_kib + 100) * kKiB) << "not three times as much";
  EXPECT_LE(both.private_bytes, 200 * kKiB);
  EXPECT_TRUE(both.is_estimated);
  EXPECT_LE(tree.state().main.private_bytes, 200 * kKiB);
  EXPECT_EQ(both.rss_bytes, 3 * rss_kib * kKiB);
}

TEST_P(TreeReaderTest, ForgetsPeaksOfBefore) {
  files_.put({.pid = 100, .rss_kib = 9000});
  TreeReader tree = reader();
  tree.forget_peaks();
  files_.put({.pid = 100, .rss_kib = 500});
  tick(tree);
  EXPECT_EQ(tree.peaks().main_bytes, 500 * kKiB);
}

TEST_P(TreeReaderTest, WasAloneUntilItHadAChild) {
  files_.put({.pid = 100, .waited_minor_faults = 8});
  TreeReader tree = reader();
  clock_.advance(1s);
  tree.read();
  EXPECT_TRUE(tree.was_alone());
  files_.put({.pid = 100, .waited_minor_faults = 9});  // one that nobody saw
  clock_.advance(1s);
  tree.read();
  EXPECT_FALSE(tree.was_alone());
}

TEST_P(TreeReaderTest, SeesAPeakBetweenTicks) {
  files_.put({.pid = 100, .peak_kib = 9000});
  TreeReader tree = reader();
  EXPECT_EQ(tree.peak_rss_bytes(), 400 * kKiB) << "the peak was before";
  files_.put({.pid = 100, .peak_kib = 9500});
  clock_.advance(1s);
  tree.read();
  EXPECT_EQ(tree.peak_rss_bytes(), 9500 * kKiB);
}

TEST_P(TreeReaderTest, ReadsTheSameWithoutKeptFiles) {
  files_.put({.pid = 100, .children = {101}});
  files_.put({.pid = 101, .parent = 100});
  TreeReader tree = reader({.most_kept_files = 0});
  files_.put({.pid = 101, .parent = 100, .user = 7});
  EXPECT_EQ(tick(tree).descendants.cpu, 70ms);
  files_.take(101);
  EXPECT_EQ(tick(tree).descendants.processes, 0U);
}

TEST_P(TreeReaderTest, TakesOrphansOfAnAdopterButNotItsOwn) {
  files_.put({.pid = 50, .children = {100, 60}});
  files_.put({.pid = 60, .parent = 50, .user = 1});
  files_.put({.pid = 100, .parent = 50});
  TreeReader tree = reader({.adopter = 50, .strangers = {60}});
  files_.put({.pid = 50, .children = {100, 60, 105}});
  files_.put({.pid = 105, .parent = 50, .user = 20});
  EXPECT_EQ(tick(tree).descendants.processes, 1U);
  EXPECT_EQ(tree.kinship_of(100), Kinship::main);
  EXPECT_EQ(tree.kinship_of(105), Kinship::descendant);
  EXPECT_EQ(tree.kinship_of(60), Kinship::stranger);
  EXPECT_EQ(tree.kinship_of(50), Kinship::stranger);
  EXPECT_EQ(tree.kinship_of(999), Kinship::unknown);
}

TEST_P(TreeReaderTest, SplitsTimeAsTheKernelDoes) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put({.pid = 100, .user = 30, .system = 10});
  tick(tree);
  EXPECT_DOUBLE_EQ(tree.cpu_parts().user.count(), 0.3);
  EXPECT_DOUBLE_EQ(tree.cpu_parts().system.count(), 0.1);
}

TEST_P(TreeReaderTest, SplitsOnlyTheTimeThatCounts) {
  files_.put({.pid = 100, .user = 100000, .system = 10, .waited_user = 500, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .user = 4000});
  TreeReader tree = reader();
  EXPECT_DOUBLE_EQ(tree.cpu_parts().user.count(), 0.0);
  files_.put({.pid = 100, .user = 100010, .system = 40, .waited_user = 500, .children = {101}});
  tick(tree);
  EXPECT_DOUBLE_EQ(tree.cpu_parts().user.count(), 0.1);
  EXPECT_DOUBLE_EQ(tree.cpu_parts().system.count(), 0.3);
  files_.take(101);
  files_.put({.pid = 100, .user = 100010, .system = 40, .waited_user = 4500, .waited_system = 20});
  tick(tree);
  EXPECT_NEAR(tree.cpu_parts().user.count(), 0.1, 1e-9);
  EXPECT_NEAR(tree.cpu_parts().system.count(), 0.5, 1e-9);
}

TEST_P(TreeReaderTest, ReadsTheStatusOfAProcessOfManyGroups) {
  files_.put({.pid = 100});
  std::string groups = "Groups:\t";
  for (int group = 100000; group < 101000; ++group) groups += std::to_string(group) + " ";
  TreeReader tree = reader();
  files_.folder().write("100/status", "Name:\tx\n" + groups + "\nVmHWM:\t 900 kB\n");
  clock_.advance(1s);
  tree.read();
  EXPECT_EQ(tree.peak_rss_bytes(), 900 * kKiB);
}

TEST_P(TreeReaderTest, BearsGarbage) {
  files_.put({.pid = 100, .children = {101, 102, 103}});
  files_.put({.pid = 103, .parent = 100});
  files_.folder().write("101/stat", "garbage");
  files_.folder().write("100/task/100/children", "101 x -5 99999999999 102 103");
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().descendants.processes, 1U);
  files_.folder().write("100/stat", "");
  files_.folder().write("100/statm", "nonsense");
  EXPECT_FALSE(tick(tree).has_ended) << "nothing says that it has";
}

TEST_P(TreeReaderTest, RefusesAProcessThatIsNotThere) {
  EXPECT_THROW((void)reader(), InvalidArgument);
  files_.put({.pid = 100, .state = 'Z'});
  EXPECT_THROW((void)reader(), InvalidArgument);
}

TEST_P(TreeReaderTest, NamesWhereItsFiguresComeFrom) {
  files_.put({.pid = 100});
  const TreeReader tree = reader();
  EXPECT_THAT(tree.cpu_mechanism(), HasSubstr("stat, to 10 ms"));
  EXPECT_THAT(tree.tree_mechanism(), HasSubstr(GetParam() ? "children, of" : "all of /proc"));
}

}  // namespace
}  // namespace wattle
