// The tree reader against the kernel: real processes, whose time does not depend on how busy the
// machine is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>

#include "base/files/fd.hpp"
#include "fakes/gated_sensor.hpp"
#include "usage/tracker_mark.hpp"
#include "usage/tree/tree_reader.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using fakes::eventually;

void burn(std::chrono::nanoseconds time) {
  timespec now{};
  do {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec) < time);
}

/// A process that does something when it is told to, says when it is done, and waits to be killed.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work) {
    std::array<int, 2> go{};
    std::array<int, 2> done{};
    EXPECT_EQ(::pipe(go.data()) + ::pipe(done.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      char byte = 0;
      if (::read(go[0], &byte, 1) == 1) work();
      (void)!::write(done[1], &byte, 1);
      while (true) ::pause();
    }
    go_ = Fd(go[1]);
    done_ = Fd(done[0]);
    ::close(go[0]);
    ::close(done[1]);
  }
  ~Worker() { end(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void go() const { EXPECT_EQ(::write(go_.get(), "x", 1), 1); }
  void wait() const {
    char byte = 0;
    EXPECT_EQ(::read(done_.get(), &byte, 1), 1);
  }
  /// What it used, its children included.
  std::chrono::microseconds end() {
    rusage used{};
    if (pid_ <= 0) return {};
    ::kill(pid_, SIGKILL);
    ::wait4(pid_, nullptr, 0, &used);
    pid_ = -1;
    return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  }

 private:
  pid_t pid_ = -1;
  Fd go_;
  Fd done_;
};

void spawn_one_after_the_other(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      burn(30ms);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
}

TEST(LiveTree, CountsShortChildrenWithinTwoPercent) {
  Worker worker([] { spawn_one_after_the_other(40); });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  std::chrono::nanoseconds before{0};
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(20ms);  // any time does: what counts is the sum at the end
    const auto now = tree.read().descendants.cpu;
    EXPECT_GE(now, before);
    before = now;
  }
  worker.wait();
  tree.read_all();
  const auto counted = tree.state().main.cpu + tree.state().descendants.cpu;
  const auto used = worker.end();
  EXPECT_NEAR(Seconds(counted).count(), Seconds(used).count(), 0.02 * Seconds(used).count());
}

/// Where two processes wait for each other.
class Signal {
 public:
  Signal() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Signal() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void give() const { (void)!::write(ends_[1], "x", 1); }
  void await() const {
    char byte = 0;
    (void)!::read(ends_[0], &byte, 1);
  }

 private:
  std::array<int, 2> ends_{};
};

/// Makes a child that does something and is there until it may end.
pid_t make_child(const std::function<void()>& work, const Signal& is_done, const Signal& may_end) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  work();
  is_done.give();
  may_end.await();
  ::_exit(0);
}

TEST(LiveTree, CountsAProcessThatForksFasterThanTheTick) {
  Worker worker([] {
    for (int i = 0; i < 500; ++i) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      ::waitpid(child, nullptr, 0);
    }
  });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  for (int i = 0; i < 5; ++i) (void)tree.read();
  worker.wait();
  tree.read_all();
  const auto counted = tree.state().main.cpu + tree.state().descendants.cpu;
  const auto used = worker.end();
  // The kernel tells children's times in ticks of 10 ms.
  EXPECT_NEAR(Seconds(counted).count(), Seconds(used).count(), 0.02 * Seconds(used).count() + 0.02);
}

TEST(LiveTree, CountsAChildWhoseParentIgnoresItsEnd) {
  const Signal is_done;
  const Signal may_end;
  Worker worker([&] {
    ::signal(SIGCHLD, SIG_IGN);
    (void)make_child([] { burn(100ms); }, is_done, may_end);
    ::waitpid(-1, nullptr, 0);  // until there is none left
  });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  is_done.await();
  tree.read_all();
  may_end.give();
  worker.wait();
  // The kernel lets the parent go on a moment before the child's number is gone.
  EXPECT_TRUE(eventually([&] { return tree.read_all().descendants.processes == 0; }));
  EXPECT_GE(tree.state().descendants.cpu, 100ms);
  EXPECT_LT(tree.state().descendants.cpu, 200ms);
}

