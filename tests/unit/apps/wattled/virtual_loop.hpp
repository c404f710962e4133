// A loop in virtual time, which the test advances.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "http/loop.hpp"

namespace wattle::daemon {

/// Threads: one at a time, but for posts and `now`.
class VirtualLoop final : public Loop {
 public:
  explicit VirtualLoop(TimePoint start = TimePoint(std::chrono::hours(1))) : now_(start) {}
  VirtualLoop(const VirtualLoop&) = delete;
  VirtualLoop& operator=(const VirtualLoop&) = delete;
  /// What still waits may own the timer that it waits for.
  ~VirtualLoop() override { timers_->clear(); }
  [[nodiscard]] TimePoint now() const override { return now_.load(); }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override {
    return std::make_unique<VirtualTimer>(timers_);
  }
  [[nodiscard]] std::unique_ptr<Watch> watch(int /*fd*/, Work fail) override {
    if (!has_memory) return nullptr;
    return std::make_unique<VirtualWatch>(*this, std::move(fail));
  }
  /// The kernel can wait for one more descriptor.
  bool has_memory = true;
  /// Fails the waits to read, as if the kernel refused them.
  void fail_watches() {
    for (const auto& [watch, work] : std::exchange(readers_, {})) watch->fail();
  }
  [[nodiscard]] Poster poster() override {
    // A thread that hung may post when the loop is gone.
    return [posted = posted_](Work work) {
      const std::scoped_lock lock(posted->mutex);
      posted->works.push_back(std::move(work));
    };
  }

  /// Does what was posted; how much that was.
  std::size_t run_posted() {
    std::vector<Work> works;
    {
      const std::scoped_lock lock(posted_->mutex);
      works.swap(posted_->works);
    }
    for (const Work& work : works) work();
    return works.size();
  }
  /// Makes a descriptor readable or writable: calls the waiting work.
  void run_readable() { run(std::exchange(readers_, {})); }
  void run_writable() { run(std::exchange(writers_, {})); }
  /// Timers go off on the way.
  void advance(std::chrono::nanoseconds step) {
    const TimePoint end = now_.load() + step;
    while (const auto next = timers_->take_next(end)) {
      now_ = std::max(now_.load(),
                      next->first + (lateness ? lateness() : std::chrono::nanoseconds(0)));
      next->second();
    }
    now_ = std::max(now_.load(), end);
  }
  /// How much later than asked for the next timer goes off; null: not at all.
  std::function<std::chrono::nanoseconds()> lateness{};
  [[nodiscard]] std::size_t timers() const { return timers_->size(); }
  /// The work of the waits to read.
  [[nodiscard]] std::size_t readers() const noexcept { return readers_.size(); }

 private:
  /// Those that wait. A thread that hung may own one, and outlive the loop with it.
  class Timers {
   public:
    using Key = std::pair<TimePoint, const Timer*>;

    void add(const Key& key, Work work) {
      const std::scoped_lock lock(mutex_);
      waiting_.emplace(key, std::move(work));
    }
    void erase(const Key& key) {
      Work work;  // may own timers: it goes when nothing is locked
      const std::scoped_lock lock(mutex_);
      const auto found = waiting_.find(key);
      if (found == waiting_.end()) return;
      work = std::move(found->second);
      waiting_.erase(found);
    }
    /// The first one until then, with its time.
    std::optional<std::pair<TimePoint, Work>> take_next(TimePoint until) {
      const std::scoped_lock lock(mutex_);
      if (waiting_.empty() || waiting_.begin()->first.first > until) return std::nullopt;
      const auto next = waiting_.begin();
      std::pair<TimePoint, Work> taken(next->first.first, std::move(next->second));
      waiting_.erase(next);
      return taken;
    }
    void clear() {
      std::map<Key, Work> gone;
      const std::scoped_lock lock(mutex_);
      gone.swap(waiting_);
    }
    [[nodiscard]] std::size_t size() const {
      const std::scoped_lock lock(mutex_);
      return waiting_.size();
    }

   private:
    mutable std::mutex mutex_;
    std::map<Key, Work> waiting_;
  };

  class VirtualTimer final : public Timer {
   public:
    explicit VirtualTimer(std::shared_ptr<Timers> timers) : timers_(std::move(timers)) {}
    VirtualTimer(const VirtualTimer&) = delete;
    VirtualTimer& operator=(const VirtualTimer&) = delete;
    ~VirtualTimer() override { cancel(); }
    void start(TimePoint when, Work work) override {
      cancel();
      when_ = when;
      timers_->add({when, this}, std::move(work));
    }
    void cancel() override { timers_->erase({when_, this}); }

   private:
    std::shared_ptr<Timers> timers_;
    TimePoint when_{};
  };

  class VirtualWatch final : public Watch {
   public:
    VirtualWatch(VirtualLoop& loop, Work fail) : loop_(loop), fail_(std::move(fail)) {}
    void fail() const { fail_(); }
    VirtualWatch(const VirtualWatch&) = delete;
    VirtualWatch& operator=(const VirtualWatch&) = delete;
    ~VirtualWatch() override {
      loop_.readers_.erase(this);
      loop_.writers_.erase(this);
    }
    void wait_readable(Work work) override {
      EXPECT_FALSE(loop_.readers_.contains(this)) << "one wait at a time";
      loop_.readers_[this] = std::move(work);
    }
    void wait_writable(Work work) override {
      EXPECT_FALSE(loop_.writers_.contains(this)) << "one wait at a time";
      loop_.writers_[this] = std::move(work);
    }

   private:
    VirtualLoop& loop_;
    Work fail_;
  };

  std::atomic<TimePoint> now_;  ///< devices read it in their threads
  std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();
  using Waiting = std::map<const VirtualWatch*, Work>;
  static void run(const Waiting& waiting) {
    for (const auto& [watch, work] : waiting) work();
  }
  Waiting readers_;
  Waiting writers_;
  struct Posted {
    std::mutex mutex;
    std::vector<Work> works;
  };
  std::shared_ptr<Posted> posted_ = std::make_shared<Posted>();
};

/// The loop's time as a clock.
class LoopClock final : public TimeSource {
 public:
  explicit LoopClock(const VirtualLoop& loop) : loop_(loop) {}
  [[nodiscard]] TimePoint now() const noexcept override { return loop_.now(); }
  [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override { return slept; }
  std::chrono::nanoseconds slept{0};

 private:
  const VirtualLoop& loop_;
};

}  // namespace wattle::daemon
