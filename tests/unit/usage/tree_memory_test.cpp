// When the PSS of a tree's processes is read, and what is known of their sum between readings.
#include "usage/tree/tree_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fakes/process_files.hpp"
#include "fakes/virtual_clock.hpp"
#include "usage/tree/tree_reader.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::FakeProcess;

constexpr std::uint64_t kMib = 1024;  ///< in KiB
constexpr std::uint64_t kBytesOfKib = 1024;

/// The processor time that the thread has used: that of a reading is added when it has started.
struct FakeCpu {
  std::chrono::nanoseconds used{0};
  std::chrono::nanoseconds of_reading{0};
  std::uint64_t looks = 0;
  std::function<void()> at_start;
};
FakeCpu& cpu() {
  static FakeCpu fake;
  return fake;
}
std::chrono::nanoseconds look_at_cpu() noexcept {
  FakeCpu& fake = cpu();
  const bool is_start = ++fake.looks % 2 == 1;
  if (is_start && fake.at_start) fake.at_start();
  if (!is_start) fake.used += fake.of_reading;
  return fake.used;
}

/// A root with 250 MiB, of which its two children have 200 MiB and 100 MiB of their own, each.
class TreeMemoryTest : public testing::Test {
 protected:
  TreeMemoryTest() { cpu() = {}; }
  ~TreeMemoryTest() override { cpu() = {}; }

  void put_root_alone() const {
    files_.put({.pid = 100,
                .rss_kib = 250 * kMib,
                .shared_kib = 0,
                .pss_kib = 250 * kMib,
                .private_kib = 250 * kMib});
  }
  void put_tree() const {
    // 200 MiB in three processes.
    files_.put({.pid = 100,
                .rss_kib = 250 * kMib,
                .shared_kib = 50 * kMib,
                .pss_kib = 50 * kMib + 200 * kMib / 3,
                .private_kib = 50 * kMib,
                .children = {101, 102}});
    for (const int pid : {101, 102}) put_child(pid);
  }
  void put_child(int pid) const {
    files_.put({.pid = pid,
                .parent = 100,
                .rss_kib = 300 * kMib,
                .shared_kib = 0,
                .pss_kib = 100 * kMib + 200 * kMib / 3,
                .private_kib = 100 * kMib});
  }
  [[nodiscard]] TreeReader reader() const {
    return TreeReader(files_.system(), clock_, 100, {.thread_cpu = &look_at_cpu});
  }
  const TreeState& tick(TreeReader& reader) {
    clock_.advance(100ms);
    return reader.read();
  }
  static void expect_whole_tree(const GroupState& group) {
    EXPECT_FALSE(group.is_estimated);
    EXPECT_NEAR(static_cast<double>(group.pss_bytes), 450.0 * 1024 * 1024, 4096);
  }
  /// Nothing is read any more.
  static void spend_everything() { cpu().of_reading = 10s; }
  [[nodiscard]] static std::uint64_t readings() { return cpu().looks / 2; }

  fakes::ProcessFiles files_;
  fakes::VirtualClock clock_;
};

TEST_F(TreeMemoryTest, CountsTheProcessorTimeOfAReadingAndNotHowLongItWaited) {
  put_tree();
  clock_.advance_at_each_look(100ms);
  cpu().of_reading = 1ms;
  expect_whole_tree(reader().state().combined);
}

TEST_F(TreeMemoryTest, CarriesWhatWasReadWhileNothingChanges) {
  put_tree();
  cpu().of_reading = 33ms;
  TreeReader tree = reader();
  for (int i = 0; i < 5; ++i) expect_whole_tree(tick(tree).combined);
  EXPECT_EQ(readings(), 3U) << "it takes 3.3 s of each until there is time for another one";
  EXPECT_FALSE(tree.pss_gaps().any()) << "it was not wanted";
}

