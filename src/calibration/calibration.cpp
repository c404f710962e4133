#include "calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/numbers/median.hpp"
#include "base/numbers/regression.hpp"
#include "base/numbers/value_range.hpp"
#include "calibration/aligned_faults.hpp"
#include "calibration/robust_fit.hpp"

namespace wattle {
namespace {

/// A watt at a device is at least this at the meter, and at most that: sensors are off by 10 % and
/// power supplies lose up to 30 %. What lies beyond accuses a sensor.
constexpr double kLeastGain = 0.75;
constexpr double kMostGain = 1.8;
/// Sensors differ from each other by more than twice their 10 % of error.
constexpr double kLeastRatio = 0.75;
constexpr double kMostRatio = 1.33;
/// Standard errors beyond which an accusation is safe, for a few sensors.
constexpr double kSafeErrors = 4.0;

using DomainList = std::vector<RecordedDomainPower>;

/// True where the sensor shows one value nearly all the time.
bool is_constant(const PowerCurve& power) {
  ValueRange powers;
  for (const PowerStep& step : power.steps()) powers.add(step.power_w);
  return powers.width() <= 1e-5 * std::abs(powers.high);
}

/// Everything about one comparison, while it is made. Threads: one at a time.
class MeterComparison {
 public:
  MeterComparison(const FaultyAlignment& found, const GainEstimates& estimates,
                  std::vector<CalibratedDomain>& domains)
      : used_(found.used),
        alignment_(found.alignment),
        faults_(found.faults),
        estimates_(estimates),
        domains_(domains) {}

  /// Fills in gains, lags and verdicts. Returns what is wrong with the meter itself, if anything.
  std::string judge();
  [[nodiscard]] std::optional<CalibratedNumber> common_gain() const;
  void add_total(MeterCalibration& result) const;

 private:
  /// The median gain of those that have a possible one, except `without`.
  [[nodiscard]] double common_of(const std::vector<double>& gains, std::size_t without) const;
  /// A late sensor's values are of a time that starts and ends earlier.
  [[nodiscard]] double edge_energy_j(std::size_t i) const;
  [[nodiscard]] bool is_clear(const auto& number) const {
    // An error that is the same in all rows does not show.
    constexpr double kLeastError = 0.005;
    return number(estimates_.gains()) >
           kSafeErrors * std::max(estimates_.error_of(number), kLeastError);
  }
  void judge_domain(std::size_t i);
  [[nodiscard]] bool judge_lag(std::size_t i, CalibratedDomain& domain) const;
  [[nodiscard]] bool judge_unit(std::size_t i, CalibratedDomain& domain) const;
  [[nodiscard]] bool judge_gain(std::size_t i, CalibratedDomain& domain) const;
  void explain_doubt(std::size_t i, CalibratedDomain& domain) const;
  [[nodiscard]] CalibratedDomain& named(const std::string& name) const {
    return *std::ranges::find(domains_, name, &CalibratedDomain::name);
  }

