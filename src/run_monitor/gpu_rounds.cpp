#include "run_monitor/gpu_rounds.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "run_monitor/table_figures.hpp"

namespace wattle {
namespace {

constexpr std::size_t kToLearnFrom =
    1024;  // rows: 8 rounds of 128 GPUs, ten seconds of one at 100 Hz
/// Longer than that no driver takes for the next GPU; less is no pace to read GPUs at.
constexpr std::int64_t kLongestSkewMs = 50;
/// A pause is at least this many times as long as the longest gap in a round.
constexpr double kJump = 4.0;
constexpr double kSameTimeMs = 0.25;
/// Of the rounds, as long as most are.
constexpr double kMostRounds = 0.7;

/// How rounds are separated, and how well.
struct Rule {
  std::int64_t longest_ms = 0;
  std::size_t gpus = 1;
  double regular = 0.0;  ///< the part of the rounds that have that number of rows
};

/// In front of each row; absent for the first one, and for lines that are no rows.
using Gaps = std::vector<std::optional<std::int64_t>>;

Gaps gaps_of(const std::vector<GpuRow>& rows) {
  Gaps gaps;
  std::optional<std::int64_t> last_ms;
  for (const GpuRow& row : rows) {
    const bool has_gap = row.whole && row.time_ms && last_ms;
    gaps.push_back(has_gap ? std::optional(std::abs(*row.time_ms - *last_ms)) : std::nullopt);
    if (row.whole && row.time_ms) last_ms = row.time_ms;
  }
  return gaps;
}

Rule rule_of(const Gaps& gaps, std::int64_t longest_ms) {
  std::map<std::size_t, std::size_t> rounds;  // number of rounds by number of rows
  std::size_t count = 0;
  std::size_t all = 0;
  bool is_torn = false;  // a line that is no row is of the round before it, or after it
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    if (i > 0 && !gaps[i]) {
      is_torn = true;
      continue;
    }
    if (gaps[i] && *gaps[i] > longest_ms) {
      const bool was_torn = i > 1 && !gaps[i - 1];
      if (!is_torn) ++rounds[count];
      all += is_torn ? 0 : 1;
      count = 0;
      is_torn = was_torn;
    }
    ++count;
  }
  // The last one may not be at its end.
  const auto most =
      std::ranges::max_element(rounds, {}, [](const auto& entry) { return entry.second; });
  const bool shares_times = longest_ms == 0;
  if (most == rounds.end() && shares_times) return {.longest_ms = 0, .gpus = count, .regular = 1.0};
  // One pause proves nothing: the reader of a single GPU is held up at times.
  if (all < 2 && !shares_times) return {};
  return {.longest_ms = longest_ms,
          .gpus = most->first,
          .regular = static_cast<double>(most->second) / static_cast<double>(all)};
}

}  // namespace

void GpuRowAssigner::learn() {
  learned_ = true;
  const Gaps gaps = gaps_of(first_);
  std::vector<std::int64_t> known;
  for (const auto& gap : gaps) {
    if (gap) known.push_back(*gap);
  }
  std::ranges::sort(known);
  const bool shares_times = !known.empty() && known.front() == 0;
  Rule best{.longest_ms = -1, .gpus = 1, .regular = shares_times ? 0.0 : 1.0};
  for (std::size_t i = 0; i < known.size() && known[i] <= kLongestSkewMs; ++i) {
    const bool is_last = i + 1 == known.size();
    const double from_ms = std::max(static_cast<double>(known[i]), kSameTimeMs);
    if (!is_last && static_cast<double>(known[i + 1]) < kJump * from_ms) continue;
    // Where no gap is longer, all rows are of one round.
    if (is_last && known[i] != 0) continue;
    const Rule rule = rule_of(gaps, known[i]);
    if (rule.regular >= best.regular) best = rule;
  }
  if (best.regular < kMostRounds || best.gpus > kMostGpus) {
    unclear_ = true;
    return;
  }
  gpus_ = best.gpus;
  longest_ms_ = best.longest_ms;
  const auto pause = std::ranges::upper_bound(known, longest_ms_);
  if (pause != known.end()) pace_ms_ = *(pause + (known.end() - pause) / 2);
}

void GpuRowAssigner::add(const GpuRow& row, std::vector<AssignedRow>& placed) {
  if (learned_) {
    place(row, placed);
    return;
  }
  first_.push_back(row);
  if (first_.size() < kToLearnFrom) return;
  learn();
  for (const GpuRow& early : std::exchange(first_, {})) place(early, placed);
}

void GpuRowAssigner::end(std::vector<AssignedRow>& placed) {
  if (!learned_) {
    learn();
    for (const GpuRow& early : std::exchange(first_, {})) place(early, placed);
  }
  // A round that was not written to its end begins with the first GPU all the same.
  const bool is_whole = std::ranges::all_of(round_, &GpuRow::whole);
  if (begun_.empty() && is_whole) {
    give(round_, placed);
  } else if (begun_.size() + round_.size() == gpus_) {
    close(placed);
  }
  drop(begun_, placed);
  drop(round_, placed);
}

void GpuRowAssigner::place(const GpuRow& row, std::vector<AssignedRow>& placed) {
  if (unclear_ || gpus_ == 1) {
    placed.push_back({.row = row, .place = 0});
    return;
  }
  const std::int64_t gap_ms = row.time_ms && last_ms_ ? std::abs(*row.time_ms - *last_ms_) : 0;
  if (row.time_ms) last_ms_ = row.time_ms;
  // A line without a time after a whole round is of the next one.
  const bool has_row =
      std::ranges::any_of(round_, [](const GpuRow& r) { return r.time_ms.has_value(); });
  if (gap_ms > longest_ms_ && has_row) {
    close(placed);
    held_up_ms_ = gap_ms;
  }
  round_.push_back(row);
  if (round_.size() < gpus_) return;
  drop(begun_, placed);
  give(round_, placed);
}

void GpuRowAssigner::close(std::vector<AssignedRow>& placed) {
  const bool is_one_round = begun_.size() + round_.size() == gpus_ && held_up_ms_ < pace_ms_;
  if (!is_one_round) {
    drop(begun_, placed);
    begun_ = std::exchange(round_, {});
    return;
  }
  begun_.insert(begun_.end(), round_.begin(), round_.end());
  round_.clear();
  give(begun_, placed);
}

void GpuRowAssigner::drop(Rows& rows, std::vector<AssignedRow>& placed) {
  for (const GpuRow& row : std::exchange(rows, {})) placed.push_back({.row = row});
}

void GpuRowAssigner::give(Rows& rows, std::vector<AssignedRow>& placed) {
  std::size_t next = 0;
  for (const GpuRow& row : std::exchange(rows, {})) placed.push_back({.row = row, .place = next++});
}

}  // namespace wattle
