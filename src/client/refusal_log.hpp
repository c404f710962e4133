// Logs invalid data from a daemon, at a limited rate.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "wattle/clock.hpp"

namespace wattle::client {

/// Logs the first refusal, then at most once per minute their number. Not thread-safe.
class RefusalLog {
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
