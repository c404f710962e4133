#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text/quantity.hpp"
#include "base/text/unknown.hpp"
#include "report/html/escape.hpp"
#include "report/html/figure.hpp"

namespace wattle::html {
namespace {

// The drawing, in units that are pixels where it is as wide as planned.
constexpr int kWidth = 480;
constexpr int kHeight = 190;
constexpr int kLeft = 58;
constexpr int kTop = 8;
constexpr int kInnerWidth = kWidth - kLeft - 8;
constexpr int kInnerHeight = kHeight - kTop - 24;
constexpr int kMostMarks = 5;
constexpr std::size_t kMostRows = 12;

/// The scale of power. Values are whole steps: less than half a pixel.
struct PowerScale {
  Watts mark;  ///< from one labelled line to the next
  int marks = 0;
  int steps_per_mark = 0;

  [[nodiscard]] Watts step() const noexcept { return mark / steps_per_mark; }
  [[nodiscard]] int steps() const noexcept { return marks * steps_per_mark; }
  [[nodiscard]] int place_of(Watts power) const noexcept {
    constexpr double kFar = 1e6;
    return steps() - static_cast<int>(std::lround(std::clamp(power / step(), -kFar, kFar)));
  }
};

/// Marks at 1, 2 or 5 times a power of ten.
PowerScale scale_for(Watts highest) noexcept {
  const double top = highest.si() > 0 ? highest.si() : 1.0;
  const RoundStep step = round_step(top, kMostMarks);
  // A value on the last mark fits, whatever the division is off by.
  return {.mark = Watts(step.value()),
          .marks = std::max(static_cast<int>(std::ceil(top / step.value() - 1e-9)), 1),
          .steps_per_mark = step.factor == 5 ? 250 : 200};
}

/// "200 W", "1.5 kW", "0.25 W".
std::string watts_label(Watts power) {
  constexpr double kKilo = 1000.0;
  return power.si() >= 10 * kKilo ? fmt::format("{:.6g} kW", power.si() / kKilo)
                                  : fmt::format("{:.6g} W", power.si());
}

Seconds time_mark(Seconds length) noexcept {
  constexpr int kMost = 6;
  constexpr std::array<double, 13> kLong = {10,   15,   30,   60,    120,   300,  600,
                                            1800, 3600, 7200, 14400, 43200, 86400};
  const double step = round_step(length.count(), kMost).value();
  if (step < kLong.front()) return Seconds(step);
  for (const double mark : kLong) {
    if (length.count() / mark <= kMost) return Seconds(mark);
  }
  return Seconds(kLong.back() * std::ceil(length.count() / kLong.back() / kMost));
}

/// A line that holds each column's mean over its width, broken where it is unknown.
std::string mean_path(const std::vector<PowerColumn>& columns, const PowerScale& scale) {
  std::string path;
  std::size_t held = 0;
  int place = 0;
  const auto end_step = [&] {
    if (held > 0) path += fmt::format("h{}", held);
    held = 0;
  };
  bool was_known = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const PowerColumn& column = columns[i];
    if (column.mean) {
      const int next = scale.place_of(*column.mean);
      if (!was_known) {
        path += fmt::format("M{} {}", i, next);
      } else if (next != place) {
        end_step();
        path += fmt::format("v{}", next - place);
      }
      place = next;
      ++held;
    } else {
      end_step();
    }
    was_known = column.mean.has_value();
  }
  end_step();
  return path;
}

/// Upright bars in the middle of their columns; `extent` gives top and bottom, if there are any.
template <class Extent>
std::string bars_path(const std::vector<PowerColumn>& columns, Extent extent) {
  std::string path;
  std::size_t last = 0;
  int place = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::optional<std::pair<int, int>> bar = extent(columns[i]);
    if (!bar) continue;
    if (path.empty()) {
      path = fmt::format("M{}.5 {}", i, bar->first);
    } else if (bar->first < place) {
      path += fmt::format("m{}{}", i - last, bar->first - place);
    } else {
      path += fmt::format("m{} {}", i - last, bar->first - place);
    }
    path += fmt::format("v{}", bar->second - bar->first);
    place = bar->second;
    last = i;
  }
  return path;
}

std::string range_path(const std::vector<PowerColumn>& columns, const PowerScale& scale) {
  return bars_path(columns, [&](const PowerColumn& column) -> std::optional<std::pair<int, int>> {
    if (!column.lowest || !column.highest) return std::nullopt;
    return std::pair(scale.place_of(*column.highest), scale.place_of(*column.lowest));
  });
}

/// The uncertainty of the columns, and how much of the plot their band would cover.
struct Band {
  Watts mean;          ///< of their uncertainties
  double cover = 0.0;  ///< 1: all of it
};