  const DomainList& used_;
  const MeterAlignment& alignment_;
  const std::vector<FoundFault>& faults_;
  const GainEstimates& estimates_;
  std::vector<CalibratedDomain>& domains_;
  std::vector<std::size_t> possible_;  ///< with a determined and possible gain
};

double MeterComparison::common_of(const std::vector<double>& gains, std::size_t without) const {
  std::vector<double> others;
  for (const std::size_t i : possible_) {
    if (i != without) others.push_back(gains[i]);
  }
  return others.empty() ? kUsualGain : median_of(std::move(others));
}

std::optional<CalibratedNumber> MeterComparison::common_gain() const {
  if (possible_.empty()) return std::nullopt;
  return estimates_.number_of(
      [this](const std::vector<double>& gains) { return common_of(gains, used_.size()); });
}

double MeterComparison::edge_energy_j(std::size_t i) const {
  const double lag_s = std::abs(faults_[i].lag_s);
  const PowerCurve& power = used_[i].power;
  const auto first_w = power.mean_w(power.begin_s(), power.begin_s() + lag_s);
  const auto last_w = power.mean_w(power.end_s() - lag_s, power.end_s());
  // Before the start it was as after it, at least roughly.
  const double change_w = std::abs(first_w.value_or(0.0) - last_w.value_or(0.0));
  return lag_s * (change_w + estimates_.spread_w(i));
}

bool MeterComparison::judge_lag(std::size_t i, CalibratedDomain& domain) const {
  const double lag_s = faults_[i].lag_s;
  const double uncertainty_s = alignment_.lag_uncertainties_s[i];
  if (uncertainty_s < std::max(1.0, std::abs(lag_s) / 2.0)) {
    domain.lag_s = CalibratedNumber{.value = lag_s, .uncertainty = uncertainty_s};
  }
  const double tolerated_s =
      std::max({0.3, 2.0 * used_[i].power.step_s(), 0.5 * estimates_.timing().window_s});
  if (std::abs(lag_s) <= tolerated_s) return false;
  if (used_.size() < 3) {
    domain.reason = fmt::format(
        "the lags of two sensors differ by {:.1f} s: with two, the meter "
        "does not show which one is late",
        std::abs(lag_s));
    return true;
  }
  domain.verdict = SensorVerdict::disagrees;
  domain.fault = SensorFault::late;
  domain.reason = fmt::format("its values are {:.1f} s {} than those of the other sensors",
                              std::abs(lag_s), lag_s > 0.0 ? "later" : "earlier");
  return true;
}

bool MeterComparison::judge_unit(std::size_t i, CalibratedDomain& domain) const {
  if (!estimates_.is_determined(i)) return false;
  const double ratio = estimates_.gains()[i] / common_of(estimates_.gains(), i);
  const double thousands = std::log10(ratio) / 3.0;
  if (std::abs(thousands) < 0.5 || std::abs(thousands - std::round(thousands)) > 0.1) return false;
  domain.verdict = SensorVerdict::disagrees;
  domain.fault = SensorFault::unit;
  const double factor = std::pow(1000.0, std::abs(std::round(thousands)));
  domain.reason = fmt::format("its values are {:.0f} times too {}: another unit", factor,
                              ratio < 1.0 ? "large" : "small");
  return true;
}

bool MeterComparison::judge_gain(std::size_t i, CalibratedDomain& domain) const {
  const auto others = std::ranges::count_if(possible_, [i](std::size_t k) { return k != i; });
  const bool is_relative = others >= 2;
  const auto low = [&](const std::vector<double>& gains) {
    return (is_relative ? kLeastRatio * common_of(gains, i) : kLeastGain) - gains[i];
  };
  const auto high = [&](const std::vector<double>& gains) {
    return gains[i] - (is_relative ? kMostRatio * common_of(gains, i) : kMostGain);
  };
  if (!is_clear(low) && !is_clear(high)) return false;
  domain.verdict = SensorVerdict::disagrees;
  const double gain = estimates_.gains()[i];
  const double common = common_of(estimates_.gains(), i);
  domain.fault = gain < 0.6 * common ? SensorFault::unrelated : SensorFault::gain;
  domain.reason = fmt::format(
      "the meter shows {:.2f} W for each W of its changes, and {:.2f} W for the other sensors",
      std::max(gain, 0.0), common);
  return true;
}

void MeterComparison::explain_doubt(std::size_t i, CalibratedDomain& domain) const {
  constexpr double kLeastOwn = 0.05;
  domain.reason = estimates_.own(i) < kLeastOwn
                      ? "it changes together with the others; load each device at other times"
                      : "it changes too little beside what no sensor explains; run a longer and "
                        "more varied load";
}

void MeterComparison::judge_domain(std::size_t i) {
  CalibratedDomain& domain = named(used_[i].name);
  const bool is_late = judge_lag(i, domain);
  const bool is_determined = estimates_.is_determined(i);
  if (is_determined) domain.gain = estimates_.gain(i);
  if (is_late || judge_unit(i, domain)) return;
  if (faults_[i].is_unrelated) {
    domain.verdict = SensorVerdict::disagrees;
    domain.fault = SensorFault::unrelated;
    domain.reason = fmt::format("the meter does not see {} of its {} clear steps",
                                faults_[i].missed_steps, faults_[i].clear_steps);
    return;
  }
  // A sensor whose steps are wrong spoils the gains of the others.
  const bool is_spoiled = std::ranges::any_of(faults_, &FoundFault::is_unrelated);
  if (!is_spoiled && judge_gain(i, domain)) return;
  if (is_determined) {
    domain.verdict = SensorVerdict::agrees;
  } else {
    explain_doubt(i, domain);
  }
}

std::string MeterComparison::judge() {
  std::size_t determined = 0;
  std::size_t impossible = 0;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (!estimates_.is_determined(i)) continue;
    ++determined;
    const double gain = estimates_.gains()[i];
    if (gain >= kLeastGain && gain <= kMostGain) possible_.push_back(i);
    const auto low = [i](const std::vector<double>& gains) { return kLeastGain - gains[i]; };
    const auto high = [i](const std::vector<double>& gains) { return gains[i] - kMostGain; };
    if (is_clear(low) || is_clear(high)) ++impossible;
  }
  if (determined > 0 && impossible == determined) {
    return "no sensor agrees with the meter, by a factor that a power supply explains; the meter's "
           "unit may be another one (--unit), or it is not the meter of this machine";
  }
  for (std::size_t i = 0; i < used_.size(); ++i) judge_domain(i);
  return {};
}

void MeterComparison::add_total(MeterCalibration& result) const {
  // An error that no block shows, since it is the same in all: see GainEstimates.
  constexpr double kSameInAll = 0.02;
  std::vector<std::size_t> parts;
  double edges_j = 0.0;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const CalibratedDomain& domain = named(used_[i].name);
    if (!domain.gain || domain.fault == SensorFault::unrelated) continue;
    parts.push_back(i);
    result.total_of.push_back(domain.name);
    edges_j += domain.gain->value * edge_energy_j(i);
  }
  if (parts.empty()) return;
  result.total_j = estimates_.number_of([&](const std::vector<double>& gains) {
    double sum = 0.0;
    for (const std::size_t i : parts) sum += gains[i] * used_[i].power.energy_j();
    return sum;
  });
  double& uncertainty = result.total_j->uncertainty;
  uncertainty = std::hypot(uncertainty, kSameInAll * result.total_j->value, edges_j);
}

