// The text output of `wattle power` and `wattle energy`: columns that fit the terminal.
#pragma once

#include <optional>
#include <string>

#include "base/text/quantity.hpp"
#include "base/text/text_style.hpp"
#include "watch/power_lines.hpp"
#include "watch/power_options.hpp"

namespace wattle::app {

/// The devices that a reader would add up, those that are known.
struct PowerTotal {
  MeasuredEnergy energy;
  std::optional<Uncertain> power{};  ///< the sum of the mean powers, whose gaps differ
  bool is_lower_bound = false;       ///< a device, or a part of the time of one, is not in it
};
/// Absent where there is one device, or devices that cannot be added up.
[[nodiscard]] std::optional<PowerTotal> total_of(const PowerOptions& options,
                                                 const PowerLine& line);

/// The columns' names: time, the total where devices can be added up, each device; below them the
/// quantities, if one is unusual. Columns for which the terminal has no room go to lines below.
[[nodiscard]] std::string power_header(const PowerOptions& options, const PowerLine& first,
                                       const TextStyle& style);
/// The values below these names.
[[nodiscard]] std::string power_row(const PowerOptions& options, const PowerLine& line,
                                    const TextStyle& style);
/// A table that is redrawn on a terminal: a row for each device, the total last. At most `height`
/// lines, none wider than the style.
[[nodiscard]] std::string power_table(const PowerOptions& options, const PowerLine& line,
                                      const TextStyle& style, std::size_t height);
/// The end: energy and mean power of each device, other ways to it, the total.
[[nodiscard]] std::string power_totals(const PowerOptions& options, const PowerLine& total,
                                       const TextStyle& style);

}  // namespace wattle::app
