#include "calibration/meter_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers/value_range.hpp"
#include "calibration/robust_fit.hpp"

namespace wattle {
namespace {

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

}  // namespace

MeterModel::MeterModel(const MeterBeside& beside, double gain_sd)
    : at_(beside),
      gain_sd_(gain_sd),
      unit_s_(std::max(1.0, beside.meter.spacing_s)),
      likelihood_(beside.meter) {
  ValueRange meter_range;
  for (const double power_w : beside.meter.power_w) meter_range.add(power_w);
  for (std::size_t i = 0; i < beside.domains.size(); ++i) {
    const PowerCurve& power = beside.domains[i].power;
    units_.push_back(unit_of(power, beside.gains[i], meter_range.width()));
    steps_.push_back(clear_steps(power));
  }
  safe_ = safe_rows(beside.timing);
}

ShownPowers MeterModel::shown(const MeterTiming& timing, const PossibleFault& fault) const {
  ShownPowers all;
  all.reserve(at_.domains.size());
  for (std::size_t i = 0; i < at_.domains.size(); ++i) {
    const double late_s = fault && fault->domain == i ? fault->lag_s.value_or(0.0) : 0.0;
    all.push_back(shown_power(at_.meter, at_.domains[i].power, timing, late_s));
  }
  return all;
}

KnownRows MeterModel::safe_rows(const MeterTiming& timing) const {
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

KnownRows MeterModel::rows_of(const ShownPowers& shown) const {
  KnownRows rows = safe_;
  for (const ShownPower& one : shown) one.restrict(rows);
  return rows;
}

void MeterModel::keep_rows(std::size_t most) {
  std::size_t kept = 0;
  for (auto&& is_safe : safe_) {
    if (is_safe && ++kept > most) is_safe = false;
  }
}

double MeterModel::likelihood(const ShownPowers& shown, const MeterTiming& timing,
                              const PossibleFault& fault, const KnownRows& rows, double walk,
                              std::span<const PriorColumn> more) {
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
  columns.insert(columns.end(), more.begin(), more.end());
  return likelihood_.of(columns, rows, doubt_w, walk);
}

std::vector<MeterTiming> MeterModel::other_starts() const {
  // A wrong sensor may have hidden them. The middle of what the meter sees is known better.
  const double middle_s = at_.timing.shift_s + at_.timing.window_s / 2.0 + at_.timing.lag_s;
  std::vector<MeterTiming> starts;
  for (const double window_s : {0.1 * unit_s_, at_.meter.spacing_s}) {
    for (const double lag_s : {0.0, 0.5 * unit_s_, unit_s_}) {
      for (const double more_s : {-0.3, 0.0, 0.3}) {
        starts.push_back({.shift_s = middle_s - window_s / 2.0 - lag_s + more_s * unit_s_,
                          .window_s = window_s,
                          .lag_s = lag_s});
      }
    }
  }
  return starts;
}

MeterTiming MeterModel::best_timing(const PossibleFault& fault, double walk) {
  // Hooke and Jeeves. Window and filter change so that the middle of what the meter sees stays.
  constexpr int kHalvings = 4;
  constexpr int kPasses = 2;
  MeterTiming best = at_.timing;
  const std::vector<MeterTiming> starts = other_starts();
  KnownRows rows = rows_of(shown(best, fault));
  for (const MeterTiming& start : starts) {
    for (const ShownPower& one : shown(start, fault)) one.restrict(rows);
  }
  const auto score = [&](const MeterTiming& timing) {
    const ShownPowers shown = this->shown(timing, fault);
    KnownRows known = rows;
    for (const ShownPower& one : shown) one.restrict(known);
    return known == rows ? likelihood(shown, timing, fault, rows, walk) : kImpossible;
  };
  double most = score(best);
  for (const MeterTiming& start : starts) {
    const double found = score(start);
    if (found <= most) continue;
    most = found;
    best = start;
  }
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

}  // namespace wattle
