// A loop in virtual time: things happen when the test says so.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "loop.hpp"

namespace wattle::daemon {

/// Threads: one at a time, but for posts.
class VirtualLoop final : public Loop {
 public:
  [[nodiscard]] TimePoint now() const override { return now_; }
  [[nodiscard]] std::unique_ptr<Timer> make_timer() override {
    return std::make_unique<VirtualTimer>(*this);
  }
  [[nodiscard]] std::unique_ptr<Watch> watch(int /*fd*/) override {
    return std::make_unique<VirtualWatch>(*this);
  }
  [[nodiscard]] Poster poster() override {
    return [this](Work work) {
      const std::scoped_lock lock(mutex_);
      posted_.push_back(std::move(work));
    };
  }

  /// Does what was posted; how much that was.
  std::size_t run_posted() {
    std::vector<Work> works;
    {
      const std::scoped_lock lock(mutex_);
      works.swap(posted_);
    }
    for (const Work& work : works) work();
    return works.size();
  }
  /// Something can be read, or written: calls whoever waits for that.
  void run_readable() { run(std::exchange(readers_, {})); }
  void run_writable() { run(std::exchange(writers_, {})); }
  /// Timers go off on the way.
  void advance(std::chrono::nanoseconds step) {
    const TimePoint end = now_ + step;
    while (!waiting_.empty() && waiting_.begin()->first.first <= end) {
      const auto next = waiting_.begin();
      now_ = std::max(now_, next->first.first);
      const Work work = std::move(next->second);
      waiting_.erase(next);
      work();
    }
    now_ = end;
  }
  [[nodiscard]] std::size_t timers() const noexcept { return waiting_.size(); }

 private:
  using Key = std::pair<TimePoint, const Timer*>;

  class VirtualTimer final : public Timer {
   public:
    explicit VirtualTimer(VirtualLoop& loop) : loop_(loop) {}
    VirtualTimer(const VirtualTimer&) = delete;
    VirtualTimer& operator=(const VirtualTimer&) = delete;
    ~VirtualTimer() override { cancel(); }
    void start(TimePoint when, Work work) override {
      cancel();
      when_ = when;
      loop_.waiting_.emplace(Key{when, this}, std::move(work));
    }
    void cancel() override { loop_.waiting_.erase(Key{when_, this}); }

   private:
    VirtualLoop& loop_;
    TimePoint when_{};
  };

  class VirtualWatch final : public Watch {
   public:
    explicit VirtualWatch(VirtualLoop& loop) : loop_(loop) {}
    VirtualWatch(const VirtualWatch&) = delete;
    VirtualWatch& operator=(const VirtualWatch&) = delete;
    ~VirtualWatch() override {
      loop_.readers_.erase(this);
      loop_.writers_.erase(this);
    }
    void wait_readable(Work work) override { loop_.readers_[this] = std::move(work); }
    void wait_writable(Work work) override { loop_.writers_[this] = std::move(work); }

   private:
    VirtualLoop& loop_;
  };

  TimePoint now_ = TimePoint(std::chrono::hours(1));
  std::map<Key, Work> waiting_;
  using Waiting = std::map<const Watch*, Work>;
  static void run(const Waiting& waiting) {
    for (const auto& [watch, work] : waiting) work();
  }
  Waiting readers_;
  Waiting writers_;
  std::mutex mutex_;
  std::vector<Work> posted_;
};

}  // namespace wattle::daemon
