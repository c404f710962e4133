#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "runs/bench/scan_table.hpp"
#include "runs/html/cost_plots.hpp"
#include "runs/statistics.hpp"

namespace wattle::html {
namespace {

constexpr std::size_t kFewestValues = 3;  // two are a line in the table
constexpr std::size_t kMostCurves = 8;

std::optional<double> number_of(const BenchCommand& command, const std::string& parameter) {
  const std::string* const value = parameter_of(command, parameter);
  const auto number = value == nullptr ? std::nullopt : parse_double(*value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// The first parameter that is a number in all of them.
std::optional<std::string> scanned_number(const std::vector<const BenchCommand*>& commands) {
  if (commands.empty()) return std::nullopt;
  for (const auto& [name, value] : commands.front()->parameters) {
    std::set<double> values;
    const bool are_numbers = std::ranges::all_of(commands, [&](const BenchCommand* command) {
      const auto number = number_of(*command, name);
      if (number) values.insert(*number);
      return number.has_value();
    });
    if (are_numbers && values.size() >= kFewestValues) return name;
  }
  return std::nullopt;
}

/// "threads 4, size 100": the other parameters of a command.
std::string others_of(const BenchCommand& command, const std::string& parameter) {
  std::vector<std::string> words;
  for (const auto& [name, value] : command.parameters) {
    if (name != parameter) words.push_back(printable(fmt::format("{} {}", name, value), 40));
  }
  return joined(words, ", ");
}

}  // namespace

std::optional<CurvePlot> scan_plot(const BenchRecord& bench) {
  const auto [cost, commands] = scan_of(bench);
  const auto parameter = scanned_number(commands);
  if (!parameter) return std::nullopt;
  double highest = 0.0;
  CurvePlot plot{.name = fmt::format("{} over {}", name_of(cost), *parameter),
                 .x_name = *parameter};
  for (const BenchCommand* command : commands) {
    const Summary summary = summarize(values_of(cost, command->runs));
    highest = std::max(highest, summary.mean);
    const std::string name = others_of(*command, *parameter);
    auto curve = std::ranges::find(plot.curves, name, &CurvePlot::Curve::name);
    if (curve == plot.curves.end()) curve = plot.curves.insert(curve, {name, {}});
    curve->points.push_back(
        {.x = *number_of(*command, *parameter), .y = summary.mean, .deviation = summary.sd});
  }
  if (plot.curves.size() > kMostCurves) return std::nullopt;
  const CostUnit unit = unit_for(cost, highest);
  plot.unit = unit.name;
  for (CurvePlot::Curve& curve : plot.curves) {
    std::ranges::sort(curve.points, {}, &CurvePlot::Point::x);
    for (CurvePlot::Point& point : curve.points) {
      point.y *= unit.factor;
      if (point.deviation) *point.deviation *= unit.factor;
    }
  }
  plot.summary = "Means of the runs; upright lines are their standard deviations.";
  return plot;
}

}  // namespace wattle::html
