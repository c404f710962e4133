// The figures of units of work as text.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/text_style.hpp"
#include "base/text/unknown.hpp"
#include "units/units_words.hpp"
#include "wattle/work_units.hpp"

namespace wattle {

namespace {

std::string value_cell(const std::optional<EnergyInterval>& range) {
  return range ? to_text(range->value) : std::string(kUnknownCell);
}

std::string indented_name(const UnitTag& tag) {
  return tag.phase.empty() ? printable(tag.tag) : "  " + printable(tag.phase);
}

std::string tags_text(const UnitsReport& report) {
  using enum Align;
  const bool has_work =
      std::ranges::any_of(report.tags, [](const UnitTag& t) { return t.work > 0.0; });
  TextTable table({left, right, left, right, right, left, left}, {}, 0);
  table.add({"tag", "units", "mean (95 %)", "median", "p99", "by regression (95 %)",
             has_work ? "per work (95 %)" : ""});
  for (const UnitTag& tag : report.tags) {
    table.add({indented_name(tag), std::to_string(tag.count), interval_cell(tag.mean),
               value_cell(tag.median), value_cell(tag.p99),
               tag.fitted ? interval_text(*tag.fitted) : printable(tag.doubt),
               has_work ? interval_cell(tag.per_work) : ""});
  }
  return table.text();
}

std::string domain_line(const UnitDomain& domain) {
  const UnitBalance& balance = domain.balance;
  const std::string doubts = flags_text(doubts_of(balance.flags), ", ");
  std::string text = printable(domain.domain) + ": " + measured_text(balance) +
                     (doubts.empty() ? "" : " (" + doubts + ")") + " = units " +
                     to_text(balance.units + balance.running) + " + idle " + to_text(balance.idle) +
                     " + without units " + to_text(balance.without_units);
  if (balance.unknown > Seconds(0)) text += "; " + to_text(balance.unknown) + " unknown";
  return text + "\n";
}

std::string contrast_line(const UnitContrast& contrast) {
  const std::string first = printable(contrast.first);
  const std::string second = printable(contrast.second);
  if (!contrast.ratio) return first + " and " + second + " cost differently per second and weight";
  std::array<char, 32> ratio{};
  std::snprintf(ratio.data(), ratio.size(), "%.3g", *contrast.ratio);
  return first + " costs " + ratio.data() + " times as much as " + second +
         " per second and weight";
}

}  // namespace

std::string measured_text(const UnitBalance& balance) {
  return balance.uncertainty ? to_text(balance.measured, *balance.uncertainty)
                             : to_text(balance.measured);
}

std::string name_of(std::string_view tag, std::string_view phase) {
  return phase.empty() ? printable(tag) : printable(tag) + ":" + printable(phase);
}

std::vector<std::string> remarks_on(const UnitTag& tag) {
  std::vector<std::string> remarks;
  if (tag.is_short) {
    remarks.emplace_back("shorter than the sensor shows; only the mean means something");
  }
  if (tag.disagrees) {
    remarks.emplace_back("rule and regression disagree; units of other tags cost more or less");
  }
  if (tag.unknown > 0) {
    remarks.push_back("the energy of " + std::to_string(tag.unknown) +
                      " units is unknown; the figures are without them");
  }
  return remarks;
}

std::vector<std::string> remarks_on(const UnitDomain& domain) {
  std::vector<std::string> remarks;
  if (domain.lag > Seconds(0)) remarks.push_back("the sensor is late by " + to_text(domain.lag));
  if (domain.has_idle_changed) remarks.emplace_back("idle changed");
  if (domain.unexplained &&
      (domain.unexplained->low.si() > 0.0 || domain.unexplained->high.si() < 0.0)) {
    remarks.push_back(to_text(domain.unexplained->value) + " not explained by units (" +
                      to_text(domain.unexplained->low) + " to " +
                      to_text(domain.unexplained->high) + ")");
  }
  if (domain.is_curved && domain.slope) {
    std::string text = "curved: one more unit adds " + to_text(*domain.slope);
    if (domain.share) text += ", each has " + to_text(*domain.share);
    remarks.push_back(std::move(text));
  }
  return remarks;
}

std::vector<std::string> notes_on(const UnitsReport& report) {
  std::vector<std::string> notes;
  notes.reserve(report.contrasts.size());
  for (const UnitContrast& contrast : report.contrasts) notes.push_back(contrast_line(contrast));
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) notes.push_back(std::to_string(count) + " " + what);
  };
  add(report.running, "units have not ended");
  add(report.waiting, "units wait for readings");
  add(report.ended_twice, "times a unit was ended a second time: ignored");
  add(report.refused, "units were not counted: too many at a time, or no memory");
  add(report.beyond_tags, "times a tag did not fit in and was counted as \"other\"");
  return notes;
}

std::string interval_text(const EnergyInterval& range) {
  return to_text(range.value) + " (" + to_text(range.low) + " to " + to_text(range.high) + ")";
}

std::string interval_cell(const std::optional<EnergyInterval>& range) {
  return range ? interval_text(*range) : std::string(kUnknownCell);
}

std::string to_text(const UnitsReport& report, const TextStyle& style) {
  std::ostringstream lines;
  lines << report;
  std::string text;
  for (std::string_view rest = lines.view(); !rest.empty();) {
    text += wrapped("  " + std::string(take_line(rest)) + "\n", style, 4);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const EnergyInterval& energy) {
  return out << interval_text(energy);
}

std::ostream& operator<<(std::ostream& out, const UnitsReport& report) {
  std::string text = tags_text(report);
  for (const UnitTag& tag : report.tags) {
    for (const std::string& remark : remarks_on(tag)) text += name_of(tag) + ": " + remark + "\n";
  }
  for (const UnitDomain& domain : report.domains) {
    text += domain_line(domain);
    for (const std::string& remark : remarks_on(domain)) {
      text += printable(domain.domain) + ": " + remark + "\n";
    }
  }
  for (const std::string& note : notes_on(report)) text += note + "\n";
  return out << text;
}

}  // namespace wattle
