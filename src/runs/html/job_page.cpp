#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/html/page_parts.hpp"
#include "runs/html/result_pages.hpp"
#include "runs/job_report_text.hpp"
#include "wattle/wattle.hpp"

namespace wattle::html {
namespace {

constexpr std::size_t kMostListedOfJob = 500;  ///< runs in the table of a job
constexpr std::size_t kMostPlots = 40;         ///< of a page
/// The most columns of one plot, and of all together: the page stays below 400 kB.
constexpr std::size_t kMostColumnsOfPlot = 360;
constexpr std::size_t kMostColumnsOfPage = 5400;

void add_remarks(Page& page, const JobReport& report) {
  Lines lines;
  for (std::string& remark : remarks_on(report)) lines.lines.push_back({std::move(remark)});
  if (!lines.lines.empty()) page.blocks.emplace_back(std::move(lines));
}

void add_nodes(Page& page, const JobReport& report) {
  Table table{.caption = std::string(node_word(report)) + "s", .columns = {{node_word(report)}}};
  for (const char* title : kNodeTitles) {
    table.columns.push_back({title, std::string_view(title) != kNodeTitles.back()});
  }
  for (const NodeReport& node : report.nodes) table.rows.push_back(node_cells(node));
  page.blocks.emplace_back(std::move(table));
  if (report.energy) page.blocks.emplace_back(Note{uncertainty_note(report) + "."});
}

std::string known_note(std::size_t known, std::size_t counted) {
  return fmt::format(
      "Unknown for {} of {} runs: it is kept with saved runs (wattle run --save) and their "
      "export, not in the file of --json.",
      counted - known, counted);
}

/// The remaining room of a page.
struct PlotBudget {
  std::size_t plots;  ///< of all runs: they share columns and stripes
  std::size_t left;   ///< that may still be drawn
  std::size_t undrawn = 0;
};

void add_power_of(Page& page, const ReportedRun& run, PlotBudget& room) {
  const std::size_t of_page = std::min(room.plots, kMostPlots);
  const PowerCourse course =
      run.power->coarser(std::min(kMostColumnsOfPlot, kMostColumnsOfPage / of_page));
  const DrawnStripes drawn = drawn_stripes(phase_stripes(run.phases), of_page);
  Plots plots;
  const auto add = [&](const std::string& name, const std::vector<PowerColumn>& columns) {
    if (room.left == 0) {
      ++room.undrawn;
      return;
    }
    --room.left;
    PowerPlot plot =
        power_plot(course, columns, {.name = fmt::format("{}: {}", run.host, name)}, Watts(0.0));
    plot.stripes = drawn.stripes;
    plots.plots.emplace_back(std::move(plot));
  };
  if (!course.total.empty()) add("total", course.total);
  for (const DomainCourse& domain : course.domains) add(domain.name, domain.columns);
  if (plots.plots.empty()) return;
  page.blocks.emplace_back(Paragraph{
      fmt::format("Run {}{}:", run.name, run.rank ? fmt::format(", rank {}", *run.rank) : "")});
  page.blocks.emplace_back(Note{legend_of(course) + drawn.note});
  page.blocks.emplace_back(std::move(plots));
}

/// Runs with the time of their energy: those whose power is known over time.
void add_power(Page& page, const JobReport& report, std::size_t plots) {
  const auto has_power = [](const ReportedRun& run) { return run.power.has_value(); };
  const auto counted = static_cast<std::size_t>(
      std::ranges::count_if(report.runs, [](const ReportedRun& run) { return run.is_counted; }));
  const auto known = static_cast<std::size_t>(std::ranges::count_if(report.runs, has_power));
  if (counted == 0) return;
  page.blocks.emplace_back(Heading{"Power over time"});
  if (known < counted) page.blocks.emplace_back(Note{known_note(known, counted)});
  PlotBudget room{.plots = plots, .left = kMostPlots};
  for (const ReportedRun& run : report.runs) {
    if (run.power) add_power_of(page, run, room);
  }
  if (room.undrawn > 0) {
    page.blocks.emplace_back(Note{fmt::format("{} more plots are left out.", room.undrawn)});
  }
}

void add_runs(Page& page, const JobReport& report) {
  Table table{
      .caption = "Runs",
      .columns = {{"run"}, {"host"}, {"rank", true}, {"energy ± (95 %)", true}, {"remarks"}}};
  for (std::size_t i = 0; i < std::min(report.runs.size(), kMostListedOfJob); ++i) {
    const ReportedRun& run = report.runs[i];
    table.rows.push_back({run.name, run.host,
                          run.rank ? fmt::format("{}", *run.rank) : std::string(kUnknownCell),
                          run.energy ? to_text(*run.energy, run.uncertainty.value_or(Joules()))
                                     : std::string(kUnknownCell),
                          with_doubts(!run.energy       ? "not measured"
                                      : !run.is_counted ? "overlaps another run, not added"
                                                        : "",
                                      run.flags)});
  }
  page.blocks.emplace_back(Heading{"Runs"});
  page.blocks.emplace_back(std::move(table));
  if (report.runs.size() > kMostListedOfJob) {
    page.blocks.emplace_back(Note{
        fmt::format("{} more runs are not in the table.", report.runs.size() - kMostListedOfJob)});
  }
}

void add_units(Page& page, const JobReport& report) {
  if (report.units.empty()) return;
  Table table{.caption = "Units of work of the runs that are counted", .columns = {}};
  for (const char* title : kUnitTitles) table.columns.push_back({title, !table.columns.empty()});
  const std::size_t listed = std::min(report.units.size(), kMostUnitRows);
  for (std::size_t i = 0; i < listed; ++i) table.rows.push_back(unit_cells(report.units[i]));
  page.blocks.emplace_back(Heading{"Units of work"});
  page.blocks.emplace_back(std::move(table));
  if (listed < report.units.size()) {
    page.blocks.emplace_back(Note{fmt::format("{} more tags and phases are not in the table.",
                                              report.units.size() - listed)});
  }
}

std::size_t plots_of(const std::vector<JobReport>& reports) {
  std::size_t plots = 0;
  for (const JobReport& report : reports) {
    for (const ReportedRun& run : report.runs) {
      if (run.power) plots += run.power->domains.size() + 1;
    }
  }
  return plots;
}

std::string title_of(const JobReport& report) {
  return report.job.empty() ? "Runs without a job" : "Job " + report.job;
}

}  // namespace

Page page_of(const std::vector<JobReport>& reports) {
  const bool is_one = reports.size() == 1;
  double started = reports.front().started_unix_s;
  double ended = reports.front().ended_unix_s;
  for (const JobReport& report : reports) {
    started = std::min(started, report.started_unix_s);
    ended = std::max(ended, report.ended_unix_s);
  }
  std::string title = fmt::format("{} jobs", reports.size());
  if (is_one) title = title_of(reports.front());
  // A heading for those beside jobs; alone they are all there is.
  if (is_one && reports.front().job.empty()) title = "Runs reported as one";
  Page page{.title = std::move(title),
            .subtitle = subtitle_of({utc_text(started), to_text(Seconds(ended - started))}),
            .footer = fmt::format("wattle {}. The same numbers for programs: wattle report --json.",
                                  version())};
  const std::size_t plots = plots_of(reports);
  for (const JobReport& report : reports) {
    if (!is_one) page.blocks.emplace_back(Heading{title_of(report)});
    page.blocks.emplace_back(Paragraph{headline_of(report)});
    add_remarks(page, report);
    add_nodes(page, report);
    page.blocks.emplace_back(Facts{"Time and use", facts_of(report)});
    add_power(page, report, plots);
    add_units(page, report);
    add_runs(page, report);
  }
  return page;
}

}  // namespace wattle::html