TEST_F(TreeMemoryTest, ReadsOldFiguresAgainWhenThereIsTime) {
  put_tree();
  cpu().of_reading = 10ms;
  TreeReader tree = reader();
  // A child writes to what it had in common: its resident set stays.
  files_.put({.pid = 102,
              .parent = 100,
              .rss_kib = 300 * kMib,
              .shared_kib = 0,
              .pss_kib = 300 * kMib,
              .private_kib = 300 * kMib});
  for (const int pid : {100, 101}) {
    FakeProcess other{.pid = pid, .rss_kib = 300 * kMib, .shared_kib = 0};
    if (pid == 100) other.children = {101, 102};
    if (pid == 100) other.rss_kib = 250 * kMib;
    if (pid == 101) other.parent = 100;
    other.private_kib = other.rss_kib - 200 * kMib;
    other.pss_kib = other.private_kib + 100 * kMib;
    if (pid == 100) other.shared_kib = 50 * kMib;
    files_.put(other);
  }
  for (int i = 0; i < 12; ++i) tick(tree);
  const GroupState& all = tree.state().combined;
  EXPECT_FALSE(all.is_estimated);
  EXPECT_NEAR(static_cast<double>(all.pss_bytes), 650.0 * 1024 * 1024, 4096);
}

TEST_F(TreeMemoryTest, TakesAnonymousGrowthForPrivate) {
  put_root_alone();
  TreeReader tree = reader();
  spend_everything();
  files_.put({.pid = 100, .rss_kib = 900 * kMib, .shared_kib = 0, .pss_kib = 1, .private_kib = 1});
  const GroupState& all = tick(tree).combined;
  EXPECT_FALSE(all.is_estimated);
  EXPECT_EQ(all.pss_bytes, 900 * kMib * kBytesOfKib);
  EXPECT_EQ(all.private_bytes, 900 * kMib * kBytesOfKib);
  EXPECT_EQ(readings(), 1U);
}

TEST_F(TreeMemoryTest, ReadsAgainWhatHasShrunk) {
  put_tree();
  TreeReader tree = reader();
  files_.put({.pid = 101,
              .parent = 100,
              .rss_kib = 200 * kMib,
              .shared_kib = 0,
              .pss_kib = 200 * kMib / 3,
              .private_kib = 0});
  const GroupState& all = tick(tree).combined;
  EXPECT_FALSE(all.is_estimated);
  EXPECT_NEAR(static_cast<double>(all.pss_bytes), 350.0 * 1024 * 1024, 4096);
}

TEST_F(TreeMemoryTest, IsABoundWhereWhatHasShrunkCannotBeRead) {
  put_tree();
  TreeReader tree = reader();
  cpu().used += 0ms;
  files_.put({.pid = 101, .parent = 100, .rss_kib = 150 * kMib, .shared_kib = 0, .pss_kib = 0});
  EXPECT_TRUE(tick(tree).combined.is_estimated);
  EXPECT_TRUE(tree.state().descendants.is_estimated);
  EXPECT_FALSE(tree.state().main.is_estimated);
}

TEST_F(TreeMemoryTest, ReadsAParentAgainWhenItHasForked) {
  put_root_alone();
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().combined.pss_bytes, 250 * kMib * kBytesOfKib);
  put_tree();
  expect_whole_tree(tick(tree).combined);
  EXPECT_EQ(readings(), 4U);
}

TEST_F(TreeMemoryTest, ReadsAParentAgainWhenAForkHasEnded) {
  put_tree();
  TreeReader tree = reader();
  files_.take(102);
  files_.put({.pid = 100,
              .rss_kib = 250 * kMib,
              .shared_kib = 50 * kMib,
              .pss_kib = 150 * kMib,
              .private_kib = 50 * kMib,
              .children = {101}});
  files_.put({.pid = 101,
              .parent = 100,
              .rss_kib = 300 * kMib,
              .shared_kib = 0,
              .pss_kib = 200 * kMib,
              .private_kib = 100 * kMib});
  const GroupState& all = tick(tree).combined;
  EXPECT_FALSE(all.is_estimated);
  EXPECT_EQ(all.pss_bytes, 350 * kMib * kBytesOfKib);
}

