#include "run_monitor/rounds/round_model.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers/median.hpp"

namespace wattle {
namespace {

/// Times are in whole milliseconds.
constexpr double kLeastSpreadMs = 0.6;
/// For a normal distribution.
constexpr double kSpreadPerDeviation = 1.4826;
/// The negative logarithm of how often a row is late for no reason.
constexpr double kLateCost = 5.8;
/// Beyond that number of spreads the tail is exponential: drivers are held up now and then.
constexpr double kTail = 1.5;
/// More than that a temperature or a memory shows of no change of the GPU.
constexpr double kMostContinuity = 4.0;

RoundModel::ExpectedGap gap_of(std::vector<double>& lengths_ms) {
  if (lengths_ms.empty()) return {.expected_ms = 0.0, .spread_ms = 1e3};
  const double middle = lower_median(lengths_ms);
  std::vector<double> deviations;
  deviations.reserve(lengths_ms.size());
  for (const double length : lengths_ms) deviations.push_back(std::abs(length - middle));
  // In whole milliseconds a median of deviations is too coarse, and a mean square has outliers in
  // it.
  const double most = 3.0 * (kLeastSpreadMs + kSpreadPerDeviation * lower_median(deviations));
  double near_sum = 0.0;
  double near_count = 0.0;
  double squares = 0.0;
  for (const double length : lengths_ms) {
    const double deviation = std::min(std::abs(length - middle), most);
    squares += deviation * deviation;
    if (deviation >= most) continue;
    near_sum += length;
    near_count += 1.0;
  }
  const double mean_square = squares / static_cast<double>(lengths_ms.size());
  const double spread = std::sqrt(kLeastSpreadMs * kLeastSpreadMs + mean_square);
  const double small = 1.0 + 2.0 / static_cast<double>(lengths_ms.size());
  return {.expected_ms = near_sum / near_count, .spread_ms = spread * small};
}

/// The writer's pause varies with the load of the machine. It does not have to be as even as the
/// rows of a round are, as long as the two do not meet.
bool are_apart(const RoundModel::ExpectedGap& shorter,
               const RoundModel::ExpectedGap& longer) noexcept {
  const double difference_ms = longer.expected_ms - shorter.expected_ms;
  // One stamp for all rows of a round, as our monitor writes them.
  constexpr double kOtherStampMs = 2.0;
  if (shorter.expected_ms == 0.0 && difference_ms >= kOtherStampMs) return true;
  return difference_ms > 3.0 * shorter.spread_ms &&
         difference_ms > shorter.spread_ms + longer.spread_ms;
}

/// Keeps in `board` what `row` shows as well.
void keep_common(RowTrace& board, const RowTrace& row) {
  if (row.total_mib >= 0.0F) board.total_mib = row.total_mib;
  if (row.model != 0) board.model = row.model;
  board.used_mib = row.used_mib;
  board.temperature = row.temperature;
}

/// True if the means are further apart than by chance, and than `least`.
bool are_different(const Moments& one, const Moments& other, double least) noexcept {
  if (one.count < 2 || other.count < 2) return false;
  const double difference = std::abs(one.mean - other.mean);
  const auto variance_of = [](const Moments& sample) {
    return (sample.variance() + 0.1) / static_cast<double>(sample.count);
  };
  constexpr double kClearly = 6.0;  // standard deviations
  return difference > least &&
         difference > kClearly * std::sqrt(variance_of(one) + variance_of(other));
}

}  // namespace

double cost_of_change(const RowTrace& one, const RowTrace& other) noexcept {
  double cost = 0.0;
  if (one.temperature >= 0.0F && other.temperature >= 0.0F) {
    constexpr double kUsual = 1.0;  // degrees from one row to the next
    const double change = std::abs(static_cast<double>(one.temperature - other.temperature));
    const double beyond = std::max(0.0, change - kUsual);
    cost += std::min(kMostContinuity, 0.35 * beyond * beyond);
  }
  if (one.used_mib >= 0.0F && other.used_mib >= 0.0F) {
    const auto most = static_cast<double>(std::max({1.0F, one.used_mib, other.used_mib}));
    const double of_most = std::abs(static_cast<double>(one.used_mib - other.used_mib)) / most;
    cost += std::min(kMostContinuity, 40.0 * of_most);
  }
  return cost;
}

RoundModel RoundModel::of_window(Traces rows, std::size_t gpus) {
  RoundModel model;
  model.boards_.resize(gpus);
  std::vector<double> lengths;
  double continuity = 0.0;
  for (std::size_t s = 0; s < gpus; ++s) {
    lengths.clear();
    for (std::size_t i = s; i + 1 < rows.size(); i += gpus) {
      lengths.push_back(static_cast<double>(rows[i + 1].time_ms - rows[i].time_ms));
      if (i + gpus >= rows.size()) continue;
      continuity += continuity_cost(rows[i], rows[i + gpus]);
      continuity += are_unlike(rows[i], rows[i + gpus]) ? 15.0 : 0.0;
    }
    const std::size_t count = lengths.size();
    model.gaps_.push_back(gap_of(lengths));
    model.misfit_ += static_cast<double>(count) * std::log(model.gaps_.back().spread_ms);
    if (s < rows.size()) keep_common(model.boards_[s], rows[s]);
  }
  model.misfit_ = (model.misfit_ + continuity) / static_cast<double>(rows.size());
  model.set_up();
  return model;
}

RoundModel RoundModel::of_path(Traces rows, std::span<const std::uint16_t> positions,
                               std::size_t gpus) {
  RoundModel model;
  model.boards_.resize(gpus);
  model.shown_.resize(gpus);
  std::vector<std::vector<double>> lengths(gpus);
  std::vector<std::vector<float>> totals(gpus);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t s = positions[i];
    const bool follows = i + 1 < rows.size() && positions[i + 1] == (s + 1) % gpus;
    if (follows) lengths[s].push_back(static_cast<double>(rows[i + 1].time_ms - rows[i].time_ms));
    keep_common(model.boards_[s], rows[i]);
    if (rows[i].temperature >= 0.0F)
      model.shown_[s].temperature.add(static_cast<double>(rows[i].temperature));
    if (rows[i].used_mib >= 0.0F) model.shown_[s].used.add(static_cast<double>(rows[i].used_mib));
    if (rows[i].total_mib >= 0.0F) totals[s].push_back(rows[i].total_mib);
  }
  for (std::size_t s = 0; s < gpus; ++s) {
    if (!totals[s].empty()) model.boards_[s].total_mib = lower_median(totals[s]);
    model.gaps_.push_back(gap_of(lengths[s]));
    const ExpectedGap& gap = model.gaps_.back();
    for (const double length : lengths[s]) {
      if (std::abs(length - gap.expected_ms) < 4.0 * gap.spread_ms) model.shown_[s].gap.add(length);
    }
  }
  model.set_up();
  return model;
}

