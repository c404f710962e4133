// Input and output, page faults and context switches of a tree: of made-up processes, and of real
// ones whose children came and went.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <vector>

#include "base/files/fd.hpp"
#include "fakes/process_files.hpp"
#include "fakes/virtual_clock.hpp"
#include "usage/tree/tree_reader.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;

/// Process 100 is followed.
class TreeActivity : public testing::TestWithParam<bool> {
 protected:
  TreeActivity() : files_(GetParam()) {}

  [[nodiscard]] TreeReader reader() const { return TreeReader(files_.system(), clock_, 100); }
  TreeReader::Activity later(TreeReader& reader, std::chrono::milliseconds time = 1s) {
    clock_.advance(time);
    reader.read();
    return reader.activity();
  }

  fakes::ProcessFiles files_;
  fakes::VirtualClock clock_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, TreeActivity, testing::Bool());

TEST_P(TreeActivity, CountsFromTheBegin) {
  files_.put({.pid = 100, .minor_faults = 50, .major_faults = 5, .io_bytes = 1000, .switches = 70});
  TreeReader tree = reader();
  files_.put({.pid = 100, .minor_faults = 53, .major_faults = 9, .io_bytes = 1004, .switches = 71});
  const auto activity = later(tree);
  EXPECT_EQ(activity.totals.io, (IoCounts{4, 40, 8, 12}));
  EXPECT_EQ(activity.totals.minor_faults, 3);
  EXPECT_EQ(activity.totals.major_faults, 4);
  EXPECT_EQ(activity.totals.switches, (SwitchCounts{1, 2}));
  EXPECT_EQ(activity.io_gap, IoGap::none);
  EXPECT_FALSE(activity.hides_switches);
}

TEST_P(TreeActivity, IsReadOnceASecond) {
  files_.put({.pid = 100});
  TreeReader tree = reader();
  files_.put({.pid = 100, .io_bytes = 4, .switches = 1});
  EXPECT_EQ(later(tree, 100ms).totals.io[0], 0);
  EXPECT_EQ(later(tree, 900ms).totals.io[0], 4);
}

TEST_P(TreeActivity, CountsAChildThatWasWaitedForOnce) {
  files_.put({.pid = 100, .io_bytes = 10});
  TreeReader tree = reader();
  files_.put({.pid = 100, .io_bytes = 10, .children = {101}});
  files_.put({.pid = 101,
              .parent = 100,
              .minor_faults = 30,
              .waited_minor_faults = 0,
              .io_bytes = 70,
              .switches = 6});
  const auto before = later(tree, 100ms);  // a new one is looked at once
  EXPECT_EQ(before.totals.io[0], 70);
  EXPECT_EQ(before.totals.minor_faults, 30);
  files_.take(101);
  files_.put({.pid = 100, .waited_minor_faults = 8 + 31, .io_bytes = 10 + 72});
  const auto after = later(tree, 100ms);  // as is the parent of one that is gone
  EXPECT_EQ(after.totals.io[0], 72);
  EXPECT_EQ(after.totals.minor_faults, 31);
  EXPECT_EQ(after.totals.switches[0], 6);
}

TEST_P(TreeActivity, KeepsWhatAnOrphanDid) {
  files_.put({.pid = 100, .children = {101}});
  files_.put({.pid = 101, .parent = 100, .children = {102}});
  files_.put({.pid = 102, .parent = 101});
  TreeReader tree = reader();
  files_.take(101);
  files_.put({.pid = 100});
  files_.put({.pid = 102, .parent = 1, .minor_faults = 9, .io_bytes = 20, .switches = 3});
  later(tree);
  files_.take(102);
  const auto activity = later(tree);
  EXPECT_EQ(activity.totals.io[0], 20);
  EXPECT_EQ(activity.totals.minor_faults, 2);
  EXPECT_EQ(activity.totals.switches[0], 3);
}

TEST_P(TreeActivity, SaysWhereAProcessHasNoAccountOfItsIo) {
  files_.put({.pid = 100, .has_io = false});
  TreeReader tree = reader();
  EXPECT_EQ(tree.activity().io_gap, IoGap::absent);
  EXPECT_FALSE(tree.activity().hides_switches);
}

TEST_P(TreeActivity, DoesNotAskTooManyThreadsForTheirSwitches) {
  files_.put({.pid = 100, .threads = 257});
  TreeReader tree = reader();
  EXPECT_TRUE(tree.activity().hides_switches);
}

/// A real process: it has a task done by children one after the other, says so, and waits.
class Parent {
 public:
  Parent(int children, void (*task)()) {
    std::array<int, 2> go{};
    std::array<int, 2> done{};
    EXPECT_EQ(::pipe(go.data()) + ::pipe(done.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      char byte = 0;
      (void)!::read(go[0], &byte, 1);
      for (int i = 0; i < children; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
          task();
          ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
      }
      (void)!::write(done[1], &byte, 1);
      while (true) ::pause();
    }
    ::close(go[0]);
    ::close(done[1]);
    go_ = Fd(go[1]);
    done_ = Fd(done[0]);
  }
  ~Parent() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void work() const {
    char byte = 0;
    EXPECT_EQ(::write(go_.get(), "x", 1), 1);
    EXPECT_EQ(::read(done_.get(), &byte, 1), 1);
  }

 private:
  pid_t pid_ = -1;
  Fd go_;
  Fd done_;
};

TEST(LiveTreeActivity, CountsChildrenThatCameAndWentUnseen) {
  constexpr int kChildren = 5;
  constexpr std::int64_t kBytes = 1 << 20;
  constexpr std::int64_t kPages = 1000;
  const Parent parent(kChildren, [] {
    const Fd zeros(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    const Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    static std::vector<char> bytes(kBytes);
    (void)!::read(zeros.get(), bytes.data(), bytes.size());
    (void)!::write(nowhere.get(), bytes.data(), bytes.size());
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t size = page * kPages;
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(memory, size, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < size; i += page) static_cast<volatile char*>(memory)[i] = 1;
  });
  TreeReader tree({}, machine_clock(), parent.pid());
  if (tree.activity().io_gap != IoGap::none) GTEST_SKIP() << "this kernel keeps no account of I/O";
  parent.work();
  tree.read_all();
  const auto totals = tree.activity().totals;
  EXPECT_GE(totals.io[0], kChildren * kBytes);
  EXPECT_LT(totals.io[0], (kChildren + 1) * kBytes) << "none of them counts twice";
  EXPECT_GE(totals.io[1], kChildren * kBytes);
  EXPECT_LT(totals.io[1], (kChildren + 1) * kBytes);
  EXPECT_GE(totals.minor_faults, kChildren * kPages);
  EXPECT_GE(totals.switches[0], 1) << "the parent waited for its children";
}

}  // namespace
}  // namespace wattle
