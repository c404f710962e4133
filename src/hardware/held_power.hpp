// Energy of a GPU from the powers in a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hardware/table_cell.hpp"
#include "wattle/clock.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Each power holds until the next row, but over a pause. Threads: one at a time.
class HeldPower {
 public:
  /// A row of `time_ms`, whatever that is counted from.
  void add(std::int64_t time_ms, const Cell& power) noexcept {
    if (last_ms_) add_stretch({.length_ms = time_ms - *last_ms_, .power = last_});
    last_ms_ = time_ms;
    last_ = power;
  }

  /// Absent where no stretch has a power.
  [[nodiscard]] std::optional<Joules> energy() const noexcept {
    const Sum sum = all();
    return sum.known ? std::optional(Joules(sum.energy_mj * 1e-3)) : std::nullopt;
  }
  [[nodiscard]] Seconds unknown() const noexcept {
    return Seconds(static_cast<double>(all().unknown_ms) * 1e-3);
  }

 private:
  /// A pause so many times as long as most stretches is not one that the writer meant.
  static constexpr std::int64_t kLongestPause = 10;
  static constexpr std::size_t kRecent = 15;

  struct Stretch {
    std::int64_t length_ms = 0;
    Cell power{};
  };
  struct Sum {
    double energy_mj = 0.0;
    std::int64_t unknown_ms = 0;
    bool known = false;

    void add(const Stretch& stretch, std::int64_t pace_ms) noexcept {
      if (stretch.length_ms > kLongestPause * pace_ms || !stretch.power.is_number()) {
        unknown_ms += stretch.length_ms;
        return;
      }
      energy_mj += stretch.power.value * static_cast<double>(stretch.length_ms);
      known = true;
    }
  };

  void add_stretch(const Stretch& stretch) noexcept {
    if (stretch.length_ms <= 0) return;  // the clock was set back: local time does that each autumn
    const bool is_early = stretches_ < kRecent;
    recent_[stretches_++ % kRecent] = stretch;
    // What the first ones are held against is known when there are some more.
    if (is_early && stretches_ < kRecent) return;
    if (is_early) {
      pace_ms_ = pace();
      for (const Stretch& early : recent_) settled_.add(early, pace_ms_);
      return;
    }
    const bool is_due = stretches_ % kRecent == 0;
    if (is_due || stretch.length_ms > kLongestPause * pace_ms_) pace_ms_ = pace();
    settled_.add(stretch, pace_ms_);
  }

  /// The median of the last stretches; the lower one of two.
  [[nodiscard]] std::int64_t pace() const noexcept {
    std::array<std::int64_t, kRecent> lengths{};
    const std::size_t count = std::min(stretches_, kRecent);
    for (std::size_t i = 0; i < count; ++i) lengths[i] = recent_[i].length_ms;
    const std::size_t middle = (count - 1) / 2;
    std::nth_element(lengths.begin(), lengths.begin() + static_cast<std::ptrdiff_t>(middle),
                     lengths.begin() + static_cast<std::ptrdiff_t>(count));
    return lengths[middle];
  }

  [[nodiscard]] Sum all() const noexcept {
    Sum sum = settled_;
    if (stretches_ == 0 || stretches_ >= kRecent) return sum;
    const std::int64_t pace_ms = pace();
    for (std::size_t i = 0; i < stretches_; ++i) sum.add(recent_[i], pace_ms);
    return sum;
  }

  std::optional<std::int64_t> last_ms_;
  Cell last_;
  std::array<Stretch, kRecent> recent_{};
  std::size_t stretches_ = 0;
  std::int64_t pace_ms_ = 0;
  Sum settled_;
};

}  // namespace wattle