Band band_of(const std::vector<PowerColumn>& columns, const PowerScale& scale) noexcept {
  Band band;
  double known = 0.0;
  for (const PowerColumn& column : columns) {
    if (!column.mean) continue;
    const auto shown = [&](Watts power) {
      return std::clamp(scale.place_of(power), 0, scale.steps());
    };
    band.cover +=
        shown(*column.mean - column.uncertainty) - shown(*column.mean + column.uncertainty);
    band.mean += column.uncertainty;
    known += 1.0;
  }
  if (known == 0.0) return band;
  return {.mean = band.mean / known, .cover = band.cover / known / scale.steps()};
}

/// A band that covers half of a plot hides what it shows.
bool covers_plot(const Band& band) noexcept { return band.cover > 0.5; }

/// Where no column is uncertain by a step or more there is nothing to draw.
std::string doubt_path(const std::vector<PowerColumn>& columns, const PowerScale& scale) {
  if (covers_plot(band_of(columns, scale))) return {};
  const bool is_visible = std::ranges::any_of(columns, [&](const PowerColumn& column) {
    return column.mean && column.uncertainty >= scale.step();
  });
  if (!is_visible) return {};
  return bars_path(columns, [&](const PowerColumn& column) -> std::optional<std::pair<int, int>> {
    if (!column.mean) return std::nullopt;
    return std::pair(scale.place_of(*column.mean + column.uncertainty),
                     scale.place_of(*column.mean - column.uncertainty));
  });
}

std::string path_element(std::string_view name, const std::string& path) {
  return path.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", name, path);
}

std::string stripes_of(const PowerPlot& plot, const PowerScale& scale) {
  std::string text;
  for (const Stripe& stripe : plot.stripes) {
    text += fmt::format(
        "<rect class=\"phase\" data-name=\"{}\" data-from=\"{:.6g}\" data-to=\"{:.6g}\" "
        "x=\"{:.6g}\" "
        "y=\"0\" width=\"{:.6g}\" height=\"{}\"/>\n",
        escaped(stripe.name, 100), stripe.from.count(), stripe.to.count(),
        stripe.from / plot.column, std::max(0.0, (stripe.to - stripe.from) / plot.column),
        scale.steps());
  }
  return text;
}

/// Names of stripes that are wide enough for them.
std::string stripe_names(const PowerPlot& plot) {
  constexpr double kWidthOfLetter = 6.5;
  std::string text;
  for (const Stripe& stripe : plot.stripes) {
    const double left = stripe.from / plot.length * kInnerWidth;
    const double width = (stripe.to - stripe.from) / plot.length * kInnerWidth;
    if (width < kWidthOfLetter * static_cast<double>(stripe.name.size() + 1)) continue;
    text += fmt::format("<text class=\"phase-name\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                        kLeft + left + 4, kTop + 12, escaped(stripe.name, 100));
  }
  return text;
}

std::string axes_of(const PowerPlot& plot, const PowerScale& scale) {
  std::string lines;
  std::string labels;
  for (int i = 0; i <= scale.marks; ++i) {
    const double y = kTop + kInnerHeight * (1.0 - static_cast<double>(i) / scale.marks);
    lines += fmt::format("M{} {:.1f}h{}", kLeft, y, kInnerWidth);
    labels += fmt::format("<text class=\"y\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", kLeft - 6, y + 4,
                          watts_label(scale.mark * i));
  }
  const Seconds mark = time_mark(plot.length);
  for (int i = 0; i * mark <= plot.length; ++i) {
    const double x = kLeft + kInnerWidth * (i * mark / plot.length);
    const std::string_view anchor = x > kWidth - 30 ? "end" : "middle";
    labels += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{}\">{}</text>\n", anchor,
                          anchor == "end" ? kWidth - 2.0 : x, kHeight - 6,
                          time_label(i * mark, mark, plot.length));
  }
  return fmt::format("<path class=\"rule\" d=\"{}\"/>\n{}", lines, labels);
}

std::string svg_of(const PowerPlot& plot, const PowerScale& scale, const std::string& id) {
  return fmt::format(
      "<svg class=\"drawing\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"{}-name "
      "{}-text\">\n"
      "{}<svg class=\"data\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {:.6g} "
      "{}\" "
      "preserveAspectRatio=\"none\">\n{}{}{}{}</svg>\n{}</svg>\n",
      kWidth, kHeight, id, id, axes_of(plot, scale), kLeft, kTop, kInnerWidth, kInnerHeight,
      plot.length / plot.column, scale.steps(), stripes_of(plot, scale),
      path_element("range", range_path(plot.columns, scale)),
      path_element("doubt", doubt_path(plot.columns, scale)),
      path_element("mean", mean_path(plot.columns, scale)), stripe_names(plot));
}

