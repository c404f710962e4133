// Energy of a GPU from the powers in a table.
#pragma once

#include <cstdint>
#include <optional>

#include "hardware/table_cell.hpp"
#include "wattle/clock.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Each power holds until the next row. Threads: one at a time.
class HeldPower {
 public:
  /// A row of `time_ms`, whatever that is counted from.
  void add(std::int64_t time_ms, const Cell& power) noexcept {
    if (last_ms_) add_stretch(time_ms - *last_ms_);
    last_ms_ = time_ms;
    last_ = power;
  }

  /// Absent where no stretch has a power.
  [[nodiscard]] std::optional<Joules> energy() const noexcept {
    return known_ ? std::optional(Joules(energy_mj_ * 1e-3)) : std::nullopt;
  }
  [[nodiscard]] Seconds unknown() const noexcept {
    return Seconds(static_cast<double>(unknown_ms_) * 1e-3);
  }

 private:
  /// A pause so many times the mean so far is not one that the writer meant.
  static constexpr double kLongestPause = 10.0;

  void add_stretch(std::int64_t length_ms) noexcept {
    if (length_ms <= 0) return;  // the clock was set back: local time does that each autumn
    const bool pause =
        stretches_ > 0 && static_cast<double>(length_ms) * static_cast<double>(stretches_) >
                              kLongestPause * static_cast<double>(total_ms_);
    if (pause || !last_.is_number()) {
      unknown_ms_ += length_ms;
    } else {
      energy_mj_ += last_.value * static_cast<double>(length_ms);
      known_ = true;
    }
    if (pause) return;
    ++stretches_;
    total_ms_ += length_ms;
  }

  std::optional<std::int64_t> last_ms_;
  Cell last_;
  std::int64_t total_ms_ = 0;  ///< without pauses
  std::int64_t stretches_ = 0;
  std::int64_t unknown_ms_ = 0;
  double energy_mj_ = 0.0;
  bool known_ = false;
};

}  // namespace wattle
