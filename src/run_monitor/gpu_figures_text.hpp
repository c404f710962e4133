// The table of GPUs of a summary.
#pragma once

#include <limits>
#include <string>

#include "base/text/quantity.hpp"
#include "base/text/text_style.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// A row for each GPU, and one for all. Where the terminal is too narrow for all columns, those
/// that are left follow in another table.
[[nodiscard]] std::string gpu_figures_text(const ResourceSummary& summary, const TextStyle& style);

/// "123 W": a mean has no digit that its energy does not support; but where the ± is about as large
/// as itself, it is what the JSON has. `limit`: of the ± that counts for the digits.
[[nodiscard]] std::string mean_power_text(const Uncertain& mean,
                                          double limit = std::numeric_limits<double>::infinity());

}  // namespace wattle
