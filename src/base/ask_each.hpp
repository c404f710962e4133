// Questions that may never be answered, each asked in a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/thread.hpp"

namespace wattle {

/// Answers as they come. Threads: any.
template <class T>
class Answers {
 public:
  explicit Answers(std::size_t count) : answers_(count), missing_(count) {}

  /// Absent: there will be none. One that nobody waits for any more is dropped.
  void add(std::size_t place, std::optional<T> answer) {
    const std::scoped_lock lock(mutex_);
    if (abandoned_) return;
    answers_[place] = std::move(answer);
    --missing_;
    changed_.notify_all();
  }
  [[nodiscard]] bool are_awaited() const {
    const std::scoped_lock lock(mutex_);
    return !abandoned_;
  }
  [[nodiscard]] std::vector<std::optional<T>> wait(std::chrono::nanoseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [&] { return missing_ == 0; });
    abandoned_ = true;
    return std::move(answers_);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<T>> answers_;
  std::size_t missing_;
  bool abandoned_ = false;
};

/// Asks 0 to `count` - 1 at the same time, and gives what was answered until all were or `patience`
/// was over; what throws answers nothing. A thread that has not come back is left behind: `ask`
/// owns what it touches. Where there is no thread to be had, the caller's does the work.
/// `ask(place, is_awaited)`: the second tells whether an answer still counts.
template <class T, class Ask>
[[nodiscard]] std::vector<std::optional<T>> ask_each(std::size_t count,
                                                     std::chrono::nanoseconds patience,
                                                     const Ask& ask) {
  const auto answers = std::make_shared<Answers<T>>(count);
  for (std::size_t place = 0; place < count; ++place) {
    const std::function<void()> work = [answers, place, ask] {
      std::optional<T> answer;
      try {
        answer = ask(place, [&] { return answers->are_awaited(); });
      } catch (const std::exception&) {
        // Out of memory: nothing is left to tell it with.
      }
      answers->add(place, std::move(answer));
    };
    try {
      start_detached(work);
    } catch (const std::system_error&) {
      work();
    }
  }
  return answers->wait(patience);
}

}  // namespace wattle
