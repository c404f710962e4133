// A summary for people.
#pragma once

#include <string>

#include "base/text_style.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {

/// `ResourceSummary::to_text`, for a terminal.
[[nodiscard]] std::string summary_text(const ResourceSummary& summary, const TextStyle& style);

}  // namespace wattle
