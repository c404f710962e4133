// Counters that stop for a while, and then show at once all that was spent in it.
#pragma once

#include <optional>

#include "sampling/history.hpp"

namespace wattle {

/// What a counter that was read often shows at `time`, where it had not been renewed for longer
/// than it should: a line from the reading before its pause to the first one after it, whose length
/// is the `bracket`. Absent where `time` is in no pause, or the end of it was not seen.
///
/// A pause is longer than two of the counter's longest usual intervals and the readings around it.
/// It is looked for up to 100 usual intervals away.
[[nodiscard]] std::optional<Boundary> across_pause(const History& history, TimePoint time) noexcept;

}  // namespace wattle