bool RoundModel::repeats(std::size_t gpus) const noexcept {
  const std::size_t n = this->gpus();
  // Changes from round to round are small beside the pause.
  const auto [shortest, longest] =
      std::ranges::minmax_element(gaps_, {}, &ExpectedGap::expected_ms);
  const double least_ms = std::max(0.5, 0.25 * (longest->expected_ms - shortest->expected_ms));
  for (std::size_t s = 0; s < n; ++s) {
    const std::size_t other = (s + gpus) % n;
    if (are_unlike(boards_[s], boards_[other])) return false;
    const Position& one = shown_[s];
    const Position& two = shown_[other];
    if (are_different(one.gap, two.gap, least_ms)) return false;
    if (are_different(one.temperature, two.temperature, 0.5)) return false;
    if (are_different(one.used, two.used, 1.0)) return false;
  }
  return true;
}

void RoundModel::set_up() {
  const std::size_t n = gpus();
  period_ms_ = 0.0;
  for (const ExpectedGap& gap : gaps_) period_ms_ += gap.expected_ms;
  period_ms_ = std::max(period_ms_, 1.0);
  outlier_cost_ = kLateCost + std::log(std::max(10.0, period_ms_));
  steps_.resize(n);
  for (std::size_t s = 0; s < n; ++s) {
    double expected = 0.0;
    double variance = 0.0;
    for (std::size_t missing = 0; missing <= kMostMissing; ++missing) {
      const ExpectedGap& gap = gaps_[(s + missing) % n];
      expected += gap.expected_ms;
      variance += gap.spread_ms * gap.spread_ms;
      steps_[s][missing] = {.expected_ms = expected,
                            .per_spread = 1.0 / std::sqrt(variance),
                            .log_spread = 0.5 * std::log(variance)};
    }
  }
}

