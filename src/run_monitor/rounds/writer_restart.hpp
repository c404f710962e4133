// Where the writer of a table was stopped and started again.
#pragma once

#include <cstddef>
#include <optional>

#include "run_monitor/rounds/round_model.hpp"
#include "run_monitor/rounds/round_solver.hpp"

namespace wattle {

/// True if the writer may have been started again before the row `i` of a piece: by the time, or
/// since a late round has its GPUs in another order. `first`: the position of the first GPU of a
/// round, where it is known.
[[nodiscard]] bool may_be_restart(Traces rows, const RoundPiece& piece, std::size_t i,
                                  std::optional<std::size_t> first);

}  // namespace wattle
