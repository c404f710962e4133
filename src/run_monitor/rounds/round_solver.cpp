#include "run_monitor/rounds/round_solver.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace wattle {
namespace {

/// More GPUs are found only if their number is given.
constexpr std::size_t kMostGuessed = 32;
/// Fewer rounds prove nothing.
constexpr std::size_t kFewestRounds = 3;
/// Differences of costs that decide.
constexpr double kClearly = 10.0;
constexpr double kDivisorClearly = 8.0;
/// A difference of misfits, per row.
constexpr double kHopeless = 2.0;

struct Candidate {
  std::size_t gpus = 1;
  RoundModel model;
  double misfit = 0.0;  ///< by windows
  RoundPath path;       ///< without margins
  double cost = 0.0;    ///< of the path, and of what the model has free
  bool is_solved = false;
};

double freedom_cost(std::size_t gpus, std::size_t rows) {
  const auto n = static_cast<double>(gpus);
  const double rounds = std::max(2.0, static_cast<double>(rows) / n);
  return n * (std::log(rounds) + 1.0);
}

/// The model of the window that fits best: most windows have no irregular row in them.
Candidate candidate_of(Traces rows, std::size_t gpus) {
  constexpr std::size_t kRounds = 6;
  constexpr std::size_t kRows = 16;
  constexpr std::size_t kWindows = 9;
  const std::size_t rounds = std::max(kRounds, kRows / gpus);
  const std::size_t length = std::min(rows.size(), rounds * gpus + 1);
  const std::size_t room = rows.size() - length;
  Candidate best{.gpus = gpus};
  for (std::size_t k = 0; k < kWindows; ++k) {
    const std::size_t begin = room * k / (kWindows - 1);
    RoundModel model = RoundModel::of_window(rows.subspan(begin, length), gpus);
    if (k > 0 && model.misfit() >= best.misfit) continue;
    best.misfit = model.misfit();
    best.model = std::move(model);
    if (room == 0) break;
  }
  const auto count = static_cast<double>(rows.size());
  best.misfit = best.misfit * count + freedom_cost(gpus, rows.size());
  return best;
}

void solve(Candidate& candidate, Traces rows) {
  if (std::exchange(candidate.is_solved, true)) return;
  candidate.path = find_path(rows, candidate.model, std::nullopt, false);
  candidate.model = RoundModel::of_path(rows, candidate.path.positions, candidate.gpus);
  candidate.path = find_path(rows, candidate.model, std::nullopt, false);
  candidate.cost = candidate.path.cost + freedom_cost(candidate.gpus, rows.size());
  // The rows may have shown it to be another order than the window did.
  constexpr double kImplausible = 1e9;
  if (!candidate.model.is_plausible()) candidate.cost += kImplausible;
}

struct Choice {
  Candidate best;
  bool is_clear = false;
};

using Candidates = std::vector<Candidate>;

bool is_without_events(const RoundPath& path) {
  return std::ranges::all_of(path.events, [](float event) { return event == 0.0F; });
}

/// The numbers of GPUs that may be; the likely ones are solved.
Candidates candidates_of(Traces rows, std::size_t fewest, std::size_t most) {
  Candidates all;
  for (std::size_t gpus = fewest; gpus <= most; ++gpus) {
    if (gpus > fewest && gpus * 2 + 1 > rows.size()) break;
    Candidate candidate = candidate_of(rows, gpus);
    if (gpus == fewest || candidate.model.is_plausible()) all.push_back(std::move(candidate));
  }
  std::ranges::sort(all, {}, &Candidate::misfit);
  constexpr std::size_t kTried = 4;
  const std::size_t tried = std::min(kTried, all.size());
  for (std::size_t i = 0; i < tried; ++i) {
    // Where one explains every row, others that explain none of the windows are not tried.
    const double beyond = all[i].misfit - all.front().misfit;
    const bool is_hopeless = i > 0 && beyond > kHopeless * static_cast<double>(rows.size());
    if (is_hopeless && is_without_events(all.front().path)) break;
    solve(all[i], rows);
  }
  return all;
}

bool costs_less(const Candidate& a, const Candidate& b) {
  if (a.is_solved != b.is_solved) return a.is_solved;
  return a.is_solved && a.cost < b.cost;
}

/// The candidate of the least cost, or a divisor that does nearly as well.
Candidates::iterator chosen_of(Candidates& all, Traces rows) {
  const std::size_t gpus = std::ranges::min_element(all, costs_less)->gpus;
  for (Candidate& other : all) {
    if (gpus % other.gpus == 0) solve(other, rows);
  }
  const auto least = std::ranges::min_element(all, costs_less);
  // The order of more GPUs fits noise better, but not by more than this.
  const double most_of_noise = kDivisorClearly + 0.5 * static_cast<double>(rows.size());
  auto chosen = least;
  for (auto it = all.begin(); it != all.end(); ++it) {
    if (!it->is_solved || least->gpus % it->gpus != 0 || it->gpus >= chosen->gpus) continue;
    const bool is_nearly_as_good = it->cost < least->cost + kDivisorClearly;
    const bool is_noise = it->cost < least->cost + most_of_noise && least->model.repeats(it->gpus);
    if (is_nearly_as_good || is_noise) chosen = it;
  }
  return chosen;
}

/// True if no other number of GPUs does nearly as well, and few rows are irregular.
bool is_clear(const Candidates& all, const Candidate& chosen) {
  const auto& events = chosen.path.events;
  const auto irregular = std::ranges::count_if(events, [](float event) { return event > 0.0F; });
  constexpr std::size_t kFew = 7;  // one of this number
  if (irregular > 1 && static_cast<std::size_t>(irregular) * kFew > events.size()) return false;
  return std::ranges::none_of(all, [&](const Candidate& other) {
    const bool is_another = other.is_solved && other.gpus % chosen.gpus != 0;
    return is_another && other.cost < chosen.cost + kClearly;
  });
}

/// The number of GPUs that explains rows best.
Choice choose(Traces rows, std::size_t fewest, std::size_t most) {
  Candidates all = candidates_of(rows, fewest, most);
  const auto chosen = chosen_of(all, rows);
  const bool is_evident = chosen->gpus == 1 || fewest == most ||
                          (chosen->model.is_evident() && !chosen->model.has_even_times());
  Choice choice;
  choice.is_clear = is_evident && is_clear(all, *chosen);
  choice.best = std::move(*chosen);
  return choice;
}

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
std::optional<std::size_t> change_of_spread(Traces rows, const Candidate& chosen) {
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

class Solver {
 public:
  Solver(Traces rows, std::optional<std::size_t> gpus) : rows_(rows), gpus_(gpus) {}

  RoundSolution solve() {
    solve({.begin = 0, .end = rows_.size()}, 0, gpus_);
    std::ranges::sort(solution_.pieces, {}, &RoundPiece::begin);
    if (has_uneven_paces()) doubt(RoundDoubt::gpus);
    return std::move(solution_);
  }

 private:
  void doubt(RoundDoubt why) {
    if (solution_.doubt == RoundDoubt::none) solution_.doubt = why;
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

  // NOLINTNEXTLINE(misc-no-recursion): at most kDeepest deep
  void solve(RowRange range, int depth, std::optional<std::size_t> gpus) {
    constexpr int kDeepest = 10;
    if (range.size() == 0) return;
    if (depth > 0 && is_short(range)) return;
    const Traces rows = rows_.subspan(range.begin, range.size());
    const std::size_t most = gpus_ ? *gpus_ : kMostGuessed;
    Choice choice = gpus ? choose(rows, *gpus, *gpus) : choose(rows, 1, most);
    const std::vector<RowRange> irregular = irregular_ranges(choice.best.path, choice.best.gpus);
    if (irregular.empty() && is_another_pace(choice.best.model) &&
        range.size() * 5 < rows_.size()) {
      solution_.lacks_gpus = true;
      return;
    }
    if (irregular.empty() && depth < kDeepest) {
      if (const auto change = change_of_spread(rows, choice.best)) {
        solve({range.begin, range.begin + *change}, depth + 1, std::nullopt);
        solve({range.begin + *change, range.end}, depth + 1, std::nullopt);
        return;
      }
    }
    if (irregular.empty()) {
      if (!choice.is_clear) doubt(RoundDoubt::gpus);
      solution_.pieces.push_back({.begin = range.begin,
                                  .end = range.end,
                                  .model = choice.best.model,
                                  .path = find_path(rows, choice.best.model)});
      return;
    }
    const RowRange regular = longest_regular(irregular, range.size());
    const auto jumps = [&](const RowRange& part) {
      const auto& missing = choice.best.path.missing;
      return std::any_of(missing.begin() + static_cast<std::ptrdiff_t>(part.begin),
                         missing.begin() + static_cast<std::ptrdiff_t>(part.end),
                         [](std::uint8_t lost) { return lost > RoundModel::kMostMissing; });
    };
    if (depth == kDeepest || regular.size() < kFewestRounds * choice.best.gpus ||
        regular.size() < 6) {
      // Halves, so that what is at the ends does not spoil the middle.
      if (depth == kDeepest || range.size() < 24) return doubt(RoundDoubt::order);
      const std::size_t middle = range.begin + range.size() / 2;
      solve({range.begin, middle}, depth + 1, std::nullopt);
      solve({middle, range.end}, depth + 1, std::nullopt);
      return;
    }
    const std::size_t begin = range.begin;
    solve({begin + regular.begin, begin + regular.end}, depth + 1, std::nullopt);
    for (const RowRange& part : {RowRange{0, regular.begin}, RowRange{regular.end, range.size()}}) {
      const RowRange there{begin + part.begin, begin + part.end};
      if (is_short(there) && part.size() > choice.best.gpus && jumps(part)) {
        solution_.lacks_gpus = true;
      }
      solve(there, depth + 1, std::nullopt);
    }
  }

  Traces rows_;
  std::optional<std::size_t> gpus_;
  RoundSolution solution_;
};

}  // namespace

bool is_regular(const RoundPath& path, std::size_t gpus) {
  return irregular_ranges(path, gpus).empty();
}

RoundSolution solve_rounds(Traces rows, std::optional<std::size_t> gpus) {
  if (rows.empty()) return {};
  return Solver(rows, gpus).solve();
}

}  // namespace wattle
