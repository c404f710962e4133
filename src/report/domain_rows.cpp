// The table of domains of a report: a row for a domain, for GPUs that are alike, for the total.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "base/numbers/known_sum.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/gpu_groups.hpp"
#include "report/report.hpp"
#include "report/words.hpp"
#include "sampling/energy_sum.hpp"

namespace wattle {
namespace {

std::vector<std::string> flag_names(Flags flags) {
  std::vector<std::string> names;
  flags.each([&](std::string_view name) { names.emplace_back(name); });
  return names;
}

/// All but the unknown time, which differs from GPU to GPU.
std::vector<std::string> properties_of(const DomainFigure& domain) {
  std::vector<std::string> parts;
  const double seen = domain.figure.coverage.value_or(1.0);
  if (misses_time(seen)) parts.push_back(fmt::format("sees {:.0f} % of the time", seen * 100.0));
  if (domain.figure.flags.has(Flag::coverage_unknown)) {
    parts.emplace_back("sees an unknown part of the time");
  }
  std::ranges::move(flag_names(domain.figure.flags), std::back_inserter(parts));
  return parts;
}

/// The part of a group that something is true of: "" for all.
std::string of_all(std::size_t count, std::size_t all) {
  return count == all ? "" : fmt::format(" ({} of {})", count, all);
}

/// "36.0 to 38.1 kJ", to a hundredth.
std::string energies_text(Joules low, Joules high) {
  const auto text = [](Joules energy) { return rounded_text(energy, energy * 0.01); };
  std::string from = text(low);
  std::string to = text(high);
  if (from == to) return to;
  const std::size_t unit = from.find(' ');
  if (unit != std::string::npos && to.ends_with(from.substr(unit))) from.resize(unit);
  return from + " to " + to;
}

std::string remarks_on_group(const std::vector<const DomainFigure*>& gpus) {
  std::vector<std::string> parts;
  std::vector<std::string> seen;
  std::vector<Joules> energies;
  Seconds unknown{0};
  std::size_t lacking = 0;
  for (const DomainFigure* gpu : gpus) {
    if (gpu->figure.energy) energies.push_back(*gpu->figure.energy);
    unknown = std::max(unknown, gpu->figure.unknown);
    if (gpu->figure.unknown > Seconds(0)) ++lacking;
    std::ranges::move(properties_of(*gpu), std::back_inserter(seen));
  }
  if (energies.size() > 1) {
    const auto [low, high] = std::ranges::minmax(energies);
    parts.push_back("each " + energies_text(low, high) + of_all(energies.size(), gpus.size()));
  }
  if (lacking > 0) {
    parts.push_back(fmt::format("{}{} unknown{}", lacking > 1 ? "up to " : "", to_text(unknown),
                                of_all(lacking, gpus.size())));
  }
  for (auto property = seen.begin(); property != seen.end(); ++property) {
    if (std::find(seen.begin(), property, *property) != property) continue;
    const auto count = static_cast<std::size_t>(std::ranges::count(seen, *property));
    parts.push_back(*property + of_all(count, gpus.size()));
  }
  return joined(parts, ", ");
}

/// The sum of GPUs that are alike; there is no peak of a sum.
DomainRow group_row(const std::vector<const DomainFigure*>& gpus) {
  EnergySum sum(Seconds(0));
  KnownSum<Watts> mean;
  EnergyFigure figure;
  bool is_bound = false;
  std::vector<Domain> domains;
  for (const DomainFigure* gpu : gpus) {
    domains.push_back(gpu->domain);
    sum.add(gpu->figure.measured());
    mean.add(gpu->figure.mean);
    figure.known = std::max(figure.known, gpu->figure.known);
    is_bound = is_bound || !gpu->figure.energy || gpu->figure.unknown > Seconds(0);
  }
  const MeasuredEnergy known = sum.result();
  figure.energy = known.energy;
  figure.uncertainty = known.uncertainty;
  const std::string bound(known.energy && is_bound ? kAtLeastCell : "");
  return {.name = names_of(domains),
          .energy = bound + energy_text(figure),
          .mean = power_text(figure, mean.value()),
          .peak = std::string(kUnknownCell),
          .remarks = remarks_on_group(gpus)};
}

DomainRow total_row(const Report& report) {
  const Total& total = report.energy.total;
  const bool has_time = total.mean && report.wall > Seconds(0);
  return {.name = "total",
          .energy = std::string(is_lower_bound(total) ? kAtLeastCell : "") +
                    to_text(*total.energy, total.uncertainty),
          .mean = has_time ? rounded_text(*total.mean, total.uncertainty / report.wall)
                           : std::string(kUnknownCell),
          .peak = std::string(kUnknownCell),
          .remarks = flags_text(doubts_of(total.flags), ", ")};
}

}  // namespace

std::vector<DomainRow> domain_rows(const Report& report, Detail detail) {
  const std::vector<GpuGroup> groups = gpu_groups(report, detail);
  std::vector<DomainRow> rows;
  std::vector<const GpuGroup*> shown;
  std::size_t added = 0;
  for (const DomainFigure& domain : report.energy.domains) {
    const EnergyFigure& figure = domain.figure;
    if (counts_in_total(domain.domain.kind()) && figure.energy) ++added;
    const GpuGroup* group = group_of(groups, domain.domain);
    if (group == nullptr || group->size() == 1) {
      rows.push_back({domain.domain.name(), energy_text(figure), power_text(figure, figure.mean),
                      peak_text(figure), remarks_on(domain)});
    } else if (std::ranges::find(shown, group) == shown.end()) {
      shown.push_back(group);
      std::vector<const DomainFigure*> gpus;
      for (const DomainFigure& member : report.energy.domains) {
        if (group_of(groups, member.domain) == group) gpus.push_back(&member);
      }
      rows.push_back(group_row(gpus));
    }
  }
  if (added > 1 && report.energy.total.energy) rows.push_back(total_row(report));
  return rows;
}

std::string remarks_on(const DomainFigure& domain) {
  std::vector<std::string> parts;
  if (domain.contained_in) {
    parts.push_back("in " + domain.contained_in->name());
  } else if (!counts_in_total(domain.domain.kind())) {
    parts.emplace_back("overlaps the others, not added");
  }
  if (domain.figure.unknown.count() > 0) {
    parts.push_back(fmt::format("{} unknown", to_text(domain.figure.unknown)));
  }
  std::ranges::move(properties_of(domain), std::back_inserter(parts));
  return joined(parts, ", ");
}

}  // namespace wattle
