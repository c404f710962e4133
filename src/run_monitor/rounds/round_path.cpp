#include "run_monitor/rounds/round_path.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace wattle {
namespace {

using Costs = std::vector<float>;
constexpr float kOtherBoard = 15.0F;
constexpr float kCopy = 4.0F;
constexpr float kJump = 18.0F;  // to any position, at any time
constexpr float kNever = std::numeric_limits<float>::max() / 4;
constexpr std::uint8_t kAny = 255;

/// The cost of missing rows, and of lines that could not be read.
float missing_cost(std::size_t missing, std::uint32_t torn) noexcept {
  if (torn == 0) return missing == 0 ? 0.0F : 5.0F + 1.5F * static_cast<float>(missing);
  const auto other = static_cast<float>(missing > torn ? missing - torn : torn - missing);
  return 0.5F + 3.0F * other;
}

/// A way from one position to another.
struct Move {
  std::uint8_t missing = 0;
  bool is_copy = false;
  std::uint16_t from = 0;
};

/// The costs of gaps from each position. Most of a table are of a few lengths in whole
/// milliseconds. Threads: one at a time.
class GapCosts {
 public:
  explicit GapCosts(const RoundModel& model)
      : model_(&model),
        most_missing_(std::min(model.gpus() - 1, RoundModel::kMostMissing)),
        lengths_(kKept, kNone),
        costs_(kKept * model.gpus() * (most_missing_ + 1)) {}
  [[nodiscard]] std::size_t most_missing() const noexcept { return most_missing_; }
  /// By position, then by rows that are missing. Valid until the next call.
  [[nodiscard]] const float* of(std::int64_t gap_ms) {
    const std::size_t place = static_cast<std::uint64_t>(gap_ms) % kKept;
    const std::size_t size = model_->gpus() * (most_missing_ + 1);
    float* const costs = costs_.data() + place * size;
    if (lengths_[place] == gap_ms) return costs;
    lengths_[place] = gap_ms;
    float* cost = costs;
    for (std::size_t from = 0; from < model_->gpus(); ++from) {
      for (std::size_t missing = 0; missing <= most_missing_; ++missing) {
        const double time = model_->time_cost(from, missing, static_cast<double>(gap_ms));
        *cost++ = static_cast<float>(time);
      }
    }
    return costs;
  }

 private:
  static constexpr std::size_t kKept = 32;
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  const RoundModel* model_;
  std::size_t most_missing_;
  std::vector<std::int64_t> lengths_;
  Costs costs_;
};

/// The moves from the row before to each position, at their costs. Threads: one at a time.
class Moves {
 public:
  Moves(const RoundModel& model, Traces rows) : model_(&model), rows_(rows), gaps_(model) {}

  /// Calls `take(from, to, cost, missing, is_copy)`.
  template <class Take>
  void each(std::size_t row, Take take) {
    const std::size_t n = model_->gpus();
    const RowTrace& now = rows_[row];
    const RowTrace& last = rows_[row - 1];
    const bool is_copy = now.is_copy_of(last);
    const float* time = gaps_.of(now.time_ms - last.time_ms);
    const std::size_t most = gaps_.most_missing();
    std::array<float, RoundModel::kMostMissing + 1> missing_costs{};
    for (std::size_t missing = 0; missing <= most; ++missing) {
      missing_costs[missing] = missing_cost(missing, now.torn_before);
    }
    for (std::size_t from = 0; from < n; ++from) {
      std::size_t to = from;
      for (std::size_t missing = 0; missing <= most; ++missing) {
        to = to + 1 == n ? 0 : to + 1;
        take(from, to, *time++ + missing_costs[missing], static_cast<std::uint8_t>(missing), false);
      }
      if (is_copy) take(from, from, kCopy, std::uint8_t{0}, true);
    }
  }
  [[nodiscard]] float jump() const noexcept {
    return kJump + static_cast<float>(model_->outlier_cost());
  }

