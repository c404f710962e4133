#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers/value_range.hpp"
#include "report/html/escape.hpp"
#include "report/html/figure.hpp"

namespace wattle::html {
namespace {

// The drawing, in units that are pixels where it is as wide as planned.
constexpr int kCurvePlotWidth = 480;
constexpr int kCurvePlotHeight = 220;
constexpr int kCurveLeft = 66;
constexpr int kCurveTop = 18;
constexpr int kCurveWidth = kCurvePlotWidth - kCurveLeft - 70;  ///< names of curves at the right
constexpr int kCurveHeight = kCurvePlotHeight - kCurveTop - 40;
constexpr int kMostMarksOfCurve = 5;
constexpr std::size_t kMostBytesOfCurveName = 12;

/// 0 to 1.
double place_in(const ValueRange& axis, double value) noexcept {
  return axis.width() > 0.0 ? (value - axis.low) / axis.width() : 0.5;
}

struct CurveAxes {
  ValueRange x;
  ValueRange y;

  [[nodiscard]] double left_of(double value) const noexcept {
    return kCurveLeft + kCurveWidth * place_in(x, value);
  }
  [[nodiscard]] double top_of(double value) const noexcept {
    return kCurveTop + kCurveHeight * (1.0 - place_in(y, value));
  }
};

/// From 0 upwards: who sees one curve twice as high as another is right.
CurveAxes axes_for(const CurvePlot& plot) {
  CurveAxes axes;
  axes.y.add(0.0);
  for (const CurvePlot::Curve& curve : plot.curves) {
    for (const CurvePlot::Point& point : curve.points) {
      axes.x.add(point.x);
      axes.y.add(point.y + point.deviation.value_or(0.0));
    }
  }
  const double step = round_step(axes.y.high, kMostMarksOfCurve).value();
  axes.y.high = step * std::max(std::ceil(axes.y.high / step - 1e-9), 1.0);
  return axes;
}

std::string marks_of(const CurvePlot& plot, const CurveAxes& axes) {
  std::string lines;
  std::string labels;
  const double y_step = round_step(axes.y.high, kMostMarksOfCurve).value();
  for (double k = 0.0; k * y_step <= axes.y.high * (1.0 + 1e-9); ++k) {
    const double y = axes.top_of(k * y_step);
    lines += fmt::format("M{} {:.1f}h{}", kCurveLeft, y, kCurveWidth);
    labels += fmt::format("<text class=\"y\" x=\"{}\" y=\"{:.1f}\">{:.6g} {}</text>\n",
                          kCurveLeft - 6, y + 4, k * y_step, escaped(plot.unit));
  }
  const double x_step = round_step(axes.x.width(), kMostMarksOfCurve).value();
  for (double k = std::ceil(axes.x.low / x_step - 1e-9); k * x_step <= axes.x.high + 1e-9 * x_step;
       ++k) {
    labels +=
        fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{}\">{:.6g}</text>\n",
                    axes.left_of(k * x_step), kCurvePlotHeight - 22, k == 0.0 ? 0.0 : k * x_step);
  }
  labels +=
      fmt::format("<text class=\"middle\" x=\"{}\" y=\"{}\">{}</text>\n",
                  kCurveLeft + kCurveWidth / 2, kCurvePlotHeight - 5, escaped(plot.x_name, 60));
  return fmt::format("<path class=\"rule\" d=\"{}\"/>\n{}", lines, labels);
}

std::string curve_of(const CurvePlot::Curve& curve, const CurveAxes& axes) {
  std::string line;
  std::string dots;
  std::string bars;
  for (const CurvePlot::Point& point : curve.points) {
    const double x = axes.left_of(point.x);
    const double y = axes.top_of(point.y);
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x, y);
    dots += fmt::format("M{:.1f} {:.1f}h0", x, y);
    if (!point.deviation || *point.deviation <= 0.0) continue;
    const double top = axes.top_of(point.y + *point.deviation);
    const double bottom = axes.top_of(std::max(point.y - *point.deviation, 0.0));
    bars += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, top, bottom);
  }
  std::string text = fmt::format("<path class=\"mean\" d=\"{}\"/>\n", line);
  if (!bars.empty()) text += fmt::format("<path class=\"mark\" d=\"{}\"/>\n", bars);
  text += fmt::format("<path class=\"dots\" d=\"{}\"/>\n", dots);
  if (curve.name.empty()) return text;
  const CurvePlot::Point& last = curve.points.back();
  return text + fmt::format("<text class=\"row\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                            axes.left_of(last.x) + 8, axes.top_of(last.y) + 4,
                            escaped(curve.name, kMostBytesOfCurveName));
}

}  // namespace

std::string figure_of(const CurvePlot& plot, const std::string& id) {
  const CurveAxes axes = axes_for(plot);
  Figure figure{.id = id,
                .attributes = "class=\"curves\"",
                .name = plot.name,
                .summary = plot.summary,
                .width = kCurvePlotWidth,
                .height = kCurvePlotHeight};
  const bool is_drawn =
      !axes.x.is_empty() && std::isfinite(axes.x.width()) && std::isfinite(axes.y.high);
  if (!is_drawn) return text_of(figure);
  figure.drawing = marks_of(plot, axes);
  for (const CurvePlot::Curve& curve : plot.curves) figure.drawing += curve_of(curve, axes);
  return text_of(figure);
}

}  // namespace wattle::html
