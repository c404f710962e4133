#include "calibration/gain_estimates.hpp"

#include <cmath>
#include <utility>

namespace wattle {
namespace {

/// A gain with a larger ± (as a part of it) shows nothing.
constexpr double kMostDoubt = 0.3;
/// An error that the rows do not show, since it is the same in all: fans that follow the heat, a
/// supply whose efficiency depends on the load. As a part of a gain.
constexpr double kSameInAll = 0.02;

}  // namespace

GainEstimates::GainEstimates(const AlignedRows& rows, FittedGains fit)
    : fit_(std::move(fit)), own_(own_part(rows.sums())), sums_(rows.sums()) {
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