 private:
  const RoundModel* model_;
  Traces rows_;
  GapCosts gaps_;
};

/// The first way: each path carries what its GPUs showed last.
std::vector<std::uint16_t> first_positions(Traces rows, const RoundModel& model, Moves& moves,
                                           std::optional<std::size_t> first) {
  const std::size_t n = model.gpus();
  Costs now(n, 0.0F);
  Costs next(n);
  std::vector<std::uint16_t> from(n * rows.size());
  std::vector<std::int32_t> seen(n * n, -1);  // the row that each path saw last at each position
  std::vector<std::int32_t> next_seen(n * n);
  const auto own_cost = [&](std::size_t row, std::size_t position, std::int32_t last) {
    float cost = are_unlike(rows[row], model.board(position)) ? kOtherBoard : 0.0F;
    if (last >= 0) {
      cost += static_cast<float>(continuity_cost(rows[row], rows[static_cast<std::size_t>(last)]));
    }
    return cost;
  };
  for (std::size_t s = 0; s < n; ++s) {
    now[s] = first && *first != s ? kNever : own_cost(0, s, -1);
    seen[s * n + s] = 0;
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto best = static_cast<std::size_t>(std::ranges::min_element(now) - now.begin());
    const float jump = now[best] + moves.jump();
    for (std::size_t s = 0; s < n; ++s) {
      next[s] = jump;
      from[i * n + s] = static_cast<std::uint16_t>(best);
    }
    moves.each(i, [&](std::size_t at, std::size_t to, float cost, std::uint8_t /*missing*/,
                      bool /*is_copy*/) {
      if (now[at] + cost >= next[to]) return;
      next[to] = now[at] + cost;
      from[i * n + to] = static_cast<std::uint16_t>(at);
    });
    for (std::size_t s = 0; s < n; ++s) {
      const std::size_t before = from[i * n + s];
      std::copy_n(seen.begin() + static_cast<std::ptrdiff_t>(before * n), n,
                  next_seen.begin() + static_cast<std::ptrdiff_t>(s * n));
      next[s] += own_cost(i, s, next_seen[s * n + s]);
      next_seen[s * n + s] = static_cast<std::int32_t>(i);
    }
    std::swap(now, next);
    std::swap(seen, next_seen);
  }
  std::vector<std::uint16_t> positions(rows.size());
  auto at = static_cast<std::uint16_t>(std::ranges::min_element(now) - now.begin());
  for (std::size_t i = rows.size(); i-- > 0;) {
    positions[i] = at;
    at = from[i * n + at];
  }
  return positions;
}

/// The cost of each position for each row, from the rows next to it on a way.
Costs own_costs(Traces rows, const RoundModel& model, std::span<const std::uint16_t> positions) {
  const std::size_t n = model.gpus();
  Costs costs(n * rows.size());
  constexpr float kUnseen = 1e9F;
  std::fill(costs.begin(), costs.end(), kUnseen);
  const auto sweep = [&](auto index_of) {
    std::vector<std::int32_t> seen(n, -1);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::size_t i = index_of(k);
      for (std::size_t s = 0; s < n; ++s) {
        if (seen[s] < 0) continue;
        const auto last = static_cast<std::size_t>(seen[s]);
        const auto cost = static_cast<float>(continuity_cost(rows[i], rows[last]));
        costs[i * n + s] = std::min(costs[i * n + s], cost);
      }
      seen[positions[i]] = static_cast<std::int32_t>(i);
    }
  };
  sweep([](std::size_t k) { return k; });
  sweep([&](std::size_t k) { return rows.size() - 1 - k; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t s = 0; s < n; ++s) {
      float& cost = costs[i * n + s];
      if (cost == kUnseen) cost = 0.0F;
      if (are_unlike(rows[i], model.board(s))) cost += kOtherBoard;
    }
  }
  return costs;
}

/// The least costs of paths to each position of each row; those of the last rows are kept.
struct Forward {
  std::size_t positions = 0;
  std::size_t kept = 0;
  Costs costs{};
  std::vector<Move> ways{};
  [[nodiscard]] std::span<float> of(std::size_t row) {
    return std::span(costs).subspan(row % kept * positions, positions);
  }
};

Forward go_forward(std::size_t kept, std::size_t n, const Costs& own, Moves& moves,
                   std::optional<std::size_t> first) {
  const std::size_t count = own.size() / n;
  Forward forward{n, kept, Costs(n * kept), std::vector<Move>(n * count)};
  for (std::size_t s = 0; s < n; ++s) forward.costs[s] = first && *first != s ? kNever : own[s];
  for (std::size_t i = 1; i < count; ++i) {
    const auto before = forward.of(i - 1);
    const auto now = forward.of(i);
    const auto best = std::ranges::min_element(before);
    for (std::size_t s = 0; s < n; ++s) {
      now[s] = *best + moves.jump();
      forward.ways[i * n + s] = {.missing = kAny,
                                 .from = static_cast<std::uint16_t>(best - before.begin())};
    }
    moves.each(
        i, [&](std::size_t at, std::size_t to, float cost, std::uint8_t missing, bool is_copy) {
          if (before[at] + cost >= now[to]) return;
          now[to] = before[at] + cost;
          forward.ways[i * n + to] = {
              .missing = missing, .is_copy = is_copy, .from = static_cast<std::uint16_t>(at)};
        });
    for (std::size_t s = 0; s < n; ++s) now[s] += own[i * n + s];
  }
  return forward;
}

