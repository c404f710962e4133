// Threads whose CPU time a test writes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "units/thread_clock.hpp"

namespace wattle::fakes {

/// Threads: one at a time.
class PlayedThreads final : public detail::ThreadClock {
 public:
  /// The thread that calls from now on; 0: its clock cannot be read.
  void run(std::int32_t thread) noexcept { here_ = thread; }
  /// It has used so much more CPU time.
  void compute(std::int32_t thread, std::chrono::nanoseconds time) { used_[thread] += time; }
  void end(std::int32_t thread) { used_.erase(thread); }

  [[nodiscard]] detail::ThreadTime here() const noexcept override { return of(here_); }
  [[nodiscard]] std::int64_t used_ns(std::int32_t thread) const noexcept override {
    const auto found = used_.find(thread);
    return found != used_.end() ? found->second.count() : -1;
  }
  [[nodiscard]] detail::ThreadTime of(std::int32_t thread) const noexcept {
    const std::int64_t used = used_ns(thread);
    return used < 0 ? detail::ThreadTime{} : detail::ThreadTime{.thread = thread, .used_ns = used};
  }

 private:
  std::map<std::int32_t, std::chrono::nanoseconds> used_;
  std::int32_t here_ = 0;
};

}  // namespace wattle::fakes
