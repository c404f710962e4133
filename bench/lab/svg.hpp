// Small plots as SVG: the same bytes for the same numbers.
#pragma once

#include <string>
#include <vector>

namespace wattle::lab {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

struct Line {
  std::string name;
  std::vector<Point> points;
  bool is_dashed = false;
};

/// A place on an axis that is labelled.
struct Tick {
  double at = 0.0;
  std::string label;
};

struct Axis {
  std::string title;
  double low = 0.0;
  double high = 1.0;
  bool is_logarithmic = false;
  std::vector<Tick> ticks;
};

struct Plot {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Line> lines;
};

/// Lines with a mark at each point and a legend. Points beyond an axis are drawn at its end.
[[nodiscard]] std::string svg_of(const Plot& plot);

/// Powers of ten from `low` to `high`, both included, as labels of a logarithmic axis in percent.
[[nodiscard]] Axis decades_of_percent(std::string title, int low, int high);

}  // namespace wattle::lab
