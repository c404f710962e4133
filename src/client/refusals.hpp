// What is refused in a daemon's answers, told so that nobody drowns in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "wattle/clock.hpp"

namespace wattle::client {

/// Tells the log of the first refusal, and then once a minute at most of how many there were.
/// Threads: one at a time.
class Refusals {
 public:
  static constexpr std::chrono::seconds kPause{60};

  /// `whose`: "GPU stream of host:4938". `what`: what is refused, and why. `sample`: of the text.
  void note(TimePoint now, const std::string& whose, std::string_view what,
            std::string_view sample);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t reported_ = 0;
  TimePoint next_{};
};

}  // namespace wattle::client
