// Which row is at which position of its round: the least costly way through the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "run_monitor/rounds/round_model.hpp"

namespace wattle {

/// Threads: a value type.
struct RoundPath {
  std::vector<std::uint16_t> positions;  ///< of each row
  /// By how much another position of the row costs more, whatever the others' are.
  std::vector<float> margins;
  /// The irregularities at each row: missing rows before it, a time of no kind, another board. 0:
  /// none.
  std::vector<float> events;
  std::vector<std::uint8_t> is_copy;  ///< of the row before
  std::vector<std::uint8_t> missing;  ///< rows before it that are missing; 255: any number
  double cost = 0.0;
};

struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

/// Those of some rows of a path between which and the ends none is missing within two rounds: the
/// others may be of another number of GPUs, if one left or came.
[[nodiscard]] RowRange whole_rounds(const RoundPath& path, const RowRange& rows, std::size_t gpus);

/// Irregular rows of a path that are within a round of each other, around the row `k`.
[[nodiscard]] RowRange irregular_around(const RoundPath& path, std::size_t k, std::size_t gpus);

/// Finds the path of all rows. `first`: the position of the first row, where it is known. Without
/// margins it takes less time, and a third of the memory.
[[nodiscard]] RoundPath find_path(Traces rows, const RoundModel& model,
                                  std::optional<std::size_t> first = std::nullopt,
                                  bool has_margins = true);

}  // namespace wattle