/// Irregularities of row `i` after the one before it; 0: none.
float event_of(Traces rows, const RoundModel& model, std::size_t i, const Move& way) {
  if (way.missing == kAny) return kJump;
  if (way.is_copy) return 0.0F;
  float event = 0.0F;
  if (way.missing != rows[i].torn_before) event += missing_cost(way.missing, 0);
  const auto gap_ms = static_cast<double>(rows[i].time_ms - rows[i - 1].time_ms);
  if (model.time_cost(way.from, way.missing, gap_ms) < model.outlier_cost()) return event;
  // A reader is held up at times, but no GPU has a row so early: there are more of them.
  const bool is_early = way.missing == 0 && gap_ms < 0.3 * model.gap(way.from).expected_ms;
  return event + (is_early ? 8.0F : 3.0F);
}

/// The best path, from its end.
RoundPath read_back(Traces rows, const RoundModel& model, Forward& forward) {
  const std::size_t n = forward.positions;
  const std::size_t count = rows.size();
  RoundPath path;
  const auto last = forward.of(count - 1);
  auto at = static_cast<std::size_t>(std::ranges::min_element(last) - last.begin());
  path.cost = static_cast<double>(last[at]);
  path.positions.resize(count);
  path.events.assign(count, 0.0F);
  path.is_copy.assign(count, 0);
  path.missing.assign(count, 0);
  for (std::size_t i = count; i-- > 0;) {
    const Move& way = forward.ways[i * n + at];
    path.positions[i] = static_cast<std::uint16_t>(at);
    if (are_unlike(rows[i], model.board(at))) path.events[i] += kOtherBoard;
    if (i == 0) break;
    path.is_copy[i] = way.is_copy ? 1 : 0;
    path.missing[i] = way.missing;
    path.events[i] += event_of(rows, model, i, way);
    at = way.from;
  }
  return path;
}

/// By how much the best path through another position costs more, row by row.
void find_margins(RoundPath& path, const Forward& forward, const Costs& own, Moves& moves) {
  const std::size_t n = forward.positions;
  path.margins.assign(path.positions.size(), 0.0F);
  Costs backward(n, 0.0F);
  Costs earlier(n);
  for (std::size_t i = path.positions.size(); i-- > 0;) {
    const std::size_t at = path.positions[i];
    float second = kNever;
    for (std::size_t s = 0; s < n; ++s) {
      if (s != at) second = std::min(second, forward.costs[i * n + s] + backward[s]);
    }
    path.margins[i] = second - (forward.costs[i * n + at] + backward[at]);
    if (i == 0) break;
    for (std::size_t s = 0; s < n; ++s) backward[s] += own[i * n + s];
    const float jump = *std::ranges::min_element(backward) + moves.jump();
    std::ranges::fill(earlier, jump);
    moves.each(
        i, [&](std::size_t from, std::size_t to, float cost, std::uint8_t /*missing*/,
               bool /*is_copy*/) { earlier[from] = std::min(earlier[from], cost + backward[to]); });
    std::swap(backward, earlier);
  }
}

/// The boards' traces at each position next to irregular rows, before and after them.
class BoardsAround {
 public:
  BoardsAround(Traces rows, const RoundPath& path, const RowRange& irregular, std::size_t gpus)
      : rows_(rows), before_(gpus, kUnseen), after_(gpus, kUnseen) {
    const std::size_t first = irregular.begin - std::min(irregular.begin, gpus);
    for (std::size_t i = first; i-- > first - std::min(first, 2 * gpus);) {
      if (before_[path.positions[i]] == kUnseen) before_[path.positions[i]] = i;
    }
    for (std::size_t i = irregular.end; i < std::min(rows.size(), irregular.end + 2 * gpus); ++i) {
      if (after_[path.positions[i]] == kUnseen) after_[path.positions[i]] = i;
    }
  }
  /// The cost of a row at a position; 0 if the position was not seen.
  [[nodiscard]] double cost_of(std::size_t row, std::size_t position) const noexcept {
    double least = kMost;
    for (const std::size_t seen : {before_[position], after_[position]}) {
      if (seen == kUnseen) continue;
      least = std::min(least, are_unlike(rows_[row], rows_[seen])
                                  ? static_cast<double>(kOtherBoard)
                                  : continuity_cost(rows_[row], rows_[seen]));
    }
    return least == kMost ? 0.0 : least;
  }