/// The domains that a regression can use; the others get their reasons.
DomainList usable(const DomainList& domains, std::vector<CalibratedDomain>& results) {
  constexpr double kLeastKnown = 0.8;
  double run_s = 0.0;
  for (const RecordedDomainPower& domain : domains) {
    if (!domain.power.empty()) {
      run_s = std::max(run_s, domain.power.end_s() - domain.power.begin_s());
    }
  }
  DomainList used;
  for (const RecordedDomainPower& domain : domains) {
    CalibratedDomain& result = results.emplace_back(CalibratedDomain{.name = domain.name});
    if (domain.power.empty() || domain.power.known_s() < kLeastKnown * run_s) {
      result.reason = "its power is unknown for most of the run";
    } else if (is_constant(domain.power)) {
      result.reason = fmt::format("it shows {:.6g} W all the time; load the device",
                                  domain.power.steps().front().power_w);
    } else {
      used.push_back(domain);
    }
  }
  return used;
}

/// The sensors that show one value while the meter shows changes that no other sensor explains.
std::vector<std::string> stuck_suspects(const DomainList& domains, const GainEstimates& estimates) {
  constexpr double kOfLevel = 0.15;
  constexpr double kOfSpread = 0.02;
  const double left_w = estimates.left_w();
  std::vector<std::string> suspects;
  for (const RecordedDomainPower& domain : domains) {
    if (domain.power.empty() || !is_constant(domain.power) || domain.was_used == false) continue;
    const double level_w = std::abs(domain.power.steps().front().power_w);
    if (left_w > kOfLevel * level_w && left_w > kOfSpread * estimates.meter_spread_w()) {
      suspects.push_back(domain.name);
    }
  }
  return suspects;
}

