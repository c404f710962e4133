#include "fakes/nvml/power_curve.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>

namespace fakenvml {

PowerCurve::PowerCurve(Shape shape, std::vector<Point> points)
    : shape_(shape), points_(std::move(points)) {
  const auto not_later = [](const Point& a, const Point& b) { return a.at_s >= b.at_s; };
  if (points_.empty() || std::ranges::adjacent_find(points_, not_later) != points_.end()) {
    throw std::invalid_argument("a power needs points of increasing times");
  }
}

double PowerCurve::integral_from_first(double at_s) const noexcept {
  const Point& first = points_.front();
  if (at_s <= first.at_s) return (at_s - first.at_s) * first.watts;
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
    const Point& a = points_[i];
    const Point& b = points_[i + 1];
    const double length = std::min(at_s, b.at_s) - a.at_s;
    const double slope = shape_ == Shape::linear ? (b.watts - a.watts) / (b.at_s - a.at_s) : 0.0;
    sum += length * (a.watts + slope * length / 2.0);
    if (at_s <= b.at_s) return sum;
  }
  return sum + (at_s - points_.back().at_s) * points_.back().watts;
}

double PowerCurve::energy_j(double at_s) const noexcept {
  return integral_from_first(at_s) - integral_from_first(0.0);
}

double PowerCurve::mean_w(double at_s, double window_s) const noexcept {
  return (energy_j(at_s) - energy_j(at_s - window_s)) / window_s;
}

}  // namespace fakenvml
