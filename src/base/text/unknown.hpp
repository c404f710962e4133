// How outputs write an unknown value and a lower bound.
#pragma once

#include <string_view>

namespace wattle {

/// An unknown value in a sentence or after a label.
inline constexpr std::string_view kUnknown = "unknown";
/// An unknown value in a cell of a table.
inline constexpr std::string_view kUnknownCell = "-";
/// Before a value in a sentence: a part of it is unknown.
inline constexpr std::string_view kAtLeast = "at least ";
/// Before a value in a cell of a table: a part of it is unknown.
inline constexpr std::string_view kAtLeastCell = "≥";

}  // namespace wattle
