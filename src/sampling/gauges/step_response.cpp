#include "sampling/gauges/step_response.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <thread>

#include "base/numbers/reservoir.hpp"

namespace wattle {
namespace {

constexpr std::size_t kFewestSteps = 20;
/// A value is at one of both powers if it is nearer to it than this part of their difference.
constexpr double kNear = 0.1;
/// Both powers differ by this part of the higher one at least.
constexpr double kLeastStep = 0.1;

struct Levels {
  double low = 0.0;
  double high = 0.0;

  /// 0 at the lower, 1 at the higher power.
  [[nodiscard]] double part_of(double value) const noexcept { return (value - low) / (high - low); }
  [[nodiscard]] bool is_low(double value) const noexcept { return part_of(value) < kNear; }
  [[nodiscard]] bool is_high(double value) const noexcept { return part_of(value) > 1.0 - kNear; }
};

std::optional<Levels> levels_of(std::vector<double> values) {
  constexpr double kTail = 0.15;
  std::ranges::sort(values);
  const Levels levels = {.low = quantile<double>(values, kTail),
                         .high = quantile<double>(values, 1.0 - kTail)};
  if (!(levels.high > 0.0) || levels.high - levels.low < kLeastStep * levels.high) return {};
  return levels;
}

/// A step of the load, as the counter shows it.
struct LoadStep {
  double at_s = 0.0;
  bool is_rise = false;
};

/// The mean power between neighbouring values of the counter.
std::vector<double> powers_of(std::span<const TimedValue> counter) {
  std::vector<double> powers;
  for (std::size_t i = 1; i < counter.size(); ++i) {
    powers.push_back((counter[i].value - counter[i - 1].value) /
                     (counter[i].at_s - counter[i - 1].at_s));
  }
  return powers;
}

struct LoadSteps {
  std::vector<LoadStep> steps{};
  std::size_t between = 0;  ///< with a value of the counter between both powers
};

/// Steps from a value at one power to a value at the other, with at most one in between.
LoadSteps steps_of(std::span<const TimedValue> counter, const std::vector<double>& powers,
                   const Levels& levels) {
  LoadSteps found;
  const auto side = [&](double power) {
    return levels.is_low(power) ? -1 : levels.is_high(power) ? 1 : 0;
  };
  for (std::size_t i = 0; i + 1 < powers.size(); ++i) {
    const int from = side(powers[i]);
    if (from == 0) continue;
    const bool is_between = side(powers[i + 1]) == 0;
    const std::size_t last = is_between ? i + 2 : i + 1;
    if (last >= powers.size() || side(powers[last]) != -from) continue;
    // Interval k is from value k to value k + 1.
    const TimedValue& begin = counter[i];
    const TimedValue& end = counter[last + 1];
    const double before_w = from < 0 ? levels.low : levels.high;
    const double after_w = from < 0 ? levels.high : levels.low;
    const double spent_j = end.value - begin.value - before_w * (end.at_s - begin.at_s);
    found.steps.push_back({.at_s = end.at_s - spent_j / (after_w - before_w), .is_rise = from < 0});
    if (is_between) ++found.between;
  }
  return found;
}

/// True if the steps are somewhere in the counter's intervals, as those of a load are that knows
/// nothing of them.
bool are_at_any_phase(const LoadSteps& found) {
  const auto steps = static_cast<double>(found.steps.size());
  const double expected = (1.0 - 2.0 * kNear) * steps;
  const double spread = std::sqrt(expected * 2.0 * kNear);
  return std::abs(static_cast<double>(found.between) - expected) <= 3.5 * spread;
}

/// How far a value of the gauge was on its way, and how long after the step it was made.
struct ResponsePoint {
  double after_s = 0.0;
  double part = 0.0;
  std::size_t step = 0;
};

double value_at(std::span<const TimedValue> gauge, double at_s) {
  const auto after = std::ranges::upper_bound(gauge, at_s, {}, &TimedValue::at_s);
  return after == gauge.begin() ? gauge.front().value : std::prev(after)->value;
}

/// Where the gauge starts to show a step it was renewed: from there its renewals are counted.
std::vector<ResponsePoint> response_of(std::span<const TimedValue> gauge,
                                       const std::vector<LoadStep>& steps, const Levels& levels,
                                       double update_s) {
  std::vector<ResponsePoint> points;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const LoadStep& step = steps[i];
    const auto part_of = [&](double value) {
      const double part = levels.part_of(value);
      return step.is_rise ? part : 1.0 - part;
    };
    const auto first = std::ranges::find_if(gauge, [&](const TimedValue& shown) {
      return shown.at_s > step.at_s - update_s / 4.0 && part_of(shown.value) > kNear;
    });
    if (first == gauge.end() || first == gauge.begin()) continue;
    if (first->at_s > step.at_s + 2.0 * update_s || part_of(std::prev(first)->value) > kNear) {
      continue;
    }
    for (const double renewals : {-1.0, 0.0, 1.0}) {
      const double at_s = first->at_s + renewals * update_s;
      // Readings and renewals scatter by a part of an update.
      points.push_back({.after_s = at_s - step.at_s,
                        .part = part_of(value_at(gauge, at_s + update_s / 8.0)),
                        .step = i});
    }
  }
  return points;
}

struct Fit {
  double window_s = 0.0;
  double error = 0.0;  ///< root of the mean square
};

/// `leaves_out`: a tenth of the steps; 10: none.
Fit fit_of(const std::vector<ResponsePoint>& points, double update_s, std::size_t leaves_out) {
  constexpr int kParts = 50;  // of an update: how fine the search is
  Fit best{.error = 1e9};
  for (int window = 1; window <= kParts + kParts / 4; ++window) {
    for (int delay = -kParts / 4; delay <= kParts / 2; ++delay) {
      const double window_s = update_s * window / kParts;
      const double delay_s = update_s * delay / kParts;
      double squares = 0.0;
      double count = 0.0;
      for (const ResponsePoint& point : points) {
        if (point.step % 10 == leaves_out) continue;
        const double part = std::clamp((point.after_s - delay_s) / window_s, 0.0, 1.0);
        squares += (point.part - part) * (point.part - part);
        count += 1.0;
      }
      const double error = std::sqrt(squares / std::max(count, 1.0));
      if (error < best.error) best = {.window_s = window_s, .error = error};
    }
  }
  return best;
}

double update_of(std::span<const TimedValue> gauge) {
  constexpr double kShortest = 0.05;  // most renewals bring the same value, if the power is steady
  std::vector<double> apart_s;
  for (std::size_t i = 1; i < gauge.size(); ++i) {
    apart_s.push_back(gauge[i].at_s - gauge[i - 1].at_s);
  }
  std::ranges::sort(apart_s);
  const auto shortest_s = quantile<double>(apart_s, kShortest);
  double sum_s = 0.0;
  double count = 0.0;
  for (const double one_s : apart_s) {
    if (one_s < 0.75 * shortest_s || one_s > 1.5 * shortest_s) continue;
    sum_s += one_s;
    count += 1.0;
  }
  return count > 0.0 ? sum_s / count : 0.0;
}

GaugeWindowAnswer because(std::string_view reason) { return {.reason = reason}; }

}  // namespace

