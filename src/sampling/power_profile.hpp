// The course of a power over time in a fixed number of bins, however long it lasts.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "wattle/units.hpp"

namespace wattle {

/// Equal intervals come in one by one; when the bins are full, neighbours are joined two by two.
/// Threads: one at a time.
class PowerProfile {
 public:
  /// At most `bins` bins, an even number; at least half of that once there are enough intervals.
  explicit PowerProfile(std::size_t bins);

  /// The mean power of the next interval; absent where it is not known.
  void add(std::optional<Watts> power) noexcept;

  /// The mean power of each bin so far, oldest first; absent where nothing in it is known.
  [[nodiscard]] std::vector<std::optional<Watts>> means() const;

 private:
  struct Bin {
    Watts sum;
    std::size_t known = 0;  ///< intervals in `sum`
    std::size_t all = 0;
  };
  std::vector<Bin> bins_;
  std::size_t used_ = 0;
  std::size_t per_bin_ = 1;
};

}  // namespace wattle
