// Calls that may never return, each in a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/worker.hpp"

namespace wattle {

/// When a call that has not returned is given up.
enum class Patience : std::uint8_t {
  fixed,    ///< this time after its start
  renewed,  ///< this time after its last sign of life: that it asked whether its result still
            ///< counts
};

/// The results of calls as they come. Threads: any.
template <class T>
class CallResults {
 public:
  explicit CallResults(std::size_t count) : results_(count), missing_(count) {}

  /// Absent: the call failed. A result that nobody waits for any more is dropped.
  void add(std::size_t place, std::optional<T> result) {
    const std::scoped_lock lock(mutex_);
    if (abandoned_) return;
    results_[place] = std::move(result);
    --missing_;
    changed_.notify_all();
  }
  [[nodiscard]] bool are_awaited() {
    const std::scoped_lock lock(mutex_);
    ++signs_;
    return !abandoned_;
  }
  [[nodiscard]] std::vector<std::optional<T>> wait(std::chrono::nanoseconds length,
                                                   Patience patience) {
    std::unique_lock lock(mutex_);
    const auto until_all_are_there = [&] { return missing_ == 0; };
    std::uint64_t seen = signs_;
    while (!changed_.wait_for(lock, length, until_all_are_there)) {
      const std::uint64_t before = std::exchange(seen, signs_);
      if (patience == Patience::fixed || seen == before) break;
    }
    abandoned_ = true;
    return std::move(results_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<T>> results_;
  std::size_t missing_;
  std::uint64_t signs_ = 0;  ///< of life
  bool abandoned_ = false;
};

/// Calls 0 to `count` - 1 at the same time, and returns the results as soon as all are there or the
/// patience is over; what throws has none. A call that has not returned is abandoned: `call` owns
/// what it touches. If no thread can be started, the caller's does the work.
/// `call(place, is_awaited)`: the second is true while the result still counts.
template <class T, class Call>
[[nodiscard]] std::vector<std::optional<T>> call_with_deadline(
    std::size_t count, std::chrono::nanoseconds length, const Call& call,
    Patience patience = Patience::fixed) {
  const auto results = std::make_shared<CallResults<T>>(count);
  std::vector<Worker> workers(count);
  for (std::size_t place = 0; place < count; ++place) {
    const Worker::Job job = [results, place, call] {
      std::optional<T> result;
      try {
        result = call(place, [&] { return results->are_awaited(); });
      } catch (const std::exception&) {
        // Out of memory: it cannot be reported.
      }
      results->add(place, std::move(result));
    };
    if (!workers[place].add(job)) job();
  }
  return results->wait(length, patience);
}

}  // namespace wattle
