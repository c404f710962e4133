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
  [[nodiscard]] std::unique_ptr<Watch> watch(int /*fd*/) override { return nullptr; }
  [[nodiscard]] Poster poster() override {
    return [this](Work work) {
      const std::scoped_lock lock(mutex_);
      posted_.push_back(std::move(work));
    };
  }

  /// Does what was posted; true if there was anything.
  bool run_posted() {
    std::vector<Work> works;
    {
      const std::scoped_lock lock(mutex_);
      works.swap(posted_);
    }
    for (const Work& work : works) work();
    return !works.empty();
  }
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

  TimePoint now_ = TimePoint(std::chrono::hours(1));
  std::map<Key, Work> waiting_;
  std::mutex mutex_;
  std::vector<Work> posted_;
};

}  // namespace wattle::daemon
