#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers/value_range.hpp"
#include "report/html/escape.hpp"
#include "report/html/figure.hpp"

namespace wattle::html {
namespace {

// The drawing, in units that are pixels where it is as wide as planned.
constexpr int kDotPlotWidth = 480;
constexpr int kStripWidth = kDotPlotWidth - 2 * 24;
constexpr int kStripLeft = 24;
constexpr int kRowHeight = 46;
constexpr int kStripTop = 18;  ///< below the top of a row, under its name
constexpr int kStripHeight = 20;
constexpr int kAxisHeight = 24;
constexpr int kMostAxisMarks = 5;
constexpr std::size_t kMostBytesOfName = 44;

/// The scale.
struct DotScale : ValueRange {
  [[nodiscard]] double place_of(double value) const noexcept {
    return kStripLeft + kStripWidth * (value - low) / width();
  }
};

DotScale span_of(const DotPlot& plot) {
  DotScale span;
  if (plot.line) span.add(*plot.line);
  for (const DotPlot::DotRow& row : plot.rows) {
    for (const double dot : row.dots) span.add(dot);
    if (row.mark) span.add(*row.mark);
    if (!row.interval) continue;
    span.add(row.interval->first);
    span.add(row.interval->second);
  }
  if (span.is_empty()) return {{.low = 0.0, .high = 1.0}};
  // Values that are all alike get an axis too.
  const double margin = std::max(0.04 * span.width(), 1e-3 * std::abs(span.high));
  return {{.low = span.low - std::max(margin, 1e-9), .high = span.high + std::max(margin, 1e-9)}};
}

std::string axis_of(const DotPlot& plot, const DotScale& span, int height) {
  const double step = round_step(span.width(), kMostAxisMarks).value();
  std::string lines;
  std::string labels;
  for (double k = std::ceil(span.low / step); k * step <= span.high; ++k) {
    const double x = span.place_of(k * step);
    lines += fmt::format("M{:.1f} 0v{}", x, height);
    // Whole steps below 1e-9 of the scale are 0.
    labels += fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{}\">{:.6g} {}</text>\n", x,
                          height + 16, k == 0.0 ? 0.0 : k * step, escaped(plot.unit));
  }
  std::string text = fmt::format("<path class=\"rule\" d=\"{}\"/>\n{}", lines, labels);
  if (plot.line) {
    text += fmt::format("<path class=\"line\" d=\"M{:.1f} 0v{}\"/>\n", span.place_of(*plot.line),
                        height);
  }
  return text;
}

/// The first at the top, the last at the bottom.
std::string dots_path(const std::vector<double>& dots, const DotScale& span, int top) {
  std::string path;
  const auto count = static_cast<double>(dots.size());
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const double y = top + kStripHeight * (static_cast<double>(i) + 0.5) / count;
    path += fmt::format("M{:.1f} {:.1f}h0", span.place_of(dots[i]), y);
  }
  return path;
}

std::string row_of(const DotPlot::DotRow& row, const DotScale& span, int top) {
  const int strip = top + kStripTop;
  std::string text = fmt::format(
      "<text class=\"row\" x=\"{}\" y=\"{}\">{}</text>\n"
      "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>\n",
      kStripLeft, top + 13, escaped(row.name, kMostBytesOfName), kStripLeft + kStripWidth, top + 13,
      escaped(row.text));
  if (row.interval) {
    const double left = span.place_of(row.interval->first);
    text += fmt::format(
        "<rect class=\"interval\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>\n", left,
        strip, std::max(span.place_of(row.interval->second) - left, 0.0), kStripHeight);
  }
  if (!row.dots.empty()) {
    text += fmt::format("<path class=\"dots\" data-name=\"{}\" data-runs=\"{}\" d=\"{}\"/>\n",
                        escaped(row.name, 100), row.runs, dots_path(row.dots, span, strip));
  }
  if (row.mark) {
    text += fmt::format("<path class=\"mark\" d=\"M{:.1f} {}v{}\"/>\n", span.place_of(*row.mark),
                        strip - 2, kStripHeight + 4);
  }
  return text;
}

}  // namespace

std::string figure_of(const DotPlot& plot, const std::string& id) {
  const DotScale span = span_of(plot);
  Figure figure{.id = id, .attributes = {}, .name = plot.name, .summary = plot.summary};
  if (!std::isfinite(span.width())) return text_of(figure);
  const int height = kRowHeight * static_cast<int>(plot.rows.size());
  std::string rows;
  int top = 0;
  for (const DotPlot::DotRow& row : plot.rows) {
    rows += row_of(row, span, top);
    top += kRowHeight;
  }
  figure.attributes = fmt::format(
      "class=\"values\" data-left=\"{}\" data-width=\"{}\" data-low=\"{:.9g}\" "
      "data-high=\"{:.9g}\" data-unit=\"{}\"",
      kStripLeft, kStripWidth, span.low, span.high, escaped(plot.unit));
  figure.width = kDotPlotWidth;
  figure.height = height + kAxisHeight;
  figure.drawing = axis_of(plot, span, height) + rows;
  return text_of(figure);
}

}  // namespace wattle::html
