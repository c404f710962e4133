#include "lab/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

namespace wattle::lab {
namespace {

constexpr double kWidth = 720.0;
constexpr double kHeight = 360.0;
constexpr double kLeft = 64.0;
constexpr double kRight = 500.0;
constexpr double kTop = 36.0;
constexpr double kBottom = 308.0;

/// Told apart by people who do not see all colours.
constexpr std::array<std::string_view, 9> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                      "#cc79a7", "#e69f00", "#56b4e9",
                                                      "#000000", "#999999", "#5d3a9b"};

double along(const Axis& axis, double value) {
  value = std::clamp(value, axis.low, axis.high);
  if (!axis.is_logarithmic) return (value - axis.low) / (axis.high - axis.low);
  return std::log(value / axis.low) / std::log(axis.high / axis.low);
}

double x_of(const Plot& plot, double value) {
  return kLeft + along(plot.x, value) * (kRight - kLeft);
}

double y_of(const Plot& plot, double value) {
  return kBottom - along(plot.y, value) * (kBottom - kTop);
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

template <class... Args>
void add(std::string& svg, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(svg), format, std::forward<Args>(args)...);
}

void add_axes(std::string& svg, const Plot& plot) {
  for (const Tick& tick : plot.x.ticks) {
    const double x = x_of(plot, tick.at);
    add(svg, R"(<path class="grid" d="M{:.1f} {:.1f}V{:.1f}"/>)", x, kTop, kBottom);
    add(svg, R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", x, kBottom + 16.0,
        escaped(tick.label));
    svg += '\n';
  }
  for (const Tick& tick : plot.y.ticks) {
    const double y = y_of(plot, tick.at);
    add(svg, R"(<path class="grid" d="M{:.1f} {:.1f}H{:.1f}"/>)", kLeft, y, kRight);
    add(svg, R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", kLeft - 6.0, y + 4.0,
        escaped(tick.label));
    svg += '\n';
  }
  add(svg, R"(<text x="{:.1f}" y="20" class="title">{}</text>)", kLeft, escaped(plot.title));
  add(svg, R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle">{}</text>)", (kLeft + kRight) / 2.0,
      kHeight - 14.0, escaped(plot.x.title));
  add(svg,
      R"--(<text transform="translate(16 {:.1f}) rotate(-90)" text-anchor="middle">{}</text>)--",
      (kTop + kBottom) / 2.0, escaped(plot.y.title));
  svg += '\n';
}

void add_line(std::string& svg, const Plot& plot, std::size_t index) {
  const Line& line = plot.lines[index];
  const std::string_view colour = kColours.at(index % kColours.size());
  const std::string_view dashes = line.is_dashed ? R"( stroke-dasharray="5 4")" : "";
  add(svg, R"(<g stroke="{0}" fill="{0}"><path fill="none" stroke-width="1.5"{1} d=")", colour,
      dashes);
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    add(svg, "{}{:.1f} {:.1f}", i == 0 ? 'M' : 'L', x_of(plot, line.points[i].x),
        y_of(plot, line.points[i].y));
  }
  svg += R"("/>)";
  for (const Point& point : line.points) {
    add(svg, R"(<circle r="2.5" cx="{:.1f}" cy="{:.1f}"/>)", x_of(plot, point.x),
        y_of(plot, point.y));
  }
  const double legend_y = kTop + 8.0 + 18.0 * static_cast<double>(index);
  add(svg, R"(<path stroke-width="1.5"{} d="M{:.1f} {:.1f}h20"/></g>)", dashes, kRight + 14.0,
      legend_y);
  add(svg, R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", kRight + 40.0, legend_y + 4.0,
      escaped(line.name));
  svg += '\n';
}

}  // namespace

std::string svg_of(const Plot& plot) {
  std::string svg;
  add(svg, R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" role="img">)", kWidth,
      kHeight);
  add(svg, "\n<title>{}</title>\n", escaped(plot.title));
  svg +=
      "<style>text{font:12px sans-serif;fill:#222;stroke:none}.title{font-weight:bold}"
      ".grid{stroke:#ddd}</style>\n"
      R"(<rect width="100%" height="100%" fill="#fff"/>)"
      "\n";
  add_axes(svg, plot);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) add_line(svg, plot, i);
  svg += "</svg>\n";
  return svg;
}

Axis decades_of_percent(std::string title, int low, int high) {
  Axis axis{.title = std::move(title), .is_logarithmic = true};
  for (int decade = low; decade <= high; ++decade) {
    const double percent = std::pow(10.0, decade);
    axis.ticks.push_back({.at = percent / 100.0, .label = fmt::format("{:g} %", percent)});
  }
  axis.low = axis.ticks.front().at;
  axis.high = axis.ticks.back().at;
  return axis;
}

}  // namespace wattle::lab
