#include "calibration/sensor_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/numbers/value_range.hpp"
#include "calibration/robust_fit.hpp"
#include "calibration/row_likelihood.hpp"
#include "calibration/shown_power.hpp"

namespace wattle {
namespace {

constexpr double kImpossible = -1e9;  ///< a logarithm of a likelihood
/// In simulations, no right sensor passes this and the other limits in 99 %.
constexpr double kLeastEvidence = 4.0;
/// How many rows a comparison needs.
constexpr auto kLeastRows = 15;
/// In seconds, for a meter with a row every second or more often; in rows, for a slower one.
constexpr double kLeastLag = 0.4;
constexpr double kMostLag = 6.0;
/// How much the power that no sensor explains varies: see `RowLikelihood`.
constexpr std::array kWalks = {0.03, 0.2, 1.0};
constexpr double kUsualWalk = 0.2;
/// Where a sensor is stuck, all of its device's steps are unexplained.
constexpr std::array kWildWalks = {0.03, 0.2, 1.0, 10.0, 100.0, 1000.0};
/// Gains are known to about this: sensors are off by 10 %, and power supplies lose up to 30 %.
constexpr double kKnownGain = 0.25;
constexpr double kUnknownGain = 1.0;

using ShownPowers = std::vector<ShownPower>;

/// A thousand where a sensor shows kilowatts, a thousandth where it shows milliwatts, else 1.
double unit_of(const PowerCurve& power, double gain, double meter_range_w) {
  constexpr double kMuch = 3.0;
  const double ratio = gain > 0.0 ? gain / kUsualGain : 1.0;
  const double unit = std::pow(1000.0, std::round(std::log10(ratio) / 3.0));
  ValueRange range;
  for (const PowerStep& step : power.steps()) range.add(step.power_w);
  // A small gain alone says that the meter does not see what the sensor shows.
  return unit < 1.0 && range.width() < kMuch * meter_range_w ? 1.0 : unit;
}

/// A few steps may be those of something without a sensor at the same time.
bool misses_enough(const SensorSuspicion& suspicion) noexcept {
  constexpr std::size_t kLeast = 3;
  constexpr double kLeastPart = 0.15;
  return suspicion.missed_steps >= kLeast &&
         static_cast<double>(suspicion.missed_steps) >=
             kLeastPart * static_cast<double>(suspicion.clear_steps);
}

/// Compares faults of single sensors. Threads: one at a time.
class FaultSearch {
 public:
  explicit FaultSearch(const MeterBeside& beside);
  [[nodiscard]] std::vector<SensorSuspicion> suspicions();
  [[nodiscard]] FittedGains fitted(std::optional<std::size_t> unrelated);

 private:
  using Fault = std::optional<SensorSuspicion>;

  [[nodiscard]] ShownPowers shown(const MeterTiming& timing, const Fault& fault) const;
  /// The rows that are known with this timing, and stay so if it moves a little.
  [[nodiscard]] KnownRows safe_rows(const MeterTiming& timing) const;
  [[nodiscard]] double likelihood(const ShownPowers& shown, const MeterTiming& timing,
                                  const Fault& fault, const KnownRows& rows, double walk);
  /// With the best walk.
  [[nodiscard]] double best_likelihood(const MeterTiming& timing, const Fault& fault,
                                       const KnownRows& rows);
  [[nodiscard]] double likeliest_walk(const MeterTiming& timing, const Fault& fault);
  [[nodiscard]] MeterTiming best_timing(const Fault& fault);
  [[nodiscard]] SensorSuspicion best_lag(std::size_t domain, const MeterTiming& timing);
  void judge(SensorSuspicion& suspicion, const MeterTiming& without);
  void count_steps(SensorSuspicion& suspicion, const MeterTiming& timing, const KnownRows& rows);

