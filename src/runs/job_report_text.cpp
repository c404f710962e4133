// A report of many runs, for people and as JSON.
#include "runs/job_report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/facts_text.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/words.hpp"
#include "runs/job_report.hpp"
#include "sensors/refusals.hpp"
#include "units/units_words.hpp"
#include "usage/files/usage_json.hpp"

namespace wattle {
namespace {

constexpr double kHourS = 3600.0;

/// "3.2", "1250", "0.0012".
std::string hours_text(Seconds time) {
  const double hours = time.count() / kHourS;
  return hours >= 100.0 ? fmt::format("{:.0f}", hours) : fmt::format("{:.2g}", hours);
}

/// "0, 2 to 5, 9"
std::string ranges_text(const std::vector<unsigned>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    parts.push_back(last == i ? fmt::format("{}", numbers[i])
                              : fmt::format("{} to {}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return joined(parts, ", ");
}

/// True if the energy is less than what was spent.
bool is_job_lower_bound(const JobReport& report) {
  return !report.missing_ranks.empty() ||
         std::ranges::any_of(report.nodes, &NodeReport::is_lower_bound);
}

/// The flags of all energies in it.
Flags flags_of(const JobReport& report) {
  Flags flags;
  for (const NodeReport& node : report.nodes) flags |= node.flags;
  return flags;
}

/// The parts that nodes lack; nodes that lack the same for the same reason share a line.
std::vector<std::string> node_lacks(const JobReport& report) {
  std::vector<SensorRefusal> lacks;
  for (const NodeReport& node : report.nodes) {
    const std::string name = printable(node.name);
    if (!node.energy) {
      lacks.push_back({.subject = name, .reason = "no energy: " + printable(node.no_energy)});
    }
    for (const Refusal& kind : node.missing) {
      lacks.push_back(
          {.subject = name, .reason = lack_of(node.covers, kind) + ": " + printable(kind.reason)});
    }
  }
  std::vector<std::string> lines;
  for (const SharedCause& cause : by_cause(lacks)) lines.push_back(cause_text(cause));
  return lines;
}

std::string units_table(const std::vector<ReportedUnits>& units, const TextStyle& style) {
  if (units.empty()) return {};
  TextTable table({Align::left, Align::right, Align::right, Align::right, Align::right}, style, 2);
  table.add({kUnitTitles.begin(), kUnitTitles.end()}, true);
  const std::size_t listed = std::min(units.size(), kMostUnitRows);
  for (std::size_t i = 0; i < listed; ++i) table.add(unit_cells(units[i]));
  std::string text = "\n" + table.text();
  if (listed < units.size()) {
    text += wrapped(
        fmt::format("  {} more tags and phases are not listed\n", units.size() - listed), style);
  }
  return text;
}

std::string text_of(const JobReport& report, const TextStyle& style) {
  std::string text = wrapped(colored(headline_of(report), Tint::bold, style) + "\n", style);
  for (const std::string& line : remarks_on(report)) text += wrapped("  " + line + "\n", style);
  TextTable table(
      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left}, style, 2);
  std::vector<std::string> titles = {node_word(report)};
  titles.insert(titles.end(), kNodeTitles.begin(), kNodeTitles.end());
  table.add(titles, true);
  for (const NodeReport& node : report.nodes) table.add(node_cells(node));
  text += "\n" + table.text();
  if (report.energy) {
    text += colored(wrapped("  " + uncertainty_note(report), style), Tint::dim, style) + "\n";
  }
  text += units_table(report.units, style) + "\n";
  return text + facts_text(facts_of(report), style);
}

nlohmann::ordered_json json_of(const NodeReport& node) {
  return {{"name", node.name},
          {"runs", node.runs},
          {"energy_j", or_null(node.energy)},
          {"uncertainty_j", uncertainty_or_null(node.energy, node.uncertainty)},
          {"updates_are_observed", or_null(node.updates_are_observed)},
          {"measured_s", whole_nanoseconds(node.measured)},
          {"unmeasured_s", whole_nanoseconds(node.unmeasured)},
          {"unknown_s", whole_nanoseconds(node.unknown)},
          {"is_lower_bound", node.energy && node.is_lower_bound()},
          {"covers", node.covers},
          {"flags", json_of(node.flags)},
          {"missing", missing_kinds_json(node.missing)},
          {"no_energy", text_or_null(node.no_energy)}};
}

nlohmann::ordered_json range_json(const std::optional<EnergyInterval>& range) {
  if (!range) return nullptr;
  return nlohmann::ordered_json::array({range->value.si(), range->low.si(), range->high.si()});
}

nlohmann::ordered_json json_of(const ReportedUnits& units) {
  return {{"tag", units.tag},
          {"phase", text_or_null(units.phase)},
          {"count", units.count},
          {"unknown", units.unknown},
          {"sum_j", units.sum.si()},
          {"work", units.work},
          {"mean_j", range_json(units.mean)},
          {"per_work_j", range_json(units.per_work)}};
}

nlohmann::ordered_json json_of(const JobReport& report) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const NodeReport& node : report.nodes) nodes.push_back(json_of(node));
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const ReportedRun& run : report.runs) {
    runs.push_back({{"name", run.name},
                    {"host", text_or_null(run.host)},
                    {"rank", or_null(run.rank)},
                    {"energy_j", or_null(run.energy)},
                    {"uncertainty_j", or_null(run.uncertainty)},
                    {"flags", json_of(run.flags)},
                    {"counted", run.is_counted}});
  }
  nlohmann::ordered_json units = nlohmann::ordered_json::array();
  for (const ReportedUnits& row : report.units) units.push_back(json_of(row));
  return {{"job", text_or_null(report.job)},
          {"started_unix_s", report.started_unix_s},
          {"ended_unix_s", report.ended_unix_s},
          {"size", or_null(report.size)},
          {"missing_ranks", report.missing_ranks},
          {"energy_j", or_null(report.energy)},
          {"uncertainty_j", uncertainty_or_null(report.energy, report.uncertainty)},
          {"flags", json_of(flags_of(report))},
          {"calibration_j", or_null(report.calibration)},
          {"is_lower_bound", is_job_lower_bound(report)},
          {"cpu_s", or_null(report.cpu)},
          {"peak_rss_bytes", or_null(report.peak_rss_bytes)},
          {"gpu_hours", report.gpu_time ? nlohmann::ordered_json(report.gpu_time->count() / kHourS)
                                        : nlohmann::ordered_json(nullptr)},
          {"nodes", std::move(nodes)},
          {"runs", std::move(runs)},
          {"units", std::move(units)},
          {"notes", report.notes}};
}

