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

/// The default of `--max-failures-per-client`.
inline constexpr std::uint32_t kFailuresPerClient = 20;

/// A budget of failures for each peer: `burst` at once, plus one per `kRefill`. Only failures
/// count, so a client with a valid token is never locked out. Failures over the budget are answered
/// with 429 and not logged. Not thread-safe.
class FailureLimit {
 public:
  static constexpr std::chrono::seconds kRefill{1};
  /// Most peers in the table. When it is full, the peer whose budget is full again first is
  /// removed.
  static constexpr std::size_t kMaxPeers = 1024;

  explicit FailureLimit(std::uint32_t burst) : burst_(burst) {}

  /// Counts a failure of `peer` (an address, or a user of the socket). True: within the budget;
  /// answer and log as usual. False: answer 429, log nothing.
  [[nodiscard]] bool admit(std::string_view peer, TimePoint now);

  /// Failures over the budget since the last call: for one line of the log.
  [[nodiscard]] std::uint64_t take_suppressed() noexcept;

 private:
  void forget_one();

  std::uint32_t burst_;
  /// The time at which each peer's budget is full again; each failure moves it into the future.
  std::map<std::string, TimePoint, std::less<>> spent_until_;
  std::uint64_t suppressed_ = 0;
};

}  // namespace wattle::daemon
