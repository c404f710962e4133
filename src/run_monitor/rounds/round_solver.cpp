#include "run_monitor/rounds/round_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "run_monitor/rounds/shared_number.hpp"

namespace wattle {
namespace {

/// Where rows of one position are irregular round after round: a GPU is not there.
std::vector<RowRange> repeated_events(const RoundPath& path, std::size_t gpus) {
  constexpr std::size_t kRounds = 3;
  struct Run {
    RowRange range{};
    std::size_t rounds = 0;
  };
  std::vector<RowRange> ranges;
  if (gpus == 1) return ranges;
  std::vector<Run> runs(gpus);
  for (std::size_t i = 0; i < path.events.size(); ++i) {
    if (path.events[i] <= 0.0F) continue;
    Run& run = runs[path.positions[i]];
    const bool goes_on = run.rounds > 0 && i - run.range.end < gpus + 1;
    if (!goes_on) run = {.range = {.begin = i, .end = i}};
    run.range.end = i + 1;
    if (++run.rounds == kRounds) ranges.push_back(run.range);
    if (run.rounds > kRounds) ranges.push_back(run.range);
  }
  return ranges;
}

/// In their order, those that overlap as one.
std::vector<RowRange> merged(std::vector<RowRange> ranges) {
  std::ranges::sort(ranges, {}, &RowRange::begin);
  std::vector<RowRange> merged;
  for (const RowRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

/// Where irregular rows are so frequent that the order is another one.
std::vector<RowRange> irregular_ranges(const RoundPath& path, std::size_t gpus) {
  const float alarm_at_ends = gpus == 1 ? 12.0F : 7.0F;
  const float alarm_until_end = gpus == 1 ? 12.0F : 9.0F;  // where it is not calm again
  const float alarm = gpus == 1 ? 20.0F : 28.0F;
  const float usual = std::min(2.0F / static_cast<float>(gpus), 0.3F);
  std::vector<RowRange> ranges = repeated_events(path, gpus);
  float sum = 0.0F;
  float most = 0.0F;
  RowRange range;
  const auto& events = path.events;
  for (std::size_t i = 0; i <= events.size(); ++i) {
    const bool is_end = i == events.size();
    const float before = sum;
    // At the ends there are not enough rows for an alarm.
    const bool is_at_end =
        most > 0.0F && (range.begin < 2 * gpus || range.end + 2 * gpus > events.size());
    if (!is_end) sum = std::max(0.0F, sum + events[i] - usual);
    if (before <= 0.0F && sum > 0.0F) {
      range.begin = i;
      most = 0.0F;
    }
    if (sum > most) {
      most = sum;
      range.end = i + 1;
    }
    const float calm_alarm = is_end ? alarm_until_end : alarm;
    if ((sum <= 0.0F || is_end) && most > (is_at_end ? alarm_at_ends : calm_alarm)) {
      ranges.push_back(range);
    }
    if (sum <= 0.0F) most = 0.0F;
  }
  return merged(std::move(ranges));
}

/// Where the rows start to keep their times much better or worse than before: what looks like one
/// order with a wide spread is two orders. Absent where they do not.
std::optional<std::size_t> change_of_spread(Traces rows, const RoundChoice& chosen) {
  constexpr std::size_t kFewest = 8;
  constexpr double kGain = 15.0;
  constexpr double kTimes = 2.5;  // one spread of the other
  constexpr double kLeastMs = 1.0;
  if (rows.size() < 2 * kFewest) return std::nullopt;
  const auto& positions = chosen.path.positions;
  std::vector<double> sums = {0.0};  // of deviations, up to each row
  sums.reserve(rows.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    double deviation_ms = 0.0;
    const RoundModel::ExpectedGap& gap = chosen.model.gap(positions[i - 1]);
    if (positions[i] == (positions[i - 1] + 1) % chosen.gpus) {
      const auto length_ms = static_cast<double>(rows[i].time_ms - rows[i - 1].time_ms);
      deviation_ms = std::min(std::abs(length_ms - gap.expected_ms), 3.0 * gap.spread_ms);
    }
    sums.push_back(sums.back() + deviation_ms + kLeastMs);
  }
  const auto count = static_cast<double>(sums.size() - 1);
  const double together = count * std::log(sums.back() / count);
  double best_gain = kGain;
  std::optional<std::size_t> best;
  for (std::size_t i = kFewest; i + kFewest < sums.size(); ++i) {
    const auto before = static_cast<double>(i);
    const double mean = sums[i] / before;
    const double mean_after = (sums.back() - sums[i]) / (count - before);
    const double gain =
        together - before * std::log(mean) - (count - before) * std::log(mean_after);
    const bool is_clear = std::max(mean, mean_after) > kTimes * std::min(mean, mean_after);
    if (gain <= best_gain || !is_clear) continue;
    best_gain = gain;
    best = i;
  }
  return best;
}

/// The longest part without irregular ranges.
RowRange longest_regular(const std::vector<RowRange>& irregular, std::size_t size) {
  RowRange longest;
  std::size_t begin = 0;
  const auto take = [&](std::size_t end) {
    if (end > begin && end - begin > longest.size()) longest = {.begin = begin, .end = end};
  };
  for (const RowRange& range : irregular) {
    take(range.begin);
    begin = range.end;
  }
  take(size);
  return longest;
}

/// True if the rows show one GPU and then another, again and again, in some order: they are not of
/// one, however even their times are.
bool alternate(Traces rows) {
  constexpr std::size_t kFewest = 20;
  constexpr std::size_t kMostGpus = 16;
  if (rows.size() < kFewest) return false;
  const auto are_like_rows = [&](std::size_t i, std::size_t k) {
    const auto slow = [&](const RowTrace& row) {
      return SlowFigures{.temperature = static_cast<double>(row.temperature),
                         .used_mib = static_cast<double>(row.used_mib)};
    };
    return are_like(slow(rows[i]), slow(rows[k]));
  };
  std::vector<std::size_t> unlike;  // the row before
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!are_like_rows(i, i - 1)) unlike.push_back(i);
  }
  if (unlike.size() * 5 < rows.size() * 4) return false;
  for (std::size_t gpus = 2; gpus <= kMostGpus; ++gpus) {
    const auto repeated = std::ranges::count_if(
        unlike, [&](std::size_t i) { return i >= gpus && are_like_rows(i, i - gpus); });
    if (static_cast<std::size_t>(repeated) * 5 > rows.size() * 4) return true;
  }
  return false;
}

class Solver {
 public:
  Solver(Traces rows, std::optional<ExpectedGpus> expected) : rows_(rows), expected_(expected) {}

