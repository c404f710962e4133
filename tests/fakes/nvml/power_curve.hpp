// Power over time as a test states it, and its exact integral.
#pragma once

#include <vector>

namespace fakenvml {

/// Steps or straight lines between points; before the first and after the last point the power is
/// constant. Threads: a value type.
class PowerCurve {
 public:
  enum class Shape { step, linear };
  struct Point {
    double at_s;
    double watts;
  };

  /// Throws `std::invalid_argument` without a point, or where times do not increase.
  PowerCurve(Shape shape, std::vector<Point> points);

  /// Energy from time 0 to `at_s`, in joules.
  [[nodiscard]] double energy_j(double at_s) const noexcept;
  /// Mean power over the `window_s` seconds that end at `at_s`.
  [[nodiscard]] double mean_w(double at_s, double window_s) const noexcept;

 private:
  [[nodiscard]] double integral_from_first(double at_s) const noexcept;

  Shape shape_;
  std::vector<Point> points_;
};

}  // namespace fakenvml
