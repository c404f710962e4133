#include "report/html/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/estimate_words.hpp"
#include "report/html/page_parts.hpp"
#include "report/html/unit_blocks.hpp"
#include "report/words.hpp"
#include "wattle/wattle.hpp"

namespace wattle::html {
namespace {

const DomainCourse* course_of(const PowerCourse& course, const Domain& domain) {
  const auto found = std::ranges::find(course.domains, domain.name(), &DomainCourse::name);
  return found == course.domains.end() ? nullptr : &*found;
}

/// Domains of one kind have one scale. What custom domains are is not known.
Watts scale_of(const EnergyReport& energy, const Domain& shown) {
  Watts scale;
  if (shown.kind() == DomainKind::custom) return scale;
  for (const DomainFigure& domain : energy.domains) {
    if (domain.domain.kind() != shown.kind()) continue;
    const DomainCourse* const course = course_of(energy.course, domain.domain);
    if (course == nullptr) continue;
    scale = std::max(scale, highest_of(course->columns).value_or(Watts(0.0)));
  }
  return scale;
}

Plots plots_of(const Report& report, const std::vector<Stripe>& stripes) {
  const PowerCourse& course = report.energy.course;
  const Total& total = report.energy.total;
  Plots plots;
  const auto add = [&](PlotWords words, const std::vector<PowerColumn>& columns, Watts scale) {
    PowerPlot plot = power_plot(course, columns, std::move(words), scale);
    plot.stripes = stripes;
    plots.plots.emplace_back(std::move(plot));
  };
  if (!course.total.empty()) {
    add({.name = fmt::format("total: {}", fmt::join(total.covers, ", ")),
         .mean = total.mean ? to_text(*total.mean) : std::string(kUnknown),
         .remarks = flags_text(doubts_of(total.flags), ", ")},
        course.total, Watts(0.0));
  }
  for (const DomainFigure& domain : report.energy.domains) {
    const DomainCourse* const found = course_of(course, domain.domain);
    add({.name = domain.domain.name(),
         .mean = power_text(domain.figure, domain.figure.mean),
         .remarks = remarks_on(domain)},
        found != nullptr ? found->columns : std::vector<PowerColumn>(),
        scale_of(report.energy, domain.domain));
  }
  return plots;
}

void add_estimates(Page& page, const Report& report) {
  if (report.estimate) {
    page.blocks.emplace_back(Heading{"Estimate, not measured"});
    page.blocks.emplace_back(estimates_of(words_of(*report.estimate)));
  }
  std::vector<std::string> share;
  if (report.share) share = words_of(*report.share);
  if (share.empty()) return;
  page.blocks.emplace_back(Heading{"Share of this command, not measured"});
  page.blocks.emplace_back(estimates_of(std::move(share)));
}

void add_power(Page& page, const Report& report) {
  if (report.energy.domains.empty()) return;
  page.blocks.emplace_back(Heading{"Power over time"});
  if (report.energy.course.length <= Seconds(0)) {
    page.blocks.emplace_back(Paragraph{"No power over time: the command ended at once."});
    return;
  }
  const DrawnStripes drawn =
      drawn_stripes(phase_stripes(report.phases), report.energy.domains.size() + 1);
  page.blocks.emplace_back(Note{legend_of(report.energy.course) +
                                " wattle run --series FILE writes all values." + drawn.note});
  page.blocks.emplace_back(plots_of(report, drawn.stripes));
}

void add_domains(Page& page, const EnergyReport& energy) {
  if (energy.domains.empty()) return;
  Table table{.caption = "Energy and power by domain",
              .columns = {{"domain"},
                          {"energy ± (95 %)", true},
                          {"mean", true},
                          {"peak", true},
                          {"measured by"},
                          {"remarks"}}};
  for (const DomainFigure& domain : energy.domains) {
    const EnergyFigure& figure = domain.figure;
    table.rows.push_back({domain.domain.name(), energy_text(figure),
                          power_text(figure, figure.mean), peak_text(figure),
                          fmt::format("{}, {}", domain.source, to_string(figure.method)),
                          remarks_on(domain)});
  }
  page.blocks.emplace_back(Heading{"Energy by domain"});
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(Note{uncertainty_note(energy) + "."});
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
                          {"memory", true},
                          {"flags"}}};
  for (const PhaseReport& phase : phases.rows) {
    const Total& total = phase.total;
    std::string name = phase.name;
    if (phase.spans.size() > 1) name += fmt::format(" ({} times)", phase.spans.size());
    const bool is_rounded = total.mean && phase.time > Seconds(0);
    table.rows.push_back(
        {std::move(name), phase.parent ? phases.rows.at(*phase.parent).name : "",
         to_text(phase.time),
         total.energy ? to_text(*total.energy, total.uncertainty) : std::string(kUnknownCell),
         is_rounded ? rounded_text(*total.mean, total.uncertainty / phase.time)
                    : std::string(kUnknownCell),
         phase.cpu ? to_text(*phase.cpu) : std::string(kUnknownCell),
         phase.peak_memory_bytes ? bytes_to_text(*phase.peak_memory_bytes)
                                 : std::string(kUnknownCell),
         flags_text(doubts_of(total.flags), ", ")});
  }
  page.blocks.emplace_back(Heading{"Phases"});
  page.blocks.emplace_back(std::move(table));
  if (phases.dropped > 0) {
    page.blocks.emplace_back(Note{fmt::format("{} more phases are not listed.", phases.dropped)});
  }
}

void add_refused(Page& page, const std::vector<SensorRefusal>& refused) {
  if (refused.empty()) return;
  Table table{.caption = "What could not be measured",
              .columns = {{"what"}, {"source"}, {"reason"}, {"what helps"}}};
  for (const SensorRefusal& refusal : refused) {
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
            .subtitle = subtitle_of({"host " + report.host.name, report.host.cpu,
                                     utc_text(report.started_unix_s), to_text(report.wall)}),
            .footer = footer_of(report)};
  page.blocks.emplace_back(Paragraph{headline_of(report)});
  for (std::string& line : coverage_of(report.energy.total)) {
    page.blocks.emplace_back(Paragraph{std::move(line)});
  }
  page.blocks.emplace_back(Facts{"What the command used", facts_of(report, Detail::all)});
  add_estimates(page, report);
  add_power(page, report);
  add_domains(page, report.energy);
  add_phases(page, report.phases);
  if (report.units) std::ranges::move(unit_blocks(*report.units), std::back_inserter(page.blocks));
  add_refused(page, report.refused);
  return page;
}

}  // namespace wattle::html
