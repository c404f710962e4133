// The texts of a report of units: the same in a terminal and in a browser. All texts are printable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text_style.hpp"
#include "wattle/work_units.hpp"

namespace wattle {

/// "request", "request:decode"
[[nodiscard]] std::string name_of(std::string_view tag, std::string_view phase);
[[nodiscard]] inline std::string name_of(const UnitTag& tag) { return name_of(tag.tag, tag.phase); }
/// "12.50 J (12.10 J to 12.90 J)"
[[nodiscard]] std::string interval_text(const EnergyInterval& range);
/// The same in a cell of a table, where it may be unknown.
[[nodiscard]] std::string interval_cell(const std::optional<EnergyInterval>& range);
/// The measured energy of a domain, with its ± where that is known: "330.0 J ±1.2 J".
[[nodiscard]] std::string measured_text(const UnitBalance& balance);
/// Remarks on the figures.
[[nodiscard]] std::vector<std::string> remarks_on(const UnitTag& tag);
[[nodiscard]] std::vector<std::string> remarks_on(const UnitDomain& domain);
/// Tags that cost differently, and units that are in no figure.
[[nodiscard]] std::vector<std::string> notes_on(const UnitsReport& report);

/// A table of the tags, a line for each domain, and what is in doubt: indented and wrapped, each
/// line with its end.
[[nodiscard]] std::string to_text(const UnitsReport& report, const TextStyle& style);

}  // namespace wattle
