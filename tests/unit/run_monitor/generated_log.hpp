// Logs of nvidia-smi without an index, as random as those of machines, and what is true of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wattle::test {

enum class Irregularity : std::uint8_t {
  none,
  any_first_row,
  cut_at_end,
  one_missing,
  one_late,
  one_doubled,
  one_torn,
  percent_missing,
  percent_late,
  leaves,
  comes_late,
  leaves_and_returns,
  restart,
  restart_in_other_order,
  two_swap,
};
/// The logs of a seed are of all but the last one: those of earlier seeds stay the same.
inline constexpr std::size_t kDrawnIrregularities = 14;
inline constexpr std::array<std::string_view, kDrawnIrregularities + 1> kIrregularities = {
    "none",
    "any first row",
    "cut at the end",
    "one row missing",
    "one row late",
    "one row doubled",
    "one row torn",
    "1 % missing",
    "1 % late",
    "a GPU leaves",
    "a GPU comes late",
    "a GPU leaves and returns",
    "restart",
    "restart in another order",
    "two GPUs change places"};

struct GeneratedLog {
  Irregularity kind = Irregularity::none;
  std::vector<std::string> lines;
  std::string description;  ///< for a message
  /// Nothing but power shows that two of them changed places: their figures may be mixed.
  bool may_be_mixed = false;
  /// Of each GPU, in the order in which the writer knows them.
  struct Gpu {
    double energy_j = 0.0;  ///< each power held until the next row, but for long pauses
    double most_w = 0.0;
    double doubt_j = 0.0;  ///< of pauses that may count or not
  };
  std::vector<Gpu> gpus;
};

/// The same log for the same seed, on every machine.
[[nodiscard]] GeneratedLog generated_log(std::uint64_t seed);

/// A log in which two GPUs change places without a pause.
[[nodiscard]] GeneratedLog swapped_log(std::uint64_t seed);

}  // namespace wattle::test
