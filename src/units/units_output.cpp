// The figures of units of work as text.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/text_style.hpp"
#include "base/text/unknown.hpp"
#include "wattle/work_units.hpp"

namespace wattle {

namespace {

std::string text_of(const EnergyInterval& range) {
  return to_text(range.value) + " (" + to_text(range.low) + " to " + to_text(range.high) + ")";
}

std::string cell_of(const std::optional<EnergyInterval>& range) {
  return range ? text_of(*range) : std::string(kUnknownCell);
}

std::string value_cell(const std::optional<EnergyInterval>& range) {
  return range ? to_text(range->value) : std::string(kUnknownCell);
}

std::string name_of(const UnitTag& tag) {
  const std::string name = printable(tag.tag);
  return tag.phase.empty() ? name : "  " + printable(tag.phase);
}

std::string tags_text(const UnitsReport& report) {
  using enum Align;
  const bool has_work =
      std::ranges::any_of(report.tags, [](const UnitTag& t) { return t.work > 0.0; });
  TextTable table({left, right, left, right, right, left, left}, {}, 0);
  table.add({"tag", "units", "mean (95 %)", "median", "p99", "by regression (95 %)",
             has_work ? "per work (95 %)" : ""});
  for (const UnitTag& tag : report.tags) {
    table.add({name_of(tag), std::to_string(tag.count), cell_of(tag.mean), value_cell(tag.median),
               value_cell(tag.p99), tag.fitted ? text_of(*tag.fitted) : printable(tag.doubt),
               has_work ? cell_of(tag.per_work) : ""});
  }
  return table.text();
}

void add_tag_notes(const UnitTag& tag, std::string& text) {
  const std::string name =
      printable(tag.tag) + (tag.phase.empty() ? "" : ":" + printable(tag.phase));
  if (tag.is_short)
    text += name + ": shorter than the sensor shows; only the mean means something\n";
  if (tag.disagrees) {
    text += name + ": rule and regression disagree; units of other tags cost more or less\n";
  }
  if (tag.unknown > 0) {
    text += name + ": the energy of " + std::to_string(tag.unknown) +
            " units is unknown; the figures are without them\n";
  }
}

std::string domain_text(const UnitDomain& domain) {
  const UnitBalance& balance = domain.balance;
  std::string text = printable(domain.domain) + ": " + to_text(balance.measured) + " = units " +
                     to_text(balance.units + balance.running) + " + idle " + to_text(balance.idle) +
                     " + without units " + to_text(balance.without_units);
  if (balance.unknown > Seconds(0)) text += "; " + to_text(balance.unknown) + " unknown";
  text += '\n';
  const std::string name = printable(domain.domain) + ": ";
  if (domain.lag > Seconds(0)) text += name + "the sensor is late by " + to_text(domain.lag) + "\n";
  if (domain.has_idle_changed) text += name + "idle changed\n";
  if (domain.unexplained &&
      (domain.unexplained->low.si() > 0.0 || domain.unexplained->high.si() < 0.0)) {
    text += name + to_text(domain.unexplained->value) + " not explained by units (" +
            to_text(domain.unexplained->low) + " to " + to_text(domain.unexplained->high) + ")\n";
  }
  if (domain.is_curved && domain.slope) {
    text += name + "curved: one more unit adds " + to_text(*domain.slope);
    if (domain.share) text += ", each has " + to_text(*domain.share);
    text += '\n';
  }
  return text;
}

std::string contrast_line(const UnitContrast& contrast) {
  const std::string first = printable(contrast.first);
  const std::string second = printable(contrast.second);
  if (!contrast.ratio)
    return first + " and " + second + " cost differently per second and weight\n";
  std::array<char, 32> ratio{};
  std::snprintf(ratio.data(), ratio.size(), "%.3g", *contrast.ratio);
  return first + " costs " + ratio.data() + " times as much as " + second +
         " per second and weight\n";
}

std::string count_line(std::uint64_t count, std::string_view what) {
  return count == 0 ? std::string() : std::to_string(count) + " " + std::string(what) + "\n";
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const EnergyInterval& energy) {
  return out << text_of(energy);
}

std::ostream& operator<<(std::ostream& out, const UnitsReport& report) {
  std::string text = tags_text(report);
  for (const UnitTag& tag : report.tags) add_tag_notes(tag, text);
  for (const UnitContrast& contrast : report.contrasts) text += contrast_line(contrast);
  for (const UnitDomain& domain : report.domains) text += domain_text(domain);
  text += count_line(report.running, "units have not ended");
  text += count_line(report.waiting, "units wait for readings");
  text += count_line(report.ended_twice, "times a unit was ended a second time: ignored");
  text += count_line(report.refused, "units were not counted: too many at a time, or no memory");
  text += count_line(report.beyond_tags, "times a tag did not fit in and was counted as \"other\"");
  return out << text;
}

}  // namespace wattle
