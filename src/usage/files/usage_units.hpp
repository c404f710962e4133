// The units that usage can be reported in. All are decimal.
#pragma once

#include <optional>
#include <string_view>

#include "wattle/tracker.hpp"

namespace wattle {

/// Bytes in one "gigabytes". A number of bytes is divided by it: multiplied by its inverse it would
/// get digits that it does not have. Throws `InvalidArgument`, which lists the units; `what`:
/// "RAM", "GPU RAM".
[[nodiscard]] double bytes_in(std::string_view unit, std::string_view what);
/// Seconds in one "hours". Throws likewise.
[[nodiscard]] double seconds_in(std::string_view unit);

/// Percentages of `units` (CPU cores, GPUs) together, and of each on average; absent or 0: unknown.
[[nodiscard]] ProcessingUnitPercentages percentages_of(std::optional<double> max_sum,
                                                       std::optional<double> mean_sum,
                                                       std::optional<unsigned> units) noexcept;

}  // namespace wattle
