#include "calibration/sensor_beats.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

#include "base/numbers/median.hpp"

namespace wattle {
namespace {

/// Beats are known by their equal sizes and times, to this part of them.
constexpr double kSameSize = 0.12;
constexpr double kSameTime = 1.3;

bool are_turns(const SensorStep& one, const SensorStep& next) noexcept {
  return one.size_w * next.size_w < 0.0;
}

SensorBeats beats_of(const std::vector<SensorStep>& steps, double size_w) {
  std::vector<SensorStep> same;
  std::ranges::copy_if(steps, std::back_inserter(same), [size_w](const SensorStep& step) {
    return std::abs(std::abs(step.size_w) - size_w) <= kSameSize * size_w;
  });
  std::vector<double> times_s;
  for (std::size_t i = 1; i < same.size(); ++i) {
    if (are_turns(same[i - 1], same[i])) times_s.push_back(same[i].time_s - same[i - 1].time_s);
  }
  SensorBeats beats;
  if (times_s.empty()) return beats;
  beats.half_s = median_of(std::move(times_s));
  for (const SensorStep& step : same) {
    const bool is_next =
        !beats.runs.empty() && are_turns(beats.runs.back().steps.back(), step) &&
        step.time_s - beats.runs.back().steps.back().time_s <= kSameTime * beats.half_s;
    if (!is_next) beats.runs.emplace_back();
    beats.runs.back().steps.push_back(step);
  }
  return beats;
}

/// Steps that follow another one of their run: single ones show no beats.
std::size_t turns(const SensorBeats& beats) {
  std::size_t count = 0;
  for (const BeatRun& run : beats.runs) count += run.steps.size() - 1;
  return count;
}

}  // namespace

double BeatRun::size_w() const noexcept {
  double sum_w = 0.0;
  for (const SensorStep& step : steps) sum_w += std::abs(step.size_w);
  return sum_w / static_cast<double>(steps.size());
}

std::size_t BeatRun::missed() const noexcept {
  const std::size_t ends = (before_s > 0.0 ? 0U : 1U) + (after_s > 0.0 ? 0U : 1U);
  return steps.size() - std::min(steps.size(), ends);
}

std::vector<SensorStep> BeatRun::error() const {
  const double half_w = size_w() / 2.0;
  std::vector<SensorStep> error;
  error.reserve(steps.size() + 2);
  double level_w = 0.0;
  const auto go_to = [&](double time_s, double next_w) {
    error.push_back({time_s, next_w - level_w});
    level_w = next_w;
  };
  if (before_s > 0.0) {
    go_to(steps.front().time_s - before_s, steps.front().size_w > 0.0 ? -half_w : half_w);
  }
  for (const SensorStep& step : steps) go_to(step.time_s, step.size_w > 0.0 ? half_w : -half_w);
  if (after_s > 0.0) {
    go_to(steps.back().time_s + after_s, 0.0);
  } else {
    error.back().size_w -= level_w;
  }
  return error;
}

std::vector<SensorStep> BeatRun::extent() const {
  return {{steps.front().time_s - before_s, 1.0}, {steps.back().time_s + after_s, -1.0}};
}

std::vector<SensorBeats> possible_beats(std::vector<SensorStep> steps) {
  constexpr std::size_t kMost = 3;
  constexpr double kOther = 0.2;  // of a size, to another
  std::vector<double> sizes_w;
  sizes_w.reserve(steps.size());
  for (const SensorStep& step : steps) sizes_w.push_back(std::abs(step.size_w));
  std::ranges::sort(steps, {}, &SensorStep::time_s);
  std::vector<std::pair<double, SensorBeats>> all;
  all.reserve(sizes_w.size());
  for (const double size_w : sizes_w) all.emplace_back(size_w, beats_of(steps, size_w));
  std::ranges::stable_sort(all, std::greater<>(),
                           [](const auto& one) { return turns(one.second); });
  std::vector<SensorBeats> chosen;
  std::vector<double> chosen_w;
  for (auto& [size_w, beats] : all) {
    if (chosen.size() >= kMost || turns(beats) == 0) break;
    const bool is_near = std::ranges::any_of(chosen_w, [size = size_w](double other_w) {
      return std::abs(size - other_w) < kOther * other_w;
    });
    if (is_near) continue;
    chosen_w.push_back(size_w);
    chosen.push_back(std::move(beats));
  }
  return chosen;
}

}  // namespace wattle
