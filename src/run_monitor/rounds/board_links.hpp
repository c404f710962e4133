// Which GPU of one stretch of a table is which GPU of the next.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "run_monitor/rounds/round_model.hpp"

namespace wattle {

/// Index of a board before, for each board now; absent for one that is new.
using BoardLinks = std::vector<std::optional<std::size_t>>;

/// Links boards by their memory and temperature; `with_memory`: by the memory in use, too. No
/// result where another way would do nearly as well.
std::optional<BoardLinks> link_boards(const std::vector<RowTrace>& before,
                                      const std::vector<RowTrace>& now, bool with_memory);

/// False where a link changes the order: a writer that goes on does not.
bool is_in_order(const BoardLinks& links);

/// One board of an order, and its gap to the next.
struct PlacedBoard {
  RowTrace board;
  RoundModel::Gap gap;
};

/// The boards of a round whose first position is `first`.
std::vector<PlacedBoard> placed_of(const RoundModel& model, std::size_t first,
                                   const std::vector<RowTrace>& boards);

/// The boards of an order, and the number of rounds that their gaps are means of.
struct PlacedBoards {
  std::vector<PlacedBoard> boards;
  double rounds = 0.0;
};

/// Links boards of which one left or came, the others in the same order: the boards show which one,
/// and the times that the driver takes for each. No result where another would do nearly as well.
std::optional<BoardLinks> link_in_order(const PlacedBoards& before, const PlacedBoards& now,
                                        bool with_memory);

}  // namespace wattle
