// The table of GPUs of a summary.
#pragma once

#include <string>

#include "base/text/text_style.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// A row for each GPU, and one for all. Where the terminal is too narrow for all columns, those
/// that are left follow in another table.
[[nodiscard]] std::string gpu_figures_text(const ResourceSummary& summary, const TextStyle& style);

}  // namespace wattle