  const MeterBeside& at_;
  double unit_s_;  ///< see `kLeastLag`
  double walk_ = kUsualWalk;
  double gain_sd_ = kKnownGain;
  std::vector<double> units_;  ///< see `unit_of`
  std::vector<std::vector<SensorStep>> steps_;
  RowLikelihood likelihood_;
  KnownRows safe_;
};

FaultSearch::FaultSearch(const MeterBeside& beside)
    : at_(beside), unit_s_(std::max(1.0, beside.meter.spacing_s)), likelihood_(beside.meter) {
  ValueRange meter_range;
  for (const double power_w : beside.meter.power_w) meter_range.add(power_w);
  for (std::size_t i = 0; i < beside.domains.size(); ++i) {
    const PowerCurve& power = beside.domains[i].power;
    units_.push_back(unit_of(power, beside.gains[i], meter_range.width()));
    steps_.push_back(clear_steps(power));
  }
  safe_ = safe_rows(beside.timing);
}

ShownPowers FaultSearch::shown(const MeterTiming& timing, const Fault& fault) const {
  ShownPowers all;
  all.reserve(at_.domains.size());
  for (std::size_t i = 0; i < at_.domains.size(); ++i) {
    const double late_s = fault && fault->domain == i ? fault->lag_s.value_or(0.0) : 0.0;
    all.push_back(shown_power(at_.meter, at_.domains[i].power, timing, late_s));
  }
  return all;
}

KnownRows FaultSearch::safe_rows(const MeterTiming& timing) const {
  const double move_s = 0.3 * unit_s_;
  MeterTiming wide = timing;
  wide.lag_s = 1.3 * timing.lag_s + 0.2 * unit_s_;
  wide.window_s = 1.3 * timing.window_s + 0.1 * unit_s_;
  MeterTiming earlier = timing;
  earlier.shift_s -= move_s;
  MeterTiming later = timing;
  later.shift_s += move_s;
  KnownRows rows(at_.meter.time_s.size(), true);
  for (const MeterTiming& each : {wide, earlier, later}) {
    for (const ShownPower& one : shown(each, {})) one.restrict(rows);
  }
  return rows;
}

double FaultSearch::likelihood(const ShownPowers& shown, const MeterTiming& timing,
                               const Fault& fault, const KnownRows& rows, double walk) {
  constexpr double kLagSd = 0.05;        // seconds, at least
  constexpr double kMeterJitter = 0.02;  // of its period
  constexpr double kStepJitter = 0.2;    // of a sensor's step: within it power may be anywhere
  // A step that the meter need not see may show itself as this part of it, about.
  constexpr double kResponseSd = 0.6;
  std::vector<PriorColumn> columns;
  std::vector<double> doubt_w(rows.size(), 0.0);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const double to_meter = units_[i] * kUsualGain;
    const double step_s = at_.domains[i].power.step_s();
    columns.push_back({shown[i].power_w, units_[i], kUsualGain, gain_sd_});
    columns.push_back({shown[i].rate_w, to_meter, 0.0, std::max(kLagSd, step_s / 2.0)});
    const double jitter_s =
        std::hypot(kMeterJitter * at_.meter.period_s, kStepJitter * step_s) * to_meter;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      doubt_w[k] = std::hypot(doubt_w[k], jitter_s * shown[i].rate_w[k]);
    }
  }
  std::vector<std::vector<double>> seen;
  if (fault && !fault->lag_s) {
    const std::vector<SensorStep>& steps = steps_[fault->domain];
    seen.reserve(steps.size());
    for (const SensorStep& step : steps) {
      seen.push_back(shown_step(at_.meter, step.time_s, timing));
      const double factor = units_[fault->domain] * kUsualGain * step.size_w;
      columns.push_back({seen.back(), factor, 0.0, kResponseSd});
    }
  }
  return likelihood_.of(columns, rows, doubt_w, walk);
}

double FaultSearch::best_likelihood(const MeterTiming& timing, const Fault& fault,
                                    const KnownRows& rows) {
  const ShownPowers shown = this->shown(timing, fault);
  double best = kImpossible;
  for (const double walk : kWalks) {
    best = std::max(best, likelihood(shown, timing, fault, rows, walk));
  }
  return best;
}

