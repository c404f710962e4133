#include "calibration/gain_estimates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "calibration/robust_fit.hpp"

namespace wattle {
namespace {

/// A gain with a larger ± (as a part of it) shows nothing.
constexpr double kMostDoubt = 0.3;
/// An error that the rows do not show, since it is the same in all: fans that follow the heat, a
/// supply whose efficiency depends on the load. As a part of a gain.
constexpr double kSameInAll = 0.02;
/// Where a sensor is stuck, all of its device's steps are unexplained.
constexpr std::array kWalks = {0.03, kUsualWalk, 1.0, 10.0, 100.0, 1000.0};
constexpr double kMostUsualWalk = 1.0;
/// How well gains and the timing are known before the fit; the timing in units of the model.
constexpr double kUnknownGain = 1.0;
constexpr double kTimingSd = 0.3;

/// The walk with which the rows are most likely.
double likeliest_walk(MeterModel& model, const MeterTiming& timing, const PossibleFault& fault) {
  const ShownPowers shown = model.shown(timing, fault);
  const KnownRows rows = model.rows_of(shown);
  return std::ranges::max(
      kWalks, {}, [&](double walk) { return model.likelihood(shown, timing, fault, rows, walk); });
}

/// How the meter's power changes with each part of its timing, per second. Takes out the rows where
/// that is unknown.
std::vector<std::vector<double>> timing_slopes(const MeterModel& model, const MeterTiming& timing,
                                               KnownRows& rows) {
  const double by_s = 0.05 * model.unit_s();
  const auto total = [&](const MeterTiming& moved) {
    std::vector<double> sum_w(rows.size(), 0.0);
    const ShownPowers shown = model.shown(moved, {});
    for (std::size_t i = 0; i < shown.size(); ++i) {
      shown[i].restrict(rows);
      for (std::size_t k = 0; k < rows.size(); ++k) {
        sum_w[k] += model.unit(i) * kUsualGain * shown[i].power_w[k];
      }
    }
    return sum_w;
  };
  const std::vector<double> now_w = total(timing);
  std::vector<std::vector<double>> slopes;
  slopes.reserve(3);
  for (const auto part : {&MeterTiming::shift_s, &MeterTiming::window_s, &MeterTiming::lag_s}) {
    MeterTiming moved = timing;
    moved.*part += by_s;
    slopes.push_back(total(moved));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      slopes.back()[k] = (slopes.back()[k] - now_w[k]) / by_s;
    }
  }
  return slopes;
}

}  // namespace

FittedGains fitted_gains(const MeterBeside& beside, const PossibleFault& fault) {
  MeterModel model(beside, kUnknownGain);
  FittedGains fit{.timing = model.best_timing(fault, likeliest_walk(model, beside.timing, fault)),
                  .gains = {},
                  .errors = {}};
  const double walk = likeliest_walk(model, fit.timing, fault);
  const ShownPowers shown = model.shown(fit.timing, fault);
  KnownRows rows = model.rows_of(shown);
  // The timing may be off, too: what that changes is a column for each part of it.
  const std::vector<std::vector<double>> slopes = timing_slopes(model, fit.timing, rows);
  std::vector<PriorColumn> timing(slopes.size());
  std::ranges::transform(slopes, timing.begin(), [&](const std::vector<double>& slope) {
    return PriorColumn{slope, 1.0, 0.0, kTimingSd * model.unit_s()};
  });
  static_cast<void>(model.likelihood(shown, fit.timing, fault, rows, walk, timing));
  // Steps that no sensor shows are no random walk, and those that a sensor shows wrongly no noise.
  constexpr double kWildErrors = 1.5;
  const double scale = fault || walk > kMostUsualWalk ? kWildErrors : 1.0;
  for (std::size_t i = 0; i < beside.domains.size(); ++i) {
    fit.gains.push_back(model.unit(i) * model.fit().coefficients()[2 * i]);
  }
  for (const std::vector<double>& error : model.fit().errors()) {
    std::vector<double>& of_gains = fit.errors.emplace_back(fit.gains.size());
    for (std::size_t i = 0; i < of_gains.size(); ++i) {
      of_gains[i] = scale * model.unit(i) * error[2 * i];
    }
  }
  return fit;
}

GainEstimates::GainEstimates(const AlignedRows& rows, FittedGains fit)
    : fit_(std::move(fit)), rows_(rows.rows()), sums_(rows.sums()), own_(own_part(sums_)) {
  if (rows_ > 0) length_s_ = rows.time_s(rows_ - 1) - rows.time_s(0);
  left_w_ = std::sqrt(fitted(sums_, GainSign::any).residual / sums_.weight());
}

CalibratedNumber GainEstimates::gain(std::size_t domain) const {
  CalibratedNumber gain =
      number_of([domain](const std::vector<double>& gains) { return gains[domain]; });
  gain.uncertainty = std::hypot(gain.uncertainty, kSameInAll * gain.value);
  return gain;
}

bool GainEstimates::is_determined(std::size_t domain) const {
  const CalibratedNumber found = gain(domain);
  return found.value > 0.0 && found.uncertainty <= kMostDoubt * found.value;
}

CalibratedNumber GainEstimates::offset() const {
  return number_of([this](const std::vector<double>& gains) {
    double offset = sums_.mean_y();
    for (std::size_t i = 0; i < gains.size(); ++i) offset -= gains[i] * sums_.mean_x(i);
    return offset;
  });
}

double GainEstimates::spread_w(std::size_t domain) const {
  return std::sqrt(sums_.xx(domain, domain) / sums_.weight());
}

double GainEstimates::meter_spread_w() const { return std::sqrt(sums_.yy() / sums_.weight()); }

double GainEstimates::explained() const {
  const double spread_w = meter_spread_w();
  return spread_w > 0.0 ? 1.0 - left_w_ * left_w_ / (spread_w * spread_w) : 0.0;
}

}  // namespace wattle