double GaugeWindowFound::coverage() const noexcept { return std::min(1.0, window_s / update_s); }

GaugeWindowAnswer find_window(std::span<const TimedValue> counter,
                              std::span<const TimedValue> gauge) {
  constexpr std::string_view kNoLoad =
      "the load did not turn on and off at least 20 times, for two updates at least";
  if (counter.size() < 2 * kFewestSteps || gauge.size() < kFewestSteps) return because(kNoLoad);
  const std::vector<double> powers = powers_of(counter);
  std::vector<double> values;
  for (const TimedValue& shown : gauge) values.push_back(shown.value);
  const std::optional<Levels> counted = levels_of(powers);
  const std::optional<Levels> shown = levels_of(std::move(values));
  if (!counted || !shown) return because(kNoLoad);
  const LoadSteps found = steps_of(counter, powers, *counted);
  if (found.steps.size() < kFewestSteps) return because(kNoLoad);
  if (!are_at_any_phase(found)) {
    return because("the counter adds up what a gauge shows, or the load is in step with it");
  }
  const double update_s = update_of(gauge);
  const std::vector<ResponsePoint> points = response_of(gauge, found.steps, *shown, update_s);
  if (points.size() < 3 * kFewestSteps || 2 * points.size() < 3 * found.steps.size()) {
    return because("the gauge does not follow the load within two updates");
  }
  constexpr std::size_t kNone = 10;
  constexpr double kWorstFit = 0.1;
  const Fit fit = fit_of(points, update_s, kNone);
  if (fit.error > kWorstFit) return because("its values are no means over one window");
  // Jackknife: from the windows without a tenth of the steps.
  constexpr double kBlocks = 10.0;
  double squares = 0.0;
  for (std::size_t left_out = 0; left_out < kNone; ++left_out) {
    squares += std::pow(fit_of(points, update_s, left_out).window_s - fit.window_s, 2.0);
  }
  const double finest_s = update_s / 50.0;
  const double spread_s = std::sqrt((kBlocks - 1.0) / kBlocks * squares);
  return {.found = GaugeWindowFound{.update_s = update_s,
                                    .window_s = fit.window_s,
                                    .window_uncertainty_s = 2.0 * std::hypot(spread_s, finest_s),
                                    .steps = found.steps.size()}};
}