MeterTiming FaultSearch::best_timing(const Fault& fault) {
  // Hooke and Jeeves. Window and filter change so that the middle of what the meter sees stays.
  constexpr int kHalvings = 4;
  constexpr int kPasses = 2;
  MeterTiming best = at_.timing;
  KnownRows rows = safe_;
  for (const ShownPower& one : shown(best, fault)) one.restrict(rows);
  const auto score = [&](const MeterTiming& timing) {
    const ShownPowers shown = this->shown(timing, fault);
    KnownRows known = rows;
    for (const ShownPower& one : shown) one.restrict(known);
    return known == rows ? likelihood(shown, timing, fault, rows, walk_) : kImpossible;
  };
  double most = score(best);
  double size_s = std::max(0.1, 0.25 * at_.meter.spacing_s);
  for (int turn = 0; turn < kHalvings * kPasses; ++turn) {
    for (const double by_s : {-size_s, size_s}) {
      const std::array moves = {
          MeterTiming{.shift_s = by_s},
          MeterTiming{.shift_s = -by_s / 2.0, .window_s = by_s},
          MeterTiming{.shift_s = -by_s, .lag_s = by_s},
          MeterTiming{.shift_s = -by_s / 2.0, .window_s = -by_s, .lag_s = by_s},
      };
      for (const MeterTiming& move : moves) {
        const MeterTiming next{.shift_s = best.shift_s + move.shift_s,
                               .window_s = std::max(0.0, best.window_s + move.window_s),
                               .lag_s = std::max(0.0, best.lag_s + move.lag_s)};
        const double found = score(next);
        if (found <= most) continue;
        most = found;
        best = next;
      }
    }
    if (turn % kPasses + 1 == kPasses) size_s /= 2.0;
  }
  return best;
}

SensorSuspicion FaultSearch::best_lag(std::size_t domain, const MeterTiming& timing) {
  constexpr int kHalvings = 3;
  const double step_s = 0.5 * unit_s_;
  ShownPowers right = shown(timing, {});
  ShownPowers late = right;
  SensorSuspicion best{.domain = domain, .lag_s = kLeastLag * unit_s_, .evidence = kImpossible};
  const auto attempt = [&](double lag_s) {
    if (std::abs(lag_s) < kLeastLag * unit_s_) return;
    late[domain] = shown_power(at_.meter, at_.domains[domain].power, timing, lag_s);
    KnownRows rows = safe_;
    right[domain].restrict(rows);
    late[domain].restrict(rows);
    if (std::ranges::count(rows, true) < kLeastRows) return;
    const double evidence = likelihood(late, timing, {}, rows, kUsualWalk) -
                            likelihood(right, timing, {}, rows, kUsualWalk);
    if (evidence > best.evidence) best = {.domain = domain, .lag_s = lag_s, .evidence = evidence};
  };
  const auto steps = static_cast<int>(kMostLag * unit_s_ / step_s);
  for (int step = -steps; step <= steps; ++step) attempt(step_s * step);
  double more_s = step_s / 2.0;
  for (int i = 0; i < kHalvings; ++i, more_s /= 2.0) {
    const double middle_s = *best.lag_s;
    attempt(middle_s - more_s);
    attempt(middle_s + more_s);
  }
  return best;
}

/// Finds the evidence. `without`: the best timing with all sensors right.
void FaultSearch::judge(SensorSuspicion& suspicion, const MeterTiming& without) {
  const std::array timings = {best_timing(suspicion), without, at_.timing};
  KnownRows rows = safe_;
  for (const MeterTiming& timing : timings) {
    for (const ShownPower& one : shown(timing, suspicion)) one.restrict(rows);
    for (const ShownPower& one : shown(timing, {})) one.restrict(rows);
  }
  suspicion.evidence = kImpossible;
  if (std::ranges::count(rows, true) < kLeastRows) return;
  double right = kImpossible;
  double wrong = kImpossible;
  MeterTiming best;
  for (const MeterTiming& timing : timings) {
    right = std::max(right, best_likelihood(timing, {}, rows));
    const double found = best_likelihood(timing, suspicion, rows);
    if (found > wrong) best = timing;
    wrong = std::max(wrong, found);
  }
  suspicion.evidence = wrong - right;
  if (!suspicion.lag_s) count_steps(suspicion, best, rows);
}

void FaultSearch::count_steps(SensorSuspicion& suspicion, const MeterTiming& timing,
                              const KnownRows& rows) {
  constexpr double kLargestError = 0.35;  // of a step
  constexpr double kMissed = -0.35;
  constexpr double kSafeErrors = 2.5;
  static_cast<void>(likelihood(shown(timing, suspicion), timing, suspicion, rows, kUsualWalk));
  const std::vector<double>& found = likelihood_.coefficients();
  const std::vector<std::vector<double>> errors = likelihood_.errors();
  for (std::size_t i = 2 * at_.domains.size(); i < found.size(); ++i) {
    double squares = 0.0;
    for (const std::vector<double>& error : errors) squares += error[i] * error[i];
    if (squares > kLargestError * kLargestError) continue;
    ++suspicion.clear_steps;
    if (found[i] < kMissed && found[i] < -kSafeErrors * std::sqrt(squares)) {
      ++suspicion.missed_steps;
    }
  }
}

