// Counts clients that were turned away because a limit was reached, and logs them rarely.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wattle/clock.hpp"

namespace wattle::daemon {

enum class TurnedAway : std::uint8_t {
  full,    ///< all places are taken: 503
  client,  ///< its address or user has too many connections: 429
  token,   ///< its token has too many streams: 429
  unread,  ///< it did not read its answer: cut
};
inline constexpr std::array kTurnedAway = {TurnedAway::full, TurnedAway::client, TurnedAway::token,
                                           TurnedAway::unread};
/// As in a metric: "full", "client", "token", "unread".
[[nodiscard]] std::string_view name_of(TurnedAway reason) noexcept;

/// Not thread-safe.
class TurnedAwayCounts {
 public:
  static constexpr std::chrono::seconds kBetweenLines{10};

  void count(TurnedAway reason) noexcept;
  [[nodiscard]] std::uint64_t operator[](TurnedAway reason) const noexcept {
    return counts_.at(static_cast<std::size_t>(reason));
  }
  /// A line for the log; absent: nothing new, or the last line is less than `kBetweenLines` old.
  [[nodiscard]] std::optional<std::string> news(TimePoint now);

 private:
  using Counts = std::array<std::uint64_t, kTurnedAway.size()>;
  Counts counts_{};
  Counts reported_{};
  std::optional<TimePoint> reported_at_;
};

}  // namespace wattle::daemon
