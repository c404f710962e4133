#include "report/html/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "report/words.hpp"
#include "wattle/wattle.hpp"

namespace wattle::html {
namespace {

/// "2025-11-21 02:00:02 UTC"; empty for a time that no clock shows.
std::string utc_text(double unix_s) {
  namespace chrono = std::chrono;
  constexpr double kYear9999 = 253'402'300'799.0;
  if (!(unix_s >= 0.0) || unix_s > kYear9999) return {};
  const chrono::sys_seconds time{chrono::seconds(std::llround(std::floor(unix_s)))};
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string subtitle_of(const Report& report) {
  std::string text;
  for (const std::string& part : {"host " + report.host.name, report.host.cpu,
                                  utc_text(report.started_unix_s), to_text(report.wall)}) {
    if (part.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " · ", part);
  }
  return text;
}

/// The lowest and the highest power of a course, and how uncertain they are.
struct Extremes {
  std::optional<Watts> lowest{};
  std::optional<Watts> highest{};
  Watts uncertainty{};
};

Extremes extremes_of(const std::vector<PowerColumn>& columns, double steps_per_column) {
  Extremes found;
  for (const PowerColumn& column : columns) {
    if (!column.mean) continue;
    const Watts low = column.lowest.value_or(*column.mean);
    const Watts high = column.highest.value_or(*column.mean);
    found.lowest = std::min(found.lowest.value_or(low), low);
    found.highest = std::max(found.highest.value_or(high), high);
    // Most of it comes from the ends of the time, however long that is.
    found.uncertainty = std::max(found.uncertainty, column.uncertainty * steps_per_column);
  }
  return found;
}

/// "12.4 W": to the place of its uncertainty, always in watts, so that two are easily compared.
std::string extreme_text(Watts power, Watts uncertainty) {
  constexpr double kMostDecimals = 3.0;
  const double place = uncertainty.si() > 0 ? -std::floor(std::log10(uncertainty.si())) : 1.0;
  const int decimals = static_cast<int>(std::clamp(place, 0.0, kMostDecimals));
  return fmt::format("{:.{}f} W", power.si(), decimals);
}

/// What a plot shows, in words.
std::string summary_of(const std::string& mean, const PowerCourse& course,
                       const std::vector<PowerColumn>& columns, const std::string& remarks) {
  const Extremes found = extremes_of(columns, course.column / course.step);
  std::string text = "unknown";
  if (found.lowest && found.highest) {
    text = fmt::format("Mean {}; {} to {} over {}", mean,
                       extreme_text(*found.lowest, found.uncertainty),
                       extreme_text(*found.highest, found.uncertainty), to_text(course.step));
  }
  if (!remarks.empty()) text += "; " + remarks;
  return text + ".";
}

/// Domains of one kind have one scale. What custom domains are is not known.
Watts scale_of(const PowerCourse& course, const Domain& shown) {
  Watts scale;
  if (shown.kind() == DomainKind::custom) return scale;
  for (const DomainCourse& domain : course.domains) {
    if (domain.domain.kind() != shown.kind()) continue;
    scale = std::max(scale, extremes_of(domain.columns, 1.0).highest.value_or(Watts(0.0)));
  }
  return scale;
}

/// The outermost phases, in the order of their time; those within them are in the table alone.
std::vector<Stripe> stripes_of(const PhasesReport& phases) {
  std::vector<Stripe> stripes;
  for (const PhaseReport& phase : phases.rows) {
    if (phase.depth > 0) continue;
    for (const PhaseSpan& span : phase.spans) stripes.push_back({phase.name, span.begin, span.end});
  }
  std::ranges::sort(stripes, {}, &Stripe::from);
  return stripes;
}

PowerPlots plots_of(const Report& report) {
  const PowerCourse& course = report.energy.course;
  const Total& total = report.energy.total;
  const std::vector<Stripe> stripes = stripes_of(report.phases);
  PowerPlots plots;
  const auto add = [&](std::string name, const std::vector<PowerColumn>& columns, Watts scale,
                       std::string summary) {
    plots.plots.push_back({.name = std::move(name),
                           .columns = columns,
                           .length = course.length,
                           .column = course.column,
                           .scale = scale,
                           .stripes = stripes,
                           .summary = std::move(summary)});
  };
  if (!course.total.empty()) {
    const std::string mean = total.mean ? to_text(*total.mean) : "unknown";
    add(fmt::format("total: {}", fmt::join(total.covers, ", ")), course.total, Watts(0.0),
        summary_of(mean, course, course.total, ""));
  }
  for (const DomainEnergy& domain : report.energy.domains) {
    const auto found = std::ranges::find(course.domains, domain.domain, &DomainCourse::domain);
    const std::vector<PowerColumn> none;
    const auto& columns = found == course.domains.end() ? none : found->columns;
    add(domain.domain.name(), columns, scale_of(course, domain.domain),
        summary_of(power_text(domain.figure, domain.figure.mean), course, columns,
                   remarks_on(domain)));
  }
  return plots;
}

/// How to read the plots.
std::string legend_of(const PowerCourse& course) {
  std::string text = fmt::format("The line is the mean power over {}. ", to_text(course.column));
  if (course.column > course.step) {
    text += fmt::format("The light bars span the lowest to the highest mean over {} in that time. ",
                        to_text(course.step));
  }
  return text +
         "The orange band is its ± (95 %, sampling only). Where the line has a gap, power is "
         "unknown. wattle run --series FILE writes all values.";
}

void add_power(Page& page, const Report& report) {
  if (report.energy.domains.empty()) return;
  page.blocks.emplace_back(Heading{"Power over time"});
  if (report.energy.course.length <= Seconds(0)) {
    page.blocks.emplace_back(Paragraph{"No power over time: the command ended at once."});
    return;
  }
  page.blocks.emplace_back(Note{legend_of(report.energy.course)});
  page.blocks.emplace_back(plots_of(report));
}

void add_domains(Page& page, const EnergyReport& energy) {
  if (energy.domains.empty()) return;
  Table table{.caption = "Energy and power by domain",
              .columns = {{"domain"},
                          {"energy ± (95 %)", true},
                          {"mean", true},
                          {"peak", true},
                          {"measured by"},
                          {"remarks"}},
              .rows = {}};
  for (const DomainEnergy& domain : energy.domains) {
    const EnergyFigure& figure = domain.figure;
    table.rows.push_back({domain.domain.name(), energy_text(figure),
                          power_text(figure, figure.mean), power_text(figure, figure.max),
                          fmt::format("{}, {}", domain.source, to_string(figure.method)),
                          remarks_on(domain)});
  }
  page.blocks.emplace_back(Heading{"Energy by domain"});
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(Note{std::string(kUncertaintyNote) + "."});
}

void add_phases(Page& page, const PhasesReport& phases) {
  if (phases.rows.empty()) return;
  Table table{.caption = "Phases",
              .columns = {{"phase"},
                          {"within"},
                          {"time", true},
                          {"energy ± (95 %)", true},
                          {"mean", true},
                          {"CPU time", true},
                          {"memory", true}},
              .rows = {}};
  for (const PhaseReport& phase : phases.rows) {
    const Total& total = phase.total;
    std::string name = phase.name;
    if (phase.spans.size() > 1) name += fmt::format(" ({} times)", phase.spans.size());
    const bool is_rounded = total.mean && phase.time > Seconds(0);
    table.rows.push_back(
        {std::move(name), phase.parent ? phases.rows.at(*phase.parent).name : "",
         to_text(phase.time), total.energy ? to_text(*total.energy, total.uncertainty) : "unknown",
         is_rounded ? rounded_text(*total.mean, total.uncertainty / phase.time) : "-",
         phase.cpu ? to_text(*phase.cpu) : "-",
         phase.peak_memory_bytes ? bytes_to_text(*phase.peak_memory_bytes) : "-"});
  }
  page.blocks.emplace_back(Heading{"Phases"});
  page.blocks.emplace_back(std::move(table));
  if (phases.dropped > 0) {
    page.blocks.emplace_back(Note{fmt::format("{} more phases are not listed.", phases.dropped)});
  }
}

void add_refused(Page& page, const std::vector<Refusal>& refused) {
  if (refused.empty()) return;
  Table table{.caption = "What could not be measured",
              .columns = {{"what"}, {"source"}, {"reason"}, {"what helps"}},
              .rows = {}};
  for (const Refusal& refusal : refused) {
    table.rows.push_back({refusal.subject, refusal.source, refusal.reason, refusal.remedy});
  }
  page.blocks.emplace_back(Heading{"Not measured"});
  page.blocks.emplace_back(std::move(table));
}

std::string footer_of(const Report& report) {
  return fmt::format(
      "wattle {}. Measuring took {} of CPU time for {} samples; {} late. The same numbers for "
      "programs: wattle run --json FILE.",
      version(), to_text(report.overhead.cpu), report.overhead.samples, report.overhead.late);
}

}  // namespace

std::size_t most_columns(std::size_t domains) noexcept {
  constexpr std::size_t kMostOfAPlot = 720;
  constexpr std::size_t kMostOfAPage = 10'000;
  return std::min(kMostOfAPlot, kMostOfAPage / (domains + 1));
}

Page page_of(const Report& report) {
  Page page{.title = shell_line(report.command),
            .subtitle = subtitle_of(report),
            .blocks = {},
            .footer = footer_of(report)};
  page.blocks.emplace_back(Paragraph{headline_of(report)});
  for (std::string& line : coverage_of(report.energy.total)) {
    page.blocks.emplace_back(Paragraph{std::move(line)});
  }
  page.blocks.emplace_back(Facts{"What the command used", facts_of(report)});
  add_power(page, report);
  add_domains(page, report.energy);
  add_phases(page, report.phases);
  add_refused(page, report.refused);
  return page;
}

}  // namespace wattle::html
