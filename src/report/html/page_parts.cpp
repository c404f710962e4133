#include "report/html/page_parts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <utility>

#include "base/text/quantity.hpp"
#include "base/text/unknown.hpp"

namespace wattle::html {
namespace {

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

/// The mean of the columns; the last one may be shorter, and counts less.
std::string mean_text(const PowerCourse& course, const std::vector<PowerColumn>& columns) {
  double known_s = 0.0;
  Joules energy;
  Joules uncertainty;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].mean) continue;
    const Seconds left = course.length - static_cast<double>(i) * course.column;
    const Seconds length = std::clamp(left, Seconds(0), course.column);
    known_s += length.count();
    energy += *columns[i].mean * length;
    uncertainty += columns[i].uncertainty * length;
  }
  if (known_s <= 0.0) return std::string(kUnknown);
  return rounded_text(energy / Seconds(known_s), uncertainty / Seconds(known_s));
}

}  // namespace

std::string utc_text(double unix_s) {
  constexpr double kYear9999 = 253'402'300'799.0;
  if (!(unix_s >= 0.0) || unix_s > kYear9999) return {};
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(unix_s)));
}

std::string subtitle_of(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += fmt::format("{}{}", text.empty() ? "" : " · ", part);
  }
  return text;
}

Estimates estimates_of(std::vector<std::string> lines) {
  for (std::string& line : lines) line.erase(0, line.find_first_not_of(' '));
  return {std::move(lines)};
}

std::optional<Watts> highest_of(const std::vector<PowerColumn>& columns) {
  return extremes_of(columns, 1.0).highest;
}

PowerPlot power_plot(const PowerCourse& course, const std::vector<PowerColumn>& columns,
                     PlotWords words, Watts scale) {
  const Extremes found = extremes_of(columns, course.column / course.step);
  std::string summary(kUnknown);
  if (found.lowest && found.highest) {
    summary = fmt::format("Mean {}; {} to {} over {}",
                          words.mean.empty() ? mean_text(course, columns) : words.mean,
                          extreme_text(*found.lowest, found.uncertainty),
                          extreme_text(*found.highest, found.uncertainty), to_text(course.step));
  }
  if (!words.remarks.empty()) summary += "; " + words.remarks;
  return {.name = std::move(words.name),
          .columns = columns,
          .length = course.length,
          .column = course.column,
          .scale = scale,
          .summary = summary + "."};
}

std::vector<Stripe> phase_stripes(const PhasesReport& phases) {
  std::vector<Stripe> stripes;
  for (const PhaseReport& phase : phases.rows) {
    if (phase.depth > 0) continue;
    for (const PhaseSpan& span : phase.spans) stripes.push_back({phase.name, span.begin, span.end});
  }
  return stripes;
}

DrawnStripes drawn_stripes(std::vector<Stripe> stripes, std::size_t plots) {
  constexpr std::size_t kMostOfPage = 300;
  const std::size_t most = std::max<std::size_t>(kMostOfPage / std::max<std::size_t>(plots, 1), 1);
  std::string note;
  if (stripes.size() > most) {
    note = fmt::format(" Of {} intervals of phases the {} longest are drawn as stripes.",
                       stripes.size(), most);
    std::ranges::stable_sort(stripes, std::greater(),
                             [](const Stripe& stripe) { return stripe.to - stripe.from; });
    stripes.resize(most);
  }
  std::ranges::stable_sort(stripes, {}, &Stripe::from);
  return {std::move(stripes), std::move(note)};
}

std::string legend_of(const PowerCourse& course) {
  std::string text = fmt::format("The line is the mean power over {}. ", to_text(course.column));
  if (course.column > course.step) {
    text += fmt::format("The light bars span the lowest to the highest mean over {} in that time. ",
                        to_text(course.step));
  }
  return text +
         "The orange band, where it leaves something to see, is its ± (95 %, sampling only). Where "
         "the line has a gap, power is unknown.";
}

}  // namespace wattle::html
