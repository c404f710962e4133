// Which GPU of one section of a table is which GPU of the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "run_monitor/rounds/round_model.hpp"

namespace wattle {

/// Index of a board before, for each board now; absent for one that is new.
using BoardLinks = std::vector<std::optional<std::size_t>>;

/// The evidence of the memory in use about a board after a break.
enum class MemoryEvidence : std::uint8_t {
  none,    ///< it changes as the work does
  shared,  ///< it hardly changes, and several boards use as much
  steady,  ///< it hardly changes
  exact,   ///< it is the same in all rows: another one is another board
};

/// The memory in use of the boards of an order. Threads: a value type.
class MemoryInUse {
 public:
  explicit MemoryInUse(std::size_t places) : ranges_(places) {}
  void add(std::size_t place, const RowTrace& row) noexcept;
  /// The evidence of the least steady board.
  [[nodiscard]] MemoryEvidence evidence() const noexcept;

 private:
  struct MemoryRange {
    float least = -1.0F;
    float most = -1.0F;
  };
  std::vector<MemoryRange> ranges_;
};

/// Links boards by their memory and temperature. No result where another way would do nearly as
/// well.
std::optional<BoardLinks> link_boards(const std::vector<RowTrace>& before,
                                      const std::vector<RowTrace>& now, MemoryEvidence memory);

/// True if some boards are clearly more like others of them before than like those of their own
/// positions: they changed places. Positions without a time are left out.
bool have_changed_places(const std::vector<RowTrace>& before, const std::vector<RowTrace>& now,
                         MemoryEvidence memory);

/// Finds a row that is certainly of the board, among `rows` of one board next to a change of the
/// order, nearest first. The nearest may be of the other order, and show other boards. `rows`: not
/// empty.
const RowTrace& settled_board(Traces rows) noexcept;

/// False where a link changes the order: a writer that goes on does not.
bool is_in_order(const BoardLinks& links);

/// One board of an order, and its gap to the next.
struct PlacedBoard {
  RowTrace board;
  RoundModel::ExpectedGap gap;
};

/// The boards of a round whose first position is `first`.
std::vector<PlacedBoard> placed_of(const RoundModel& model, std::size_t first,
                                   const std::vector<RowTrace>& boards);

/// The boards of an order, and the number of rounds that their gaps are means of.
struct PlacedBoards {
  std::vector<PlacedBoard> boards;
  double rounds = 0.0;
};

/// Links boards if one left or came, the others in the same order: the boards show which one, and
/// the times that the driver takes for each. No result where another would do nearly as well.
std::optional<BoardLinks> link_in_order(const PlacedBoards& before, const PlacedBoards& now,
                                        MemoryEvidence memory);

}  // namespace wattle