 private:
  static constexpr std::size_t kUnseen = ~std::size_t{0};
  static constexpr double kMost = 1e9;
  Traces rows_;
  std::vector<std::size_t> before_;
  std::vector<std::size_t> after_;
};

/// Times show that a row is missing somewhere in a round, the boards show where. Where they
/// contradict the path, the rows in between are of unknown boards; so is a row of that round which
/// may just as well be a late one next to where it is.
void doubt_misplaced(RoundPath& path, Traces rows, std::size_t gpus) {
  constexpr double kClearly = 3.0;
  constexpr float kSureNextToMissing = 12.0F;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::size_t missing = path.missing[i];
    // A line that could not be read shows where.
    const bool is_known = missing == 0 || missing == rows[i].torn_before;
    if (gpus == 1 || missing >= gpus || is_known) continue;
    const BoardsAround boards(rows, path, irregular_around(path, i, gpus), gpus);
    const auto doubt = [&](std::size_t count, auto row_of, std::size_t shift) {
      double gain = 0.0;
      double most = kClearly;
      std::size_t doubted = 0;
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t row = row_of(k);
        const std::size_t at = path.positions[row];
        gain += boards.cost_of(row, at) - boards.cost_of(row, (at + shift) % gpus);
        if (gain > most) doubted = k + 1;
        most = std::max(most, gain);
      }
      for (std::size_t k = 0; k < doubted; ++k) path.margins[row_of(k)] = 0.0F;
    };
    const auto back = [i](std::size_t k) { return i - 1 - k; };
    const auto ahead = [i](std::size_t k) { return i + k; };
    doubt(std::min(i, gpus), back, missing);
    doubt(std::min(rows.size() - i, gpus), ahead, gpus - missing);
    for (std::size_t k = i - std::min(i, gpus); k < std::min(rows.size(), i + gpus); ++k) {
      if (path.margins[k] < kSureNextToMissing) path.margins[k] = 0.0F;
    }
  }
}

}  // namespace

RowRange irregular_around(const RoundPath& path, std::size_t k, std::size_t gpus) {
  RowRange range{.begin = k, .end = k + 1};
  for (std::size_t i = k; i > 0 && i + gpus >= range.begin; --i) {
    if (path.events[i] > 0.0F) range.begin = i;
  }
  for (std::size_t i = k; i < path.events.size() && i < range.end + gpus; ++i) {
    if (path.events[i] > 0.0F) range.end = i + 1;
  }
  return range;
}

RowRange whole_rounds(const RoundPath& path, const RowRange& rows, std::size_t gpus) {
  const std::size_t most = std::min(2 * gpus, rows.size());
  RowRange whole = rows;
  for (std::size_t i = rows.begin + 1; i < rows.begin + most; ++i) {
    if (path.missing[i] > 0) whole.begin = i;
  }
  for (std::size_t i = rows.end; i-- > rows.end - most;) {
    if (path.missing[i] > 0) whole.end = i;
  }
  return whole;
}

RoundPath find_path(Traces rows, const RoundModel& model, std::optional<std::size_t> first,
                    bool has_margins) {
  constexpr int kMostWays = 3;
  Moves moves(model, rows);
  std::vector<std::uint16_t> way = first_positions(rows, model, moves, first);
  for (int ways = 1;; ++ways) {
    const Costs own = own_costs(rows, model, way);
    Forward forward = go_forward(has_margins ? rows.size() : 2, model.gpus(), own, moves, first);
    RoundPath path = read_back(rows, model, forward);
    if (!has_margins) return path;
    // Rows of two ways may fit each other where those of one do not.
    if (ways < kMostWays && std::exchange(way, path.positions) != path.positions) continue;
    find_margins(path, forward, own, moves);
    doubt_misplaced(path, rows, model.gpus());
    return path;
  }
}

}  // namespace wattle
