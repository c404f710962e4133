// The lowest and the highest of some values.
#pragma once

#include <algorithm>
#include <limits>

namespace wattle {

/// Threads: a value type.
struct ValueRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) noexcept {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool is_empty() const noexcept { return high < low; }
  /// 0 without values.
  [[nodiscard]] double width() const noexcept { return std::max(high - low, 0.0); }
};

}  // namespace wattle