  RoundSolution solve() {
    solve({.begin = 0, .end = rows_.size()}, 0);
    std::ranges::sort(solution_.pieces, {}, &RoundPiece::begin);
    if (has_uneven_paces()) doubt(RoundDoubt::gpus);
    return std::move(solution_);
  }

 private:
  void doubt(RoundDoubt why) {
    if (solution_.doubt == RoundDoubt::none) solution_.doubt = why;
  }

  /// Absent where all that are guessed may be.
  [[nodiscard]] std::optional<std::size_t> most_gpus() const {
    return expected_ ? std::optional(expected_->count) : std::nullopt;
  }

  void take(const RowRange& range, const RoundModel& model) {
    const Traces rows = rows_.subspan(range.begin, range.size());
    if (model.gpus() == 1 && alternate(rows)) doubt(RoundDoubt::gpus);
    solution_.pieces.push_back(
        {.begin = range.begin, .end = range.end, .model = model, .path = find_path(rows, model)});
  }

  /// True where even times are a round of several GPUs at another pace than other rounds of as
  /// many: they may as well be of fewer.
  [[nodiscard]] bool has_uneven_paces() const {
    constexpr double kMost = 1.5;
    const auto& pieces = solution_.pieces;
    return std::ranges::any_of(pieces, [&](const RoundPiece& even) {
      if (even.model.gpus() == 1 || even.model.first_position()) return false;
      return std::ranges::any_of(pieces, [&](const RoundPiece& other) {
        const double period_ms = other.model.period_ms();
        return other.model.gpus() == even.model.gpus() && other.model.first_position() &&
               (even.model.period_ms() > kMost * period_ms ||
                even.model.period_ms() * kMost < period_ms);
      });
    });
  }

  /// Rows that are too few to know anything of are left out.
  [[nodiscard]] bool is_short(const RowRange& range) const {
    std::size_t rows = 12;
    for (const RoundPiece& piece : solution_.pieces) {
      rows = std::max(rows, (kFewestRounds + 1) * piece.model.gpus());
    }
    return range.size() < rows && range.size() * 10 < rows_.size();
  }