double RoundModel::GapCost::cost_of(double gap_ms) const noexcept {
  const double z = std::abs(gap_ms - expected_ms) * per_spread;
  return z < kTail ? 0.5 * z * z : kTail * (z - 0.5 * kTail);
}

double RoundModel::time_cost(std::size_t from, std::size_t missing, double gap_ms) const noexcept {
  const GapCost& step = steps_[from][missing];
  return std::min(step.cost_of(gap_ms) + step.log_spread, outlier_cost_);
}

bool RoundModel::is_usual_gap(std::size_t from, double gap_ms) const noexcept {
  constexpr double kMost = 12.0;  // nine spreads
  const GapCost& step = steps_[from][0];
  const double cost = step.cost_of(gap_ms);
  return cost <= kMost && cost + step.log_spread < outlier_cost_;
}

std::optional<std::size_t> RoundModel::first_position() const noexcept {
  constexpr double kClearly = 1.5;
  if (gpus() == 1) return 0;
  std::size_t longest = 0;
  for (std::size_t s = 1; s < gpus(); ++s) {
    if (gaps_[s].expected_ms > gaps_[longest].expected_ms) longest = s;
  }
  ExpectedGap others{};  // the longest and the least even one of them
  for (std::size_t s = 0; s < gpus(); ++s) {
    if (s == longest) continue;
    others.expected_ms = std::max(others.expected_ms, gaps_[s].expected_ms);
    others.spread_ms = std::max(others.spread_ms, gaps_[s].spread_ms);
  }
  const ExpectedGap& pause = gaps_[longest];
  const bool is_clear =
      pause.expected_ms >= kClearly * others.expected_ms && are_apart(others, pause);
  if (!is_clear) return std::nullopt;
  return (longest + 1) % gpus();
}

bool RoundModel::is_plausible() const noexcept {
  constexpr double kLongestMs = 300.0;
  const auto is_long = [](const ExpectedGap& gap) { return gap.expected_ms > kLongestMs; };
  return gpus() == 1 || std::ranges::count_if(gaps_, is_long) <= 1;
}

bool RoundModel::has_even_times() const noexcept {
  const std::size_t n = gpus();
  const auto is_even = [&](std::size_t fewer) {
    for (std::size_t s = 0; s < n; ++s) {
      const ExpectedGap& one = gaps_[s];
      const ExpectedGap& other = gaps_[(s + fewer) % n];
      if (are_apart(one, other) || are_apart(other, one)) return false;
    }
    return true;
  };
  for (std::size_t fewer = 2; fewer < n; ++fewer) {
    if (n % fewer == 0 && is_even(fewer)) return true;
  }
  return false;
}

bool RoundModel::has_pause() const noexcept {
  const auto [shortest, longest] =
      std::ranges::minmax_element(gaps_, {}, &ExpectedGap::expected_ms);
  return are_apart(*shortest, *longest);
}

bool RoundModel::has_several_pauses() const noexcept { return has_even_times() && has_pause(); }

bool RoundModel::is_evident() const noexcept {
  if (gpus() == 1 || has_pause()) return true;
  return std::ranges::any_of(boards_, [this](const RowTrace& board) {
    constexpr float kDegrees = 2.0F;
    const RowTrace& first = boards_.front();
    return are_unlike(board, first) || std::abs(board.temperature - first.temperature) >= kDegrees;
  });
}

}  // namespace wattle