/// Several columns as one row of a table.
struct PlotTableRow {
  double sum_w = 0.0;
  std::size_t known = 0;
  PowerColumn extremes{};

  void add(const PowerColumn& column) noexcept {
    if (!column.mean) return;
    sum_w += column.mean->si();
    ++known;
    const Watts low = column.lowest.value_or(*column.mean);
    const Watts high = column.highest.value_or(*column.mean);
    extremes.lowest = std::min(extremes.lowest.value_or(low), low);
    extremes.highest = std::max(extremes.highest.value_or(high), high);
  }
};

std::string values_row(const PlotTableRow& row, Seconds from, Seconds to, Seconds each,
                       Seconds length) {
  const std::string time =
      fmt::format("{} to {}", time_label(from, each, length), time_label(to, each, length));
  if (row.known == 0) {
    return fmt::format("<tr><th scope=\"row\">{0}</th><td>{1}</td><td>{1}</td><td>{1}</td></tr>\n",
                       time, kUnknownCell);
  }
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", time,
                     to_text(Watts(row.sum_w / static_cast<double>(row.known))),
                     to_text(*row.extremes.lowest), to_text(*row.extremes.highest));
}

/// For who cannot see the plot: the same in a few rows.
std::string values_of(const PowerPlot& plot) {
  const std::size_t per_row =
      std::max<std::size_t>((plot.columns.size() + kMostRows - 1) / kMostRows, 1);
  std::string rows;
  for (std::size_t i = 0; i < plot.columns.size(); i += per_row) {
    const std::size_t end = std::min(i + per_row, plot.columns.size());
    PlotTableRow row;
    for (std::size_t k = i; k < end; ++k) row.add(plot.columns[k]);
    const Seconds from = static_cast<double>(i) * plot.column;
    const Seconds to = std::min(static_cast<double>(end) * plot.column, plot.length);
    rows += values_row(row, from, to, plot.column, plot.length);
  }
  return fmt::format(
      "<details><summary>Values of {}</summary>\n<table>\n<thead><tr><th scope=\"col\">time</th>"
      "<th scope=\"col\">mean</th><th scope=\"col\">lowest</th><th scope=\"col\">highest</th></tr>"
      "</thead>\n<tbody>\n{}</tbody>\n</table>\n</details>\n",
      escaped(plot.name), rows);
}

}  // namespace

std::string time_label(Seconds time, Seconds step, Seconds longest) {
  const int decimals =
      std::clamp(static_cast<int>(std::ceil(-std::log10(step.count()) - 1e-9)), 0, 6);
  if (longest < Seconds(60)) return fmt::format("{:.{}f} s", time.count(), decimals);
  // Rounded first: there is no 60th second.
  const double unit = std::pow(10.0, decimals);
  const double rounded = std::round(time.count() * unit) / unit;
  const auto whole = static_cast<long long>(rounded + 1e-9);
  std::string text = longest < Seconds(3600)
                         ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                         : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  if (decimals == 0) return text;
  const double part = std::max(0.0, rounded - static_cast<double>(whole));
  return text + fmt::format("{:.{}f}", part, decimals).substr(1);
}

std::string figure_of(const PowerPlot& plot, const std::string& id) {
  const std::string name =
      fmt::format("<figcaption id=\"{}-name\">{}</figcaption>\n", id, escaped(plot.name));
  const auto summary_of = [&](const std::string& more) {
    return fmt::format("<p class=\"summary\" id=\"{}-text\">{}{}</p>\n", id, escaped(plot.summary),
                       more);
  };
  const auto is_known = [](const PowerColumn& column) { return column.mean.has_value(); };
  if (std::ranges::none_of(plot.columns, is_known)) {
    return fmt::format("<figure>\n{}{}</figure>\n", name, summary_of(""));
  }
  Watts highest = plot.scale;
  for (const PowerColumn& column : plot.columns) {
    highest = std::max({highest, column.mean.value_or(highest), column.highest.value_or(highest)});
  }
  const PowerScale scale = scale_for(highest);
  const Band band = band_of(plot.columns, scale);
  const std::string no_band = covers_plot(band)
                                  ? fmt::format(
                                        " The ± of {} is {} on average: its band would cover the "
                                        "plot, and is not drawn.",
                                        to_text(plot.column), to_text(band.mean))
                                  : std::string();
  return fmt::format(
      "<figure class=\"power\" data-columns=\"{}\" data-column-seconds=\"{:.9g}\" "
      "data-seconds=\"{:.9g}\" data-steps=\"{}\" data-step-watts=\"{:.6g}\">\n{}{}{}{}</figure>\n",
      plot.columns.size(), plot.column.count(), plot.length.count(), scale.steps(),
      scale.step().si(), name, svg_of(plot, scale, id), summary_of(no_band), values_of(plot));
}

}  // namespace wattle::html