  /// Few rows fit any number of GPUs, at another pace than the writer's.
  [[nodiscard]] bool is_another_pace(const RoundModel& model) const {
    double period_ms = 0.0;
    std::size_t most = 0;
    for (const RoundPiece& piece : solution_.pieces) {
      if (piece.end - piece.begin <= most) continue;
      most = piece.end - piece.begin;
      period_ms = piece.model.period_ms();
    }
    constexpr double kMost = 1.5;
    return most > 0 &&
           (model.period_ms() > kMost * period_ms || model.period_ms() * kMost < period_ms);
  }

  static constexpr int kDeepest = 10;

  /// The first time the expected number, unless the rows contradict it.
  RoundChoice choose(Traces rows, int depth) {
    if (!expected_ || depth > 0) return choose_gpus(rows, most_gpus());
    RoundChoice choice = choose_gpus(rows, *expected_);
    if (choice.gpus != expected_->count) expected_.reset();
    return choice;
  }

  // NOLINTNEXTLINE(misc-no-recursion): at most kDeepest deep
  void solve(RowRange range, int depth) {
    if (range.size() == 0) return;
    if (depth > 0 && is_short(range)) return;
    const RoundChoice choice = choose(rows_.subspan(range.begin, range.size()), depth);
    const std::vector<RowRange> irregular = irregular_ranges(choice.path, choice.gpus);
    if (expected_ && expected_->count == 1) {
      if (expected_->is_given || irregular.empty()) return take(range, choice.model);
      expected_.reset();
    }
    if (irregular.empty()) return solve_regular(range, choice, depth);
    const RowRange regular = longest_regular(irregular, range.size());
    if (depth < kDeepest &&
        regular.size() >= std::max<std::size_t>(6, kFewestRounds * choice.gpus)) {
      return solve_around(range, regular, choice, depth);
    }
    // Halves, so that what is at the ends does not spoil the middle.
    if (depth == kDeepest || range.size() < 24) return doubt(RoundDoubt::order);
    solve_parts(range, range.size() / 2, depth);
  }

  /// The rows before `size`, and those from there on.
  // NOLINTNEXTLINE(misc-no-recursion): at most kDeepest deep
  void solve_parts(const RowRange& range, std::size_t size, int depth) {
    solve({range.begin, range.begin + size}, depth + 1);
    solve({range.begin + size, range.end}, depth + 1);
  }

  /// Rows of one order, as it seems.
  // NOLINTNEXTLINE(misc-no-recursion): at most kDeepest deep
  void solve_regular(const RowRange& range, const RoundChoice& choice, int depth) {
    if (is_another_pace(choice.model) && range.size() * 5 < rows_.size()) {
      solution_.lacks_gpus = true;
      return;
    }
    if (depth < kDeepest) {
      const auto change = change_of_spread(rows_.subspan(range.begin, range.size()), choice);
      if (change) return solve_parts(range, *change, depth);
    }
    if (!choice.is_clear) doubt(RoundDoubt::gpus);
    take(range, choice.model);
  }

  /// `regular`: the longest part of the range without an irregular row, from the range's start.
  // NOLINTNEXTLINE(misc-no-recursion): at most kDeepest deep
  void solve_around(const RowRange& range, const RowRange& regular, const RoundChoice& choice,
                    int depth) {
    const auto jumps = [&](const RowRange& part) {
      const auto& missing = choice.path.missing;
      return std::any_of(missing.begin() + static_cast<std::ptrdiff_t>(part.begin),
                         missing.begin() + static_cast<std::ptrdiff_t>(part.end),
                         [](std::uint8_t lost) { return lost > RoundModel::kMostMissing; });
    };
    const std::size_t begin = range.begin;
    solve({begin + regular.begin, begin + regular.end}, depth + 1);
    for (const RowRange& part : {RowRange{0, regular.begin}, RowRange{regular.end, range.size()}}) {
      const RowRange there{begin + part.begin, begin + part.end};
      if (is_short(there) && part.size() > choice.gpus && jumps(part)) {
        solution_.lacks_gpus = true;
      }
      solve(there, depth + 1);
    }
  }

  Traces rows_;
  std::optional<ExpectedGpus> expected_;  ///< unless the rows contradict it
  RoundSolution solution_;
};

}  // namespace

bool is_regular(const RoundPath& path, std::size_t gpus) {
  return irregular_ranges(path, gpus).empty();
}

RoundSolution solve_rounds(Traces rows, std::optional<ExpectedGpus> expected) {
  if (rows.empty()) return {};
  return Solver(rows, expected).solve();
}

}  // namespace wattle
