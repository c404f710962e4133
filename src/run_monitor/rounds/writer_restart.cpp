#include "run_monitor/rounds/writer_restart.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "run_monitor/rounds/board_links.hpp"

namespace wattle {
namespace {

/// True if the time before the row `i` of a piece is that of another start of the writer.
bool is_break(Traces rows, const RoundPiece& piece, std::size_t i,
              std::optional<std::size_t> first) {
  const RoundModel& model = piece.model;
  const std::size_t n = model.gpus();
  const std::size_t k = i - piece.begin;
  if (piece.path.is_copy[k] != 0) return false;
  const std::uint8_t missing = piece.path.missing[k];
  if (n > 1 && missing > RoundModel::kMostMissing) return true;
  const std::size_t from = piece.path.positions[k - 1];
  double expected_ms = 0.0;
  for (std::size_t m = 0; m <= missing; ++m) expected_ms += model.gap((from + m) % n).expected_ms;
  const auto gap_ms = static_cast<double>(rows[i].time_ms - rows[i - 1].time_ms);
  const double late_ms = gap_ms - expected_ms;
  const double period_ms = model.period_ms();
  if (late_ms > 10.0 * period_ms || gap_ms < -std::max(0.5 * period_ms, 600.0)) return true;
  if (n == 1) return false;
  const bool starts_round = !first || piece.path.positions[k] == *first;
  const bool is_outlier = model.time_cost(from, missing, gap_ms) >= model.outlier_cost();
  if (missing > 0 && starts_round && is_outlier) return true;
  if (starts_round && late_ms < -std::max(0.1 * period_ms, 500.0)) return true;
  return (starts_round || missing > 0) && late_ms > std::max(0.1 * period_ms, 500.0);
}

/// By how much later than usual the row `k` of a path is.
double lateness_ms(Traces rows, const RoundPiece& piece, std::size_t k) {
  const std::size_t n = piece.model.gpus();
  const std::uint8_t missing = piece.path.missing[k];
  double expected_ms = 0.0;
  for (std::size_t m = 0; m <= std::min<std::size_t>(missing, RoundModel::kMostMissing); ++m) {
    expected_ms += piece.model.gap((piece.path.positions[k - 1] + m) % n).expected_ms;
  }
  const RowTrace& row = rows[piece.begin + k];
  return static_cast<double>(row.time_ms - rows[piece.begin + k - 1].time_ms) - expected_ms;
}

/// The boards' traces at each position, and their memory in use.
struct ShownBoards {
  explicit ShownBoards(std::size_t gpus) : boards(gpus), memory(gpus) {}
  void add(std::size_t position, const RowTrace& row) {
    if (boards[position].time_ms == 0) boards[position] = row;
    memory.add(position, row);
  }
  std::vector<RowTrace> boards;
  MemoryInUse memory;
};

/// True if rows are irregular around the row `i`, the latest of a piece, and the boards before and
/// after are more like each other in another order: the writer was started again.
bool is_reordered(Traces rows, const RoundPiece& piece, std::size_t i) {
  constexpr double kLateMs = 300.0;
  const std::size_t n = piece.model.gpus();
  const std::size_t k = i - piece.begin;
  if (n == 1) return false;
  const double late_ms = lateness_ms(rows, piece, k);
  if (piece.path.events[k] <= 0.0F && late_ms < kLateMs) return false;
  const RowRange irregular = irregular_around(piece.path, k, n);
  for (std::size_t m = irregular.begin; m < irregular.end; ++m) {
    if (m > 0 && m != k && lateness_ms(rows, piece, m) > late_ms) return false;
  }
  ShownBoards before(n);
  ShownBoards now(n);
  for (std::size_t m = irregular.begin; m-- > irregular.begin - std::min(irregular.begin, 2 * n);) {
    before.add(piece.path.positions[m], rows[piece.begin + m]);
  }
  const std::size_t end = std::min(piece.end - piece.begin, irregular.end + 2 * n);
  for (std::size_t m = irregular.end; m < end; ++m) {
    now.add(piece.path.positions[m], rows[piece.begin + m]);
  }
  const MemoryEvidence memory = std::min(before.memory.evidence(), now.memory.evidence());
  return have_changed_places(before.boards, now.boards, memory);
}

}  // namespace

bool may_be_restart(Traces rows, const RoundPiece& piece, std::size_t i,
                    std::optional<std::size_t> first) {
  return is_break(rows, piece, i, first) || is_reordered(rows, piece, i);
}

}  // namespace wattle