void accuse_stuck(const std::vector<std::string>& suspects, double left_w,
                  std::vector<CalibratedDomain>& results) {
  for (const std::string& name : suspects) {
    CalibratedDomain& suspect = *std::ranges::find(results, name, &CalibratedDomain::name);
    suspect.reason +=
        fmt::format("; the meter shows changes of ±{:.0f} W that no sensor explains", 2.0 * left_w);
    if (suspects.size() > 1) continue;
    suspect.verdict = SensorVerdict::disagrees;
    suspect.fault = SensorFault::stuck;
  }
}

}  // namespace

const char* to_string(SensorVerdict verdict) noexcept {
  constexpr std::array kWords = {"agrees", "disagrees", "unknown"};
  return kWords.at(static_cast<std::size_t>(verdict));
}

const char* to_string(SensorFault fault) noexcept {
  constexpr std::array kWords = {"", "unit", "gain", "stuck", "late", "unrelated"};
  return kWords.at(static_cast<std::size_t>(fault));
}

MeterCalibration calibrated(const std::vector<MeterSample>& meter, const DomainList& domains,
                            const CalibrationOptions& options) {
  MeterCalibration result;
  DomainList used = usable(domains, result.domains);
  if (used.empty()) {
    result.problem = "no sensor shows a change of power; run a load that varies";
    return result;
  }
  FaultyAlignment plain = without_faults(meter, std::move(used), options.shift);
  result.period_s = plain.alignment.rows.period_s;
  if (!plain.alignment.problem.empty()) {
    result.problem = plain.alignment.problem;
    return result;
  }
  FaultyAlignment found = with_faults(meter, plain, options.shift);
  GainEstimates estimates = gain_estimates(found);
  const auto stuck = stuck_suspects(domains, estimates);
  if (!stuck.empty()) {
    // The steps that it does not show look like faults of the others.
    found = std::move(plain);
    estimates = gain_estimates(found);
  }
  result.rows = estimates.rows();
  constexpr std::size_t kLeastRows = 10;
  if (result.rows < kLeastRows) {
    result.problem = fmt::format(
        "{} rows of the meter lie where the power of all sensors is known for as long as the "
        "meter's "
        "filter shows it; run longer, or without gaps",
        result.rows);
    return result;
  }
  result.length_s = estimates.length_s();
  result.timing = estimates.timing();
  result.explained = estimates.explained();
  MeterComparison comparison(found, estimates, result.domains);
  result.problem = comparison.judge();
  accuse_stuck(stuck, estimates.left_w(), result.domains);
  if (!result.problem.empty()) return result;
  result.offset_w = estimates.offset();
  result.common_gain = comparison.common_gain();
  comparison.add_total(result);
  return result;
}

std::optional<double> sensor_error_percent(const CalibratedDomain& domain,
                                           const SupplyEfficiency& efficiency) {
  const bool is_known = domain.fault == SensorFault::none || domain.fault == SensorFault::gain ||
                        domain.fault == SensorFault::unit;
  if (!domain.gain || !is_known) return std::nullopt;
  // The true watts at the device per watt of the sensor.
  const double least = (domain.gain->value - domain.gain->uncertainty) * efficiency.least;
  const double most = (domain.gain->value + domain.gain->uncertainty) * efficiency.most;
  return 100.0 * std::max(std::abs(least - 1.0), std::abs(most - 1.0));
}

}  // namespace wattle
