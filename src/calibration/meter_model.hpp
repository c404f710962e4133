// A meter's power explained by the sensors; one of them may be wrong.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "calibration/meter_rows.hpp"
#include "calibration/row_likelihood.hpp"
#include "calibration/shown_power.hpp"

namespace wattle {

/// A meter beside sensors, with what is known of them before a search. Refers to all of it.
struct MeterBeside {
  const MeterRows& meter;
  std::span<const RecordedDomainPower> domains;
  MeterTiming timing;  ///< of the meter, about
  /// Watts at the meter for each watt of a sensor, to a factor of 30.
  std::span<const double> gains;
};

/// A possible fault of one sensor.
struct SensorFaultOf {
  std::size_t domain = 0;
  /// By how much it is later than the others; absent: the meter does not see the steps it shows.
  std::optional<double> lag_s{};
};
/// Absent: all sensors are right.
using PossibleFault = std::optional<SensorFaultOf>;

/// The logarithm of the likelihood of what cannot be.
inline constexpr double kImpossible = -1e9;

/// How much the power that no sensor explains varies, usually: see `RowLikelihood`.
inline constexpr double kUsualWalk = 0.2;
/// Those that a search tries.
inline constexpr std::array kTriedWalks = {kUsualWalk / 6.0, kUsualWalk, 5.0 * kUsualWalk};

/// Threads: one at a time.
class MeterModel {
 public:
  /// `gain_sd`: how well gains are known, before the rows show them.
  MeterModel(const MeterBeside& beside, double gain_sd);

  [[nodiscard]] const MeterRows& meter() const noexcept { return at_.meter; }
  /// A second, or the time between two rows if that is longer: how well such a meter shows times.
  [[nodiscard]] double unit_s() const noexcept { return unit_s_; }
  /// Watts for each of a sensor's unit: 1000 where that is kilowatts.
  [[nodiscard]] double unit(std::size_t domain) const noexcept { return units_[domain]; }
  /// The clear ones of a sensor.
  [[nodiscard]] const std::vector<SensorStep>& steps(std::size_t domain) const noexcept {
    return steps_[domain];
  }
  [[nodiscard]] ShownPowers shown(const MeterTiming& timing, const PossibleFault& fault) const;
  /// The rows at which all of `shown` is known, and stays so if the timing moves a little.
  [[nodiscard]] KnownRows rows_of(const ShownPowers& shown) const;
  /// Leaves the rows after this many out.
  void keep_rows(std::size_t most);

  /// The logarithm of the likelihood of `rows`. `more`: columns besides those of the sensors.
  [[nodiscard]] double likelihood(const ShownPowers& shown, const MeterTiming& timing,
                                  const PossibleFault& fault, const KnownRows& rows, double walk,
                                  std::span<const PriorColumn> more = {});
  /// The coefficients of the last likelihood: gain and lag of each domain, then the parts of each
  /// step that the meter need not see, then those of `more`.
  [[nodiscard]] const RowLikelihood& fit() const noexcept { return likelihood_; }
  [[nodiscard]] MeterTiming best_timing(const PossibleFault& fault, double walk);

 private:
  [[nodiscard]] KnownRows safe_rows(const MeterTiming& timing) const;
  /// For a search, besides `at_.timing`.
  [[nodiscard]] std::vector<MeterTiming> other_starts() const;

  MeterBeside at_;
  double gain_sd_;
  double unit_s_;
  std::vector<double> units_;
  std::vector<std::vector<SensorStep>> steps_;
  RowLikelihood likelihood_;
  KnownRows safe_;
};

}  // namespace wattle