std::vector<SensorSuspicion> FaultSearch::suspicions() {
  // More rows would show no more than these, and take seconds.
  constexpr auto kMostRows = 1200;
  auto left = kMostRows;
  for (auto&& is_safe : safe_) {
    if (is_safe && left-- <= 0) is_safe = false;
  }
  const MeterTiming right = best_timing({});
  std::vector<SensorSuspicion> all;
  for (std::size_t i = 0; i < at_.domains.size(); ++i) {
    SensorSuspicion unseen{.domain = i};
    SensorSuspicion late = std::ranges::max(best_lag(i, right), best_lag(i, at_.timing), {},
                                            &SensorSuspicion::evidence);
    judge(unseen, right);
    judge(late, right);
    const bool is_late = late.evidence > (misses_enough(unseen) ? unseen.evidence : kLeastEvidence);
    all.push_back(is_late ? late : unseen);
  }
  return all;
}

double FaultSearch::likeliest_walk(const MeterTiming& timing, const Fault& fault) {
  const ShownPowers shown = this->shown(timing, fault);
  KnownRows rows = safe_;
  for (const ShownPower& one : shown) one.restrict(rows);
  return std::ranges::max(
      kWildWalks, {}, [&](double walk) { return likelihood(shown, timing, fault, rows, walk); });
}

FittedGains FaultSearch::fitted(std::optional<std::size_t> unrelated) {
  const Fault fault = unrelated ? Fault({.domain = *unrelated}) : std::nullopt;
  gain_sd_ = kUnknownGain;
  walk_ = likeliest_walk(at_.timing, fault);
  FittedGains fit{.timing = best_timing(fault), .gains = {}, .errors = {}};
  walk_ = likeliest_walk(fit.timing, fault);
  const ShownPowers shown = this->shown(fit.timing, fault);
  KnownRows rows = safe_;
  for (const ShownPower& one : shown) one.restrict(rows);
  static_cast<void>(likelihood(shown, fit.timing, fault, rows, walk_));
  const std::size_t n = at_.domains.size();
  const std::vector<std::vector<double>> errors = likelihood_.errors();
  // Steps that no sensor shows are no random walk, and those that a sensor shows wrongly no noise.
  constexpr double kWildErrors = 1.5;
  const double scale = fault || walk_ > kWalks.back() ? kWildErrors : 1.0;
  for (std::size_t i = 0; i < n; ++i) {
    fit.gains.push_back(units_[i] * likelihood_.coefficients()[2 * i]);
  }
  for (const std::vector<double>& error : errors) {
    std::vector<double>& of_gains = fit.errors.emplace_back(n);
    for (std::size_t i = 0; i < n; ++i) of_gains[i] = scale * units_[i] * error[2 * i];
  }
  return fit;
}

}  // namespace

std::vector<SensorSuspicion> sensor_suspicions(const MeterBeside& beside) {
  return FaultSearch(beside).suspicions();
}

std::optional<SensorSuspicion> clear_suspicion(std::vector<SensorSuspicion> suspicions) {
  constexpr double kMostOfOther = 0.5;
  if (suspicions.empty()) return std::nullopt;
  std::ranges::sort(suspicions, std::greater<>(), &SensorSuspicion::evidence);
  const SensorSuspicion& first = suspicions.front();
  if (first.evidence < kLeastEvidence) return std::nullopt;
  if (!first.lag_s && !misses_enough(first)) return std::nullopt;
  const bool is_shared =
      suspicions.size() > 1 && suspicions[1].evidence > kMostOfOther * first.evidence;
  return is_shared ? std::nullopt : std::optional(first);
}

FittedGains fitted_gains(const MeterBeside& beside, std::optional<std::size_t> unrelated) {
  return FaultSearch(beside).fitted(unrelated);
}

}  // namespace wattle