TEST(LiveTree, LeavesOutAnotherTracker) {
  const Signal is_done;
  const Signal may_end;
  Worker worker([&] {
    const auto track = [] {
      static const TrackerMark mark;
      burn(100ms);
    };
    const pid_t child = make_child(track, is_done, may_end);
    ::waitpid(child, nullptr, 0);
  });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  is_done.await();
  tree.read_all();
  EXPECT_EQ(tree.state().descendants.processes, 0U);
  EXPECT_EQ(tree.state().descendants.rss_bytes, 0U);
  EXPECT_EQ(tree.processes_seen(), 1U);
  EXPECT_EQ(tree.rows().size(), 1U);
  EXPECT_EQ(tree.state().descendants.cpu, 0ms);
  may_end.give();
  worker.wait();
  tree.read_all();
  EXPECT_LT(tree.state().descendants.cpu, 50ms) << "its parent has waited for it";
}

TEST(LiveTree, RecognizesATrackerThatMarksItselfLater) {
  const Signal is_there;
  const Signal may_mark;
  const Signal is_done;
  const Signal may_end;
  Worker worker([&] {
    const auto track = [&] {
      is_there.give();
      may_mark.await();
      static const TrackerMark mark;
    };
    (void)make_child(track, is_done, may_end);
    ::waitpid(-1, nullptr, 0);
  });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  is_there.await();
  EXPECT_EQ(tree.read_all().descendants.processes, 1U) << "nothing tells it from any other yet";
  may_mark.give();
  is_done.await();
  EXPECT_EQ(tree.read_all().descendants.processes, 0U);
  EXPECT_EQ(tree.processes_seen(), 1U);
}

TEST(LiveTree, ReadsTheCpuClockOfAZombie) {
  Worker worker([] {
    if (::fork() == 0) {
      burn(50ms);
      ::_exit(0);
    }
    siginfo_t info{};
    ::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
  });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  worker.wait();
  tree.read_all();
  EXPECT_EQ(tree.state().descendants.processes, 1U);
  EXPECT_GE(tree.state().descendants.cpu, 50ms);
  EXPECT_LT(tree.state().descendants.cpu, 80ms);
}

TEST(LiveTree, FindsChildrenOfOtherThreads) {
  Worker worker([] {
    std::atomic<bool> forked{false};
    std::thread([&] {
      const pid_t parent = ::getpid();
      if (::fork() == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(0);  // it ended before it was asked to tell
        while (true) ::pause();
      }
      forked = true;
      while (true) ::pause();
    }).detach();
    while (!forked) std::this_thread::yield();
  });
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.go();
  worker.wait();
  EXPECT_EQ(tree.read_all().descendants.processes, 1U);
}

TEST(LiveTree, SeesTheWholeMemoryOfAProcessThatRanBefore) {
  // Much more than the program itself holds, sanitized (33 MB) or not.
  constexpr std::size_t kBytes = std::size_t{256} << 20U;
  Worker worker([] {
    // Filled by the kernel: what a program writes itself, a sanitizer keeps books of in memory.
    if (::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
               -1, 0) == MAP_FAILED) {
      std::abort();
    }
  });
  worker.go();
  worker.wait();
  const TreeReader tree({}, machine_clock(), worker.pid());
  EXPECT_GE(tree.state().main.rss_bytes, kBytes);
  EXPECT_LT(static_cast<double>(tree.state().main.rss_bytes), 1.3 * kBytes);
  EXPECT_GE(tree.state().main.private_bytes, kBytes);
}

TEST(LiveTree, EndsWhereTheProcessIsGone) {
  Worker worker([] {});
  TreeReader tree({}, machine_clock(), worker.pid());
  worker.end();
  EXPECT_TRUE(tree.read().has_ended);
}

}  // namespace
}  // namespace wattle
