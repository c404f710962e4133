// The texts of a report: the same in a terminal and in a browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace wattle {

inline constexpr std::string_view kUncertaintyNote =
    "± is the sampling error only; the sensors' own error is unknown";
/// The meaning of ±, and the known errors of the sensors.
[[nodiscard]] std::string uncertainty_note(const EnergyReport& energy);

/// The total, or why there is none.
[[nodiscard]] std::string headline_of(const Report& report);
/// Lines: the parts of the total, and those it lacks.
[[nodiscard]] std::vector<std::string> coverage_of(const Total& total);
/// A cell of a table: "-" where nothing is known.
[[nodiscard]] std::string energy_text(const EnergyFigure& figure);
/// No digit that the energy's uncertainty does not support; "-" where it is absent.
[[nodiscard]] std::string power_text(const EnergyFigure& figure, const std::optional<Watts>& power);
/// The same of the highest power, by the uncertainty of its interval.
[[nodiscard]] std::string peak_text(const EnergyFigure& figure);
/// Remarks on a domain's numbers; empty if there are none.
[[nodiscard]] std::string remarks_on(const DomainFigure& domain);

/// A row of the table of domains: a domain, GPUs that are alike, or the total.
struct DomainRow {
  std::string name;
  std::string energy;
  std::string mean;
  std::string peak;
  std::string remarks;
};
/// The total comes last, where several domains add up to it.
[[nodiscard]] std::vector<DomainRow> domain_rows(const Report& report, Detail detail);

/// The command, its time, and what it used: name and text.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(
    const Report& report, Detail detail = Detail::all);

}  // namespace wattle
