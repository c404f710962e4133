// How many GPUs the rows of a table are of, and from which row on that changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run_monitor/rounds/round_choice.hpp"
#include "run_monitor/rounds/round_model.hpp"
#include "run_monitor/rounds/round_path.hpp"

namespace wattle {

/// Rows [begin, end) of the same number of GPUs in one order, without a break.
struct RoundPiece {
  std::size_t begin = 0;
  std::size_t end = 0;
  RoundModel model;
  RoundPath path;  ///< of these rows
};

enum class RoundDoubt : std::uint8_t {
  none,
  gpus,   ///< more than one number of GPUs explains the rows
  order,  ///< the rows follow no order for long enough
};

struct RoundSolution {
  std::vector<RoundPiece> pieces;  ///< in order; rows between two of them are of unknown GPUs
  RoundDoubt doubt = RoundDoubt::none;
  bool lacks_gpus = false;  ///< rows between pieces are of more GPUs than any piece
};

/// True where no row of the path is of another order: irregular rows are few and not together.
[[nodiscard]] bool is_regular(const RoundPath& path, std::size_t gpus);

/// Fewer rounds prove nothing.
inline constexpr std::size_t kFewestRounds = 3;

[[nodiscard]] RoundSolution solve_rounds(Traces rows, std::optional<ExpectedGpus> expected);

}  // namespace wattle