namespace {

/// The values of one channel, each once.
class DistinctValues {
 public:
  explicit DistinctValues(const Channel& channel) : scale_(channel.scale()) {}

  void add(const Reading& reading) {
    if (reading.status != ReadStatus::ok) return;
    if (last_ && *last_ == reading.raw) return;
    last_ = reading.raw;
    if (values_.size() == kMost) return;
    values_.push_back({.at_s = Seconds(reading.at.time_since_epoch()).count(),
                       .value = scale_ * static_cast<double>(reading.raw)});
  }
  /// Without the first: nobody knows when it came.
  [[nodiscard]] std::span<const TimedValue> values() const noexcept {
    return std::span(values_).subspan(values_.empty() ? 0 : 1);
  }

 private:
  static constexpr std::size_t kMost = 100'000;
  double scale_;
  std::optional<std::uint64_t> last_{};
  std::vector<TimedValue> values_;
};

}  // namespace

bool is_window_open(const Channel& channel) noexcept {
  return channel.metric == Metric::power_instant && channel.scope == Scope::device &&
         !channel.costly && !channel.gauge.window && !channel.gauge.time_constant;
}

std::vector<WatchedGauge> watch_gauges(Sensor& sensor, std::chrono::nanoseconds length,
                                       const TimeSource& clock,
                                       const std::function<bool()>& goes_on) {
  const std::span<const Channel> channels = sensor.channels();
  const ChannelSet counters = channels_where(sensor, [](const Channel& channel) {
    return channel.metric == Metric::energy && channel.scope == Scope::device;
  });
  const ChannelSet gauges = channels_where(sensor, is_window_open);
  std::vector<WatchedGauge> watched;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!gauges[i]) continue;
    watched.push_back({.channel = i});
    if (counters.none()) watched.back().answer = because("it has no energy counter beside it");
  }
  if (watched.empty() || counters.none()) return watched;
  std::vector<DistinctValues> shown(channels.begin(), channels.end());
  std::vector<Reading> readings(channels.size());
  const TimePoint end = clock.now() + length;
  while (clock.now() < end && goes_on()) {
    sensor.read_some(counters | gauges, readings);
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (counters[i] || gauges[i]) shown[i].add(readings[i]);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::size_t counter = 0;
  while (!counters[counter]) ++counter;
  for (WatchedGauge& gauge : watched) {
    gauge.answer = find_window(shown[counter].values(), shown[gauge.channel].values());
  }
  return watched;
}

}  // namespace wattle