TEST_F(TreeMemoryTest, IsABoundWhileAForkGivesItsMemoryBack) {
  put_tree();
  TreeReader tree = reader();
  // It has no memory any more, but what it shared is still counted as if it had.
  files_.put({.pid = 102,
              .parent = 100,
              .state = 'R',
              .address_bytes = 0,
              .rss_kib = 0,
              .shared_kib = 0,
              .pss_kib = 0});
  EXPECT_TRUE(tick(tree).combined.is_estimated);
  EXPECT_TRUE(tick(tree).combined.is_estimated) << "not done yet";
  EXPECT_TRUE(tree.state().main.is_estimated);
  files_.put(
      {.pid = 102, .parent = 100, .state = 'Z', .rss_kib = 0, .shared_kib = 0, .pss_kib = 0});
  files_.put({.pid = 100,
              .rss_kib = 250 * kMib,
              .shared_kib = 50 * kMib,
              .pss_kib = 150 * kMib,
              .private_kib = 50 * kMib,
              .children = {101, 102}});
  files_.put({.pid = 101,
              .parent = 100,
              .rss_kib = 300 * kMib,
              .shared_kib = 0,
              .pss_kib = 200 * kMib,
              .private_kib = 100 * kMib});
  const GroupState& all = tick(tree).combined;
  EXPECT_FALSE(all.is_estimated);
  EXPECT_EQ(all.pss_bytes, 350 * kMib * kBytesOfKib) << "read again";
}

TEST_F(TreeMemoryTest, DoesNotCountTwiceWhatGrewWhileItWasRead) {
  put_root_alone();
  cpu().at_start = [this] {
    // After the resident set, before the PSS.
    files_.folder().write("100/smaps_rollup",
                          "0-1 ---p 0 00:00 0 [rollup]\nRss: 307200 kB\nPss: 307200 kB\n"
                          "Private_Clean: 0 kB\nPrivate_Dirty: 307200 kB\n");
  };
  TreeReader tree = reader();
  EXPECT_EQ(tree.state().combined.pss_bytes, 300 * kMib * kBytesOfKib);
  cpu().at_start = nullptr;
  spend_everything();
  files_.put({.pid = 100, .rss_kib = 300 * kMib, .shared_kib = 0, .pss_kib = 0});
  EXPECT_EQ(tick(tree).combined.pss_bytes, 300 * kMib * kBytesOfKib) << "and not 350";
  EXPECT_FALSE(tree.state().combined.is_estimated);
}

TEST_F(TreeMemoryTest, IsABoundWhileAParentThatHasForkedCannotBeReadAgain) {
  put_root_alone();
  cpu().of_reading = 95ms;
  TreeReader tree = reader();
  put_tree();
  const GroupState& all = tick(tree).combined;
  EXPECT_TRUE(all.is_estimated) << "450 MiB and not 850";
  EXPECT_LE(all.least_bytes, 450 * kMib * kBytesOfKib);
  EXPECT_GT(all.least_bytes, 0U);
  EXPECT_GT(tree.pss_gaps().budget, 0U);
}

TEST_F(TreeMemoryTest, ReadsAForkFamilyOverSeveralTicksWhereItMust) {
  put_tree();
  cpu().of_reading = 60ms;
  TreeReader tree = reader();
  EXPECT_TRUE(tree.state().combined.is_estimated) << "120 of 100 ms are spent";
  EXPECT_EQ(readings(), 2U);
  for (int i = 0; i < 10; ++i) {
    clock_.advance(1s);
    tree.read();
  }
  expect_whole_tree(tree.state().combined);
  EXPECT_EQ(readings(), 3U) << "none of the others is in doubt because of the third";
}