/// The sum of the units, with the 95 % interval that follows from their mean's.
std::string sum_cell(const ReportedUnits& units) {
  if (!units.mean) return to_text(units.sum);
  const auto count = static_cast<double>(units.count);
  return interval_text({units.sum, units.mean->low * count, units.mean->high * count});
}

/// "at least 300 J ±2 J, gap", "energy unknown".
std::string energy_words(const JobReport& report) {
  if (!report.energy) return fmt::format("energy {}", kUnknown);
  return with_doubts(fmt::format("{}{}", is_job_lower_bound(report) ? kAtLeast : std::string_view(),
                                 to_text(*report.energy, report.uncertainty)),
                     flags_of(report));
}

}  // namespace

std::string headline_of(const JobReport& report) {
  const bool has_ranks =
      std::ranges::any_of(report.runs, [](const ReportedRun& run) { return run.rank.has_value(); });
  std::string text = report.job.empty() ? "" : fmt::format("job {}: ", printable(report.job));
  text += counted(report.nodes.size(), node_word(report)) + ", " +
          counted(report.runs.size(), has_ranks ? "rank" : "run") + ", ";
  return text + energy_words(report);
}

const char* node_word(const JobReport& report) noexcept {
  return report.job.empty() ? "machine" : "node";
}

std::vector<std::string> remarks_on(const JobReport& report) {
  std::vector<std::string> lines = node_lacks(report);
  if (!report.missing_ranks.empty()) {
    lines.push_back(fmt::format("ranks without a record: {}", ranges_text(report.missing_ranks)));
  }
  std::ranges::copy(report.notes, std::back_inserter(lines));
  return lines;
}

std::vector<std::string> node_cells(const NodeReport& node) {
  std::vector<std::string> what;
  if (!node.covers.empty()) what.push_back(joined(node.covers, ", ", upper));
  if (node.unmeasured > Seconds(0)) {
    what.push_back(fmt::format("{} not measured", to_text(node.unmeasured)));
  }
  if (node.unknown > Seconds(0)) what.push_back(fmt::format("{} unknown", to_text(node.unknown)));
  node.flags.each([&](std::string_view flag) { what.emplace_back(flag); });
  const bool has_mean = node.energy && node.measured > Seconds(0);
  return {printable(node.name),
          fmt::format("{}", node.runs),
          node.energy ? to_text(node.measured) : std::string(kUnknownCell),
          node.energy
              ? fmt::format("{}{}", node.is_lower_bound() ? kAtLeastCell : std::string_view(),
                            to_text(*node.energy, node.uncertainty))
              : std::string(kUnknownCell),
          has_mean ? rounded_text(*node.energy / node.measured, node.uncertainty / node.measured)
                   : std::string(kUnknownCell),
          joined(what, "; ")};
}

std::vector<std::string> unit_cells(const ReportedUnits& units) {
  std::string count = fmt::format("{}", units.count);
  if (units.unknown > 0) count += fmt::format(" (+{} unknown)", units.unknown);
  return {name_of(units.tag, units.phase), std::move(count), sum_cell(units),
          interval_cell(units.mean), interval_cell(units.per_work)};
}

std::string uncertainty_note(const JobReport& report) {
  return report.calibration
             ? fmt::format("± is the sampling error only; the sensors themselves: ±{}",
                           to_text(*report.calibration))
             : std::string(kUncertaintyNote);
}

std::vector<std::pair<std::string, std::string>> facts_of(const JobReport& report) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"time", to_text(Seconds(std::max(0.0, report.ended_unix_s - report.started_unix_s)))},
      {"cpu", report.cpu ? to_text(*report.cpu) : std::string(kUnknown)},
      {"memory", report.peak_rss_bytes
                     ? bytes_to_text(*report.peak_rss_bytes) + " in the largest process"
                     : std::string(kUnknown)}};
  if (report.gpu_time) {
    facts.emplace_back("gpus", fmt::format("{} GPU-hours", hours_text(*report.gpu_time)));
  }
  return facts;
}

std::string to_text(const std::vector<JobReport>& reports, const TextStyle& style) {
  std::string text;
  for (const JobReport& report : reports) {
    if (!text.empty()) text += "\n";
    text += text_of(report, style);
  }
  return text;
}

std::string to_brief_text(const std::vector<JobReport>& reports) {
  std::string text;
  for (const JobReport& report : reports) {
    text += report.job.empty() ? "no job" : fmt::format("job {}", printable(report.job));
    text += ": ";
    text += energy_words(report);
    if (report.gpu_time) {
      text += fmt::format(", {} GPU-hours", hours_text(*report.gpu_time));
    }
    text += '\n';
  }
  return text;
}

std::string to_json(const std::vector<JobReport>& reports) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const JobReport& report : reports) list.push_back(json_of(report));
  return dumped({{"schema", "wattle.report/1"}, {"reports", std::move(list)}}) + "\n";
}

}  // namespace wattle
