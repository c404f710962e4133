// The tracking file: gpu_tracker's columns, a row a look.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// A cell of numbers; an empty one where it is not known.
using TrackingCell = std::optional<double>;

/// The names of the two tables' columns, in their order.
[[nodiscard]] std::string_view static_columns() noexcept;
[[nodiscard]] std::string_view sample_columns() noexcept;
/// "1.5,,3\n". Whole numbers have no point.
[[nodiscard]] std::string csv_line(const std::vector<TrackingCell>& cells);

}  // namespace wattle