TEST_F(TreeMemoryTest, DoesNotReadALargeProcessAgainForSmallOnes) {
  put_root_alone();
  TreeReader tree = reader();
  for (int pid = 200; pid < 260; ++pid) {
    files_.put({.pid = 100,
                .rss_kib = 250 * kMib,
                .shared_kib = 0,
                .pss_kib = 250 * kMib,
                .private_kib = 250 * kMib,
                .children = {pid}});
    files_.put({.pid = pid, .parent = 100, .rss_kib = 1600, .shared_kib = 1500, .pss_kib = 200});
    EXPECT_FALSE(tick(tree).combined.is_estimated) << pid;
    files_.take(pid);
  }
  EXPECT_LE(readings(), 61U + 6U) << "each small one, and the large one once a second";
}

TEST_F(TreeMemoryTest, ForgivesASmallProcessWithoutPss) {
  put_tree();
  files_.put({.pid = 102, .parent = 101, .rss_kib = 4 * kMib, .shared_kib = 0, .pss_kib = 0});
  EXPECT_FALSE(reader().state().combined.is_estimated);
  files_.put({.pid = 102, .parent = 101, .rss_kib = 40 * kMib, .shared_kib = 0, .pss_kib = 0});
  EXPECT_TRUE(reader().state().combined.is_estimated);
}

TEST_F(TreeMemoryTest, LeavesOutAProcessThatEndsWhileItIsRead) {
  put_tree();
  // The third is read last.
  cpu().at_start = [this] {
    if (cpu().looks == 5) files_.take(102);
  };
  const TreeReader tree = reader();
  EXPECT_FALSE(tree.state().combined.is_estimated);
  EXPECT_LT(tree.state().combined.pss_bytes, 300 * kMib * kBytesOfKib);
  EXPECT_EQ(tree.state().descendants.rss_bytes, 300 * kMib * kBytesOfKib);
}

TEST_F(TreeMemoryTest, ReadsManyOldProcessesInTurns) {
  FakeProcess root{.pid = 100};
  for (int pid = 101; pid < 301; ++pid) root.children.push_back(pid);
  files_.put(root);
  for (const int pid : root.children) files_.put({.pid = pid, .parent = 100});
  cpu().of_reading = 100us;
  TreeReader tree = reader();
  EXPECT_EQ(readings(), 201U);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(tick(tree).combined.is_estimated);
  EXPECT_EQ(readings(), 402U) << "once a second";
  for (int i = 0; i < 30; ++i) tick(tree);
  EXPECT_LE(cpu().used, 100ms + 41 * 1ms + 1ms) << "1 % of the time, and what was saved up";
}

TEST_F(TreeMemoryTest, ForgetsNoOldProcessWhereThereIsTimeForSomeOfThem) {
  put_tree();
  cpu().of_reading = 15ms;
  TreeReader tree = reader();
  // Half of what can be saved up is left, and that of a second is enough for one of them.
  files_.put({.pid = 102,
              .parent = 100,
              .rss_kib = 300 * kMib,
              .shared_kib = 0,
              .pss_kib = 90 * kMib + 200 * kMib / 3,
              .private_kib = 100 * kMib});
  const auto expected = (440 * kMib) * kBytesOfKib;
  for (int i = 0; i < 8; ++i) {
    clock_.advance(1s);
    tree.read();
  }
  EXPECT_NEAR(static_cast<double>(tree.state().combined.pss_bytes), static_cast<double>(expected),
              4096)
      << "the last one of three, too";
}

TEST_F(TreeMemoryTest, ReadsEverythingAtEachTickWhereItIsForced) {
  put_tree();
  TreeReader tree(files_.system(), clock_, 100,
                  {.pss = PssPolicy::force, .thread_cpu = &look_at_cpu});
  tick(tree);
  EXPECT_EQ(readings(), 6U);
}

}  // namespace
}  // namespace wattle
