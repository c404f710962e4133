// Whether two GPUs changed places in a table that does not name them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "run_monitor/rounds/round_model.hpp"

namespace wattle {

/// The writer goes on at its pace, and two of its places show each other's board from one round to
/// the next. Threads: one at a time.
class PlaceSwaps {
 public:
  /// `row` follows `last` on a track.
  void add(std::size_t track, const RowTrace& last, const RowTrace& row, double period_ms) {
    if (is_found_ || (!are_unlike(last, row) && !is_other_memory(last, row, kJump))) return;
    constexpr double kRounds = 1.5;
    std::erase_if(jumps_, [&](const BoardJump& jump) {
      return std::abs(static_cast<double>(row.time_ms - jump.now.time_ms)) > kRounds * period_ms;
    });
    const BoardJump jump{.track = track, .before = last, .now = row};
    is_found_ = std::ranges::any_of(jumps_, [&](const BoardJump& earlier) {
      return earlier.track != track && is_board_of(jump, earlier) && is_board_of(earlier, jump);
    });
    jumps_.push_back(jump);
  }
  [[nodiscard]] bool is_found() const noexcept { return is_found_; }

 private:
  /// Parts of the memory in use.
  static constexpr double kJump = 0.05;
  static constexpr double kSame = 0.01;
  struct BoardJump {
    std::size_t track = 0;
    RowTrace before;
    RowTrace now;
  };

  [[nodiscard]] static bool is_other_memory(const RowTrace& one, const RowTrace& other,
                                            double least) noexcept {
    if (one.used_mib < 0.0F || other.used_mib < 0.0F) return false;
    const auto most = static_cast<double>(std::max({1.0F, one.used_mib, other.used_mib}));
    return std::abs(static_cast<double>(one.used_mib - other.used_mib)) > least * most;
  }
  /// True if a track has the board that another one had. A job that moves from one GPU to another
  /// takes its memory with it, but not the temperature. Where sizes of memory or names show it,
  /// what is in use may have changed as well.
  [[nodiscard]] static bool is_board_of(const BoardJump& to, const BoardJump& from) noexcept {
    if (are_unlike(to.now, from.before)) return false;
    if (are_unlike(to.now, to.before)) return true;
    const auto degrees_from = [&](const RowTrace& row) {
      const bool is_known = row.temperature >= 0.0F && to.now.temperature >= 0.0F;
      return is_known ? std::abs(row.temperature - to.now.temperature) : 0.0F;
    };
    constexpr float kDegreesPerS = 2.0F;  // in the pause, under another load
    const auto gap_s = 1e-3F * static_cast<float>(to.now.time_ms - to.before.time_ms);
    return degrees_from(from.before) <= degrees_from(to.before) + 1.0F + kDegreesPerS * gap_s &&
           !is_other_memory(to.now, from.before, kSame);
  }

  std::vector<BoardJump> jumps_;  ///< of the last rounds
  bool is_found_ = false;
};

}  // namespace wattle
