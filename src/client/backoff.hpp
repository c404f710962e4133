// How long to wait before a connection is tried again.
#pragma once

#include <algorithm>
#include <chrono>

namespace wattle::client {

/// The first delay, then twice as long each time, up to 30 s; each 20 % longer or shorter by
/// chance, so that a thousand clients of a server that restarts do not come back at once. Threads:
/// one at a time.
class Backoff {
 public:
  static constexpr std::chrono::nanoseconds kLongest = std::chrono::seconds(30);

  explicit Backoff(std::chrono::nanoseconds first) : first_(first), next_(first) {}

  /// `chance`: from 0 up to 1.
  [[nodiscard]] std::chrono::nanoseconds next(double chance) noexcept {
    const std::chrono::nanoseconds delay = std::min(next_, kLongest);
    next_ = std::min(2 * delay, kLongest);
    const double factor = 0.8 + 0.4 * chance;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(factor * delay);
  }
  void reset() noexcept { next_ = first_; }

 private:
  std::chrono::nanoseconds first_;
  std::chrono::nanoseconds next_;
};

}  // namespace wattle::client
