#include "report/html/unit_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "units/units_words.hpp"

namespace wattle::html {
namespace {

// The page stays small and readable, however many tags there are.
constexpr std::size_t kMostTagRows = 300;
constexpr std::size_t kMostNotes = 40;
constexpr std::size_t kMostDottedTags = 16;
constexpr std::size_t kMostUnitCurves = 6;
/// Dots of a tag: each has as many units as the others.
constexpr std::size_t kUnitDots = 50;

std::string unit_cell(const std::optional<EnergyInterval>& range) {
  return range ? to_text(range->value) : std::string(kUnknownCell);
}

/// A unit of energy in which the values of a plot have few digits.
struct EnergyScale {
  std::string_view name = "J";
  double joules = 1.0;
};

EnergyScale energy_scale_for(double most) {
  constexpr std::array<EnergyScale, 5> kScales = {
      EnergyScale{"MJ", 1e6}, {"kJ", 1e3}, {"J", 1.0}, {"mJ", 1e-3}, {"µJ", 1e-6}};
  const auto* const found =
      std::ranges::find_if(kScales, [&](const EnergyScale& scale) { return most >= scale.joules; });
  return found != kScales.end() ? *found : EnergyScale{};
}

/// Tags with whole units whose energy is known.
std::vector<const UnitTag*> tags_with_units(const UnitsReport& report) {
  std::vector<const UnitTag*> tags;
  for (const UnitTag& tag : report.tags) {
    if (tag.phase.empty() && tag.count > 0 && tag.mean) tags.push_back(&tag);
  }
  return tags;
}

/// The energy of the unit at `place` when all stand in the order of their energies. Units of a
/// bucket are taken as evenly spread.
double energy_at(const UnitDistribution& found, double place) {
  double rest = place - static_cast<double>(found.none);
  if (rest <= 0.0) return 0.0;
  double low = found.from.si();
  for (const std::uint64_t bucket : found.counts) {
    const auto count = static_cast<double>(bucket);
    if (rest <= count) return low * std::pow(found.ratio, rest / count);
    rest -= count;
    low *= found.ratio;
  }
  return low;
}

/// Divides the units into equal parts: the energy in the middle of each.
std::vector<double> energies_of(const UnitDistribution& found) {
  auto units = static_cast<double>(found.none);
  for (const std::uint64_t count : found.counts) units += static_cast<double>(count);
  const auto dots = static_cast<std::size_t>(std::min<double>(kUnitDots, units));
  std::vector<double> energies;
  for (std::size_t i = 0; i < dots; ++i) {
    energies.push_back(
        energy_at(found, (static_cast<double>(i) + 0.5) / static_cast<double>(dots) * units));
  }
  return energies;
}

DotPlot distribution_plot(const std::vector<const UnitTag*>& tags) {
  std::vector<std::vector<double>> energies;
  double most = 0.0;
  for (const UnitTag* const tag : tags) {
    energies.push_back(energies_of(tag->distribution));
    most = std::max(
        {most, energies.back().empty() ? 0.0 : energies.back().back(), tag->mean->value.si()});
  }
  const EnergyScale scale = energy_scale_for(most);
  const auto scaled = [&](Joules energy) { return energy.si() / scale.joules; };
  DotPlot plot{.name = "Energy per unit", .unit = std::string(scale.name)};
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const UnitTag& tag = *tags[i];
    for (double& energy : energies[i]) energy /= scale.joules;
    plot.rows.push_back({.name = name_of(tag),
                         .text = "mean " + to_text(tag.mean->value),
                         .dots = std::move(energies[i]),
                         .mark = scaled(tag.mean->value),
                         .interval = std::pair(scaled(tag.mean->low), scaled(tag.mean->high))});
  }
  plot.summary = fmt::format(
      "Each dot stands for an equal part of the units of its tag, at most {} dots a tag. Mark and "
      "box: the mean and its 95 % interval.",
      kUnitDots);
  return plot;
}

/// Absent where no tag has two groups.
std::optional<CurvePlot> group_plot(const std::vector<const UnitTag*>& tags,
                                    std::vector<UnitGroup> UnitTag::*groups, CurvePlot plot) {
  std::vector<const UnitTag*> drawn;
  double most = 0.0;
  for (const UnitTag* const tag : tags) {
    if ((tag->*groups).size() < 2 || drawn.size() == kMostUnitCurves) continue;
    drawn.push_back(tag);
    for (const UnitGroup& group : tag->*groups) most = std::max(most, group.mean.si());
  }
  if (drawn.empty()) return std::nullopt;
  const EnergyScale scale = energy_scale_for(most);
  plot.unit = scale.name;
  for (const UnitTag* const tag : drawn) {
    CurvePlot::Curve curve{.name = name_of(*tag), .points = {}};
    for (const UnitGroup& group : tag->*groups) {
      curve.points.push_back(
          {.x = group.number, .y = std::max(group.mean.si(), 0.0) / scale.joules});
    }
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

void add_unit_plots(std::vector<Block>& blocks, const UnitsReport& report) {
  std::vector<const UnitTag*> tags = tags_with_units(report);
  if (tags.empty()) return;
  Plots plots;
  auto by_running = group_plot(
      tags, &UnitTag::by_running,
      {.name = "Energy per unit over load",
       .x_name = "units at a time",
       .summary = "Mean by how many units ran when each started, in groups of a factor of 2."});
  auto by_work =
      group_plot(tags, &UnitTag::by_work,
                 {.name = "Energy per unit over work",
                  .x_name = "work of a unit",
                  .summary = "Mean by the work of each unit, in groups of a factor of 2."});
  const std::size_t left_out = tags.size() - std::min(tags.size(), kMostDottedTags);
  tags.resize(tags.size() - left_out);
  plots.plots.emplace_back(distribution_plot(tags));
  if (by_running) plots.plots.emplace_back(*std::move(by_running));
  if (by_work) plots.plots.emplace_back(*std::move(by_work));
  blocks.emplace_back(std::move(plots));
  if (left_out > 0) blocks.emplace_back(Note{fmt::format("{} more tags are not drawn.", left_out)});
}

void add_tags(std::vector<Block>& blocks, const UnitsReport& report) {
  Table table{.caption = "Energy per unit by tag",
              .columns = {{"tag"},
                          {"units", true},
                          {"mean time", true},
                          {"mean (95 %)", true},
                          {"median", true},
                          {"p95", true},
                          {"p99", true},
                          {"per work (95 %)", true},
                          {"by regression (95 %)", true},
                          {"remarks"}}};
  for (const UnitTag& tag : report.tags) {
    if (table.rows.size() == kMostTagRows) break;
    table.rows.push_back({name_of(tag), fmt::format("{}", tag.count), to_text(tag.mean_time),
                          interval_cell(tag.mean), unit_cell(tag.median), unit_cell(tag.p95),
                          unit_cell(tag.p99), interval_cell(tag.per_work),
                          tag.fitted ? interval_text(*tag.fitted) : printable(tag.doubt),
                          joined(remarks_on(tag), "; ")});
  }
  const std::size_t left_out = report.tags.size() - table.rows.size();
  blocks.emplace_back(std::move(table));
  if (left_out > 0) {
    blocks.emplace_back(
        Note{fmt::format("{} more tags and phases are not in the table.", left_out)});
  }
}

void add_unit_domains(std::vector<Block>& blocks, const std::vector<UnitDomain>& domains) {
  if (domains.empty()) return;
  Table table{.caption = "Where the energy of each domain went",
              .columns = {{"domain"},
                          {"measured ± (95 %)", true},
                          {"flags"},
                          {"units", true},
                          {"idle", true},
                          {"without units", true},
                          {"unknown time", true},
                          {"remarks"}}};
  for (const UnitDomain& domain : domains) {
    const UnitBalance& balance = domain.balance;
    table.rows.push_back({printable(domain.domain), measured_text(balance),
                          flags_text(doubts_of(balance.flags), ", "),
                          to_text(balance.units + balance.running), to_text(balance.idle),
                          to_text(balance.without_units), to_text(balance.unknown),
                          joined(remarks_on(domain), "; ")});
  }
  blocks.emplace_back(std::move(table));
}

}  // namespace

std::vector<Block> unit_blocks(const UnitsReport& report) {
  std::vector<Block> blocks;
  blocks.emplace_back(Heading{"Units of work"});
  blocks.emplace_back(Note{
      "The energy of a unit is its share of the power while it ran, by its weight. All shares, "
      "idle energy and time without units add up to what was measured."});
  add_tags(blocks, report);
  add_unit_plots(blocks, report);
  add_unit_domains(blocks, report.domains);
  std::vector<std::string> notes = notes_on(report);
  if (notes.size() > kMostNotes) notes.resize(kMostNotes);
  Lines lines;
  for (std::string& note : notes) lines.lines.push_back({std::move(note)});
  if (!lines.lines.empty()) blocks.emplace_back(std::move(lines));
  return blocks;
}

}  // namespace wattle::html
