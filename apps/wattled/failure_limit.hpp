// How often a peer may fail to authenticate.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "wattle/clock.hpp"

namespace wattle::daemon {

/// Unless the administrator says otherwise.
inline constexpr std::uint32_t kFailuresPerClient = 20;

/// A budget of failures for each peer: `burst` at once, one more each `kRefill`. Who has a good
/// token is never locked out: only failures are counted, and past the budget they are answered with
/// 429 and not logged. Threads: the caller's own.
class FailureLimit {
 public:
  static constexpr std::chrono::seconds kRefill{1};
  /// Peers remembered; past it, the one whose budget is the first to be whole again is forgotten.
  static constexpr std::size_t kMaxPeers = 1024;

  explicit FailureLimit(std::uint32_t burst) : burst_(burst) {}

  /// Counts a failure of `peer` (an address, a user of the socket). True: within its budget, answer
  /// and log as usual. False: answer 429, log nothing.
  [[nodiscard]] bool admit(std::string_view peer, TimePoint now);

  /// Failures that were not admitted since this was last asked: for one line of the log.
  [[nodiscard]] std::uint64_t take_suppressed() noexcept;

 private:
  void forget_one();

  std::uint32_t burst_;
  /// When each peer's budget is whole again: lies further ahead with each failure.
  std::map<std::string, TimePoint, std::less<>> spent_until_;
  std::uint64_t suppressed_ = 0;
};

}  // namespace wattle::daemon
