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

/// True if a round begins late at the row `i` of a piece, and its boards are clearly in another
/// order than those of the round before: the writer was started again.
bool is_reordered(Traces rows, const RoundPiece& piece, std::size_t i,
                  std::optional<std::size_t> first) {
  constexpr double kLateMs = 300.0;
  const RoundModel& model = piece.model;
  const std::size_t n = model.gpus();
  const std::size_t k = i - piece.begin;
  if (n == 1 || k < n || i + n > piece.end) return false;
  if (first && piece.path.positions[k] != *first) return false;
  const auto gap_ms = static_cast<double>(rows[i].time_ms - rows[i - 1].time_ms);
  if (gap_ms - model.gap(piece.path.positions[k - 1]).expected_ms < kLateMs) return false;
  std::vector<RowTrace> before(n);
  std::vector<RowTrace> now(n);
  for (std::size_t m = 0; m < n; ++m) {
    before[piece.path.positions[k - 1 - m]] = rows[i - 1 - m];
    now[piece.path.positions[k + m]] = rows[i + m];
  }
  const auto links = link_boards(before, now, MemoryEvidence::steady);
  if (!links) return false;
  for (std::size_t m = 0; m < n; ++m) {
    if ((*links)[m] && *(*links)[m] != m) return true;
  }
  return false;
}

}  // namespace

bool may_be_restart(Traces rows, const RoundPiece& piece, std::size_t i,
                    std::optional<std::size_t> first) {
  return is_break(rows, piece, i, first) || is_reordered(rows, piece, i, first);
}

}  // namespace wattle
