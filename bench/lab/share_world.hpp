// Simulated machines on which commands run side by side, and what each of them is responsible for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wattle::lab {

/// How power above idle follows the load of all cores: load^p, p uniform in a range.
enum class PowerCurve : std::uint8_t { concave, linear, convex };

struct ShareCell {
  PowerCurve curve = PowerCurve::linear;
  unsigned others = 0;         ///< commands beside the measured one, at most 3
  bool shares_cores = false;   ///< two threads on a core (SMT), which interfere
  bool changes_clock = false;  ///< the power of the same load changes over time
  bool has_baseline = true;
};

/// "convex, 3 others, SMT, clock changes, no baseline".
[[nodiscard]] std::string name_of(const ShareCell& cell);
/// All of them.
[[nodiscard]] std::vector<ShareCell> share_cells();

struct ShareResult {
  std::size_t trials = 0;
  std::size_t held = 0;            ///< the truth lies in the range
  std::size_t closed = 0;          ///< the balance adds up, to the nanojoule
  double median_half_width = 0.0;  ///< of the range, as a part of the truth

  [[nodiscard]] double coverage() const noexcept {
    return static_cast<double>(held) / static_cast<double>(trials);
  }
};

/// Power is not additive, so what a command is responsible for is a convention: its Shapley value
/// in the game of the commands that run at a time, whose worth is their power above idle.
[[nodiscard]] ShareResult simulate_shares(const ShareCell& cell, std::size_t trials,
                                          std::uint64_t seed);

}  // namespace wattle::lab
