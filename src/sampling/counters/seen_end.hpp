// The end of a window whose counter was read on after it, until it was renewed.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "sampling/history.hpp"

namespace wattle {

/// How a counter went on after an end of a window. It shows the energy up to its last update, so a
/// reading at the end lacks what was spent since then, whatever that was. The next update has it,
/// and what was spent from the end to that update, at the power of the updates after it:
///
///   E(end) = E(update) - P_after (t_update - t_end)
struct SeenEnd {
  Joules unseen{};    ///< to be added: spent before the end, since the update that was shown
  Watts power_after;  ///< mean, from the first update after the end to the last one that was seen
  std::chrono::nanoseconds bracket{0};   ///< between the two readings around the first update
  std::chrono::nanoseconds interval{0};  ///< the mean time between the updates that were seen

  /// Updates after an end that are enough, and those that are worth waiting for.
  static constexpr std::size_t kFewest = 2;
  static constexpr std::size_t kUpdates = 4;
};

/// `last`: what the counter showed at the end, read directly. Absent where it was not read often
/// enough after that, or not until it was renewed twice, or where it lost track.
[[nodiscard]] std::optional<SeenEnd> seen_end(const History& history, const Boundary& last);

}  // namespace wattle
