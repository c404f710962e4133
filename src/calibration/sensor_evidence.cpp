#include "calibration/sensor_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "calibration/beat_evidence.hpp"

namespace wattle {
namespace {

/// In simulations, no right sensor passes this and the other limits in 99 %.
constexpr double kLeastEvidence = 4.0;
/// How many rows a comparison needs.
constexpr auto kLeastRows = 15;
/// In units of the model.
constexpr double kLeastLag = 0.4;
constexpr double kMostLag = 6.0;
constexpr double kLagStep = 0.5;
/// Gains are known to about this: sensors are off by 10 %, and power supplies lose up to 30 %.
constexpr double kKnownGain = 0.25;

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
  explicit FaultSearch(const MeterBeside& beside) : at_(beside), model_(beside, kKnownGain) {
    // More rows would show no more than these, and take seconds.
    constexpr std::size_t kMostRows = 1200;
    model_.keep_rows(kMostRows);
  }
  [[nodiscard]] std::vector<SensorSuspicion> suspicions();

 private:
  /// With the best walk.
  [[nodiscard]] double best_likelihood(const MeterTiming& timing, const PossibleFault& fault,
                                       const KnownRows& rows);
  [[nodiscard]] SensorSuspicion best_lag(std::size_t domain, const MeterTiming& timing);
  void judge(SensorSuspicion& suspicion, const MeterTiming& without);
  void judge_beats(SensorSuspicion& suspicion, const BeatEvidence& beats, double right) const;
  void count_steps(SensorSuspicion& suspicion, const MeterTiming& timing, const KnownRows& rows);

  const MeterBeside& at_;
  MeterModel model_;
};

double FaultSearch::best_likelihood(const MeterTiming& timing, const PossibleFault& fault,
                                    const KnownRows& rows) {
  const ShownPowers shown = model_.shown(timing, fault);
  double best = kImpossible;
  for (const double walk : kTriedWalks) {
    best = std::max(best, model_.likelihood(shown, timing, fault, rows, walk));
  }
  return best;
}

SensorSuspicion FaultSearch::best_lag(std::size_t domain, const MeterTiming& timing) {
  constexpr int kHalvings = 3;
  const double unit_s = model_.unit_s();
  const double step_s = kLagStep * unit_s;
  const ShownPowers right = model_.shown(timing, {});
  ShownPowers late = right;
  SensorSuspicion best{.fault = {.domain = domain, .lag_s = kLeastLag * unit_s},
                       .evidence = kImpossible};
  const auto attempt = [&](double lag_s) {
    if (std::abs(lag_s) < kLeastLag * unit_s) return;
    late[domain] = shown_power(at_.meter, at_.domains[domain].power, timing, lag_s);
    KnownRows rows = model_.rows_of(late);
    right[domain].restrict(rows);
    if (std::ranges::count(rows, true) < kLeastRows) return;
    const double evidence = model_.likelihood(late, timing, {}, rows, kUsualWalk) -
                            model_.likelihood(right, timing, {}, rows, kUsualWalk);
    if (evidence <= best.evidence) return;
    best = {.fault = {.domain = domain, .lag_s = lag_s}, .evidence = evidence};
  };
  constexpr auto kSteps = static_cast<int>(kMostLag / kLagStep);
  for (int step = -kSteps; step <= kSteps; ++step) attempt(step_s * step);
  double more_s = step_s / 2.0;
  for (int i = 0; i < kHalvings; ++i, more_s /= 2.0) {
    const double middle_s = *best.fault.lag_s;
    attempt(middle_s - more_s);
    attempt(middle_s + more_s);
  }
  return best;
}

/// Finds the evidence. `without`: the best timing with all sensors right.
void FaultSearch::judge(SensorSuspicion& suspicion, const MeterTiming& without) {
  const std::array timings = {model_.best_timing(suspicion.fault, kUsualWalk), without, at_.timing};
  KnownRows rows = model_.rows_of({});
  for (const MeterTiming& timing : timings) {
    for (const ShownPower& one : model_.shown(timing, suspicion.fault)) one.restrict(rows);
    for (const ShownPower& one : model_.shown(timing, {})) one.restrict(rows);
  }
  suspicion.evidence = kImpossible;
  if (std::ranges::count(rows, true) < kLeastRows) return;
  double right = kImpossible;
  double wrong = kImpossible;
  MeterTiming best;
  for (const MeterTiming& timing : timings) {
    right = std::max(right, best_likelihood(timing, {}, rows));
    const double found = best_likelihood(timing, suspicion.fault, rows);
    if (found > wrong) best = timing;
    wrong = std::max(wrong, found);
  }
  suspicion.evidence = wrong - right;
  // One of many lags fits better by chance.
  if (suspicion.fault.lag_s) suspicion.evidence -= std::log(2.0 * kMostLag / kLagStep);
  if (suspicion.fault.lag_s) return;
  count_steps(suspicion, best, rows);
  judge_beats(suspicion, beat_evidence(model_, suspicion.fault.domain, best, rows), right);
}

/// Beats of one size are fewer numbers than free steps, and so are clear where each step is not.
void FaultSearch::judge_beats(SensorSuspicion& suspicion, const BeatEvidence& beats,
                              double right) const {
  SensorSuspicion of_beats = suspicion;
  of_beats.evidence = std::max(suspicion.evidence, beats.likelihood - right);
  of_beats.missed_steps = beats.missed_steps;
  of_beats.clear_steps = model_.steps(suspicion.fault.domain).size();
  const bool are_clear = beats.likelihood - right >= kLeastEvidence && misses_enough(of_beats);
  const bool are_better = !misses_enough(suspicion) || suspicion.evidence < of_beats.evidence;
  if (are_clear && are_better) suspicion = of_beats;
}

void FaultSearch::count_steps(SensorSuspicion& suspicion, const MeterTiming& timing,
                              const KnownRows& rows) {
  constexpr double kLargestError = 0.35;  // of a step
  constexpr double kMissed = -0.35;
  constexpr double kSafeErrors = 2.5;
  static_cast<void>(model_.likelihood(model_.shown(timing, suspicion.fault), timing,
                                      suspicion.fault, rows, kUsualWalk));
  const std::vector<double>& found = model_.fit().coefficients();
  const std::vector<std::vector<double>> errors = model_.fit().errors();
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
  const MeterTiming right = model_.best_timing({}, kUsualWalk);
  std::vector<SensorSuspicion> all;
  for (std::size_t i = 0; i < at_.domains.size(); ++i) {
    SensorSuspicion unseen{.fault = {.domain = i}};
    SensorSuspicion late = std::ranges::max(best_lag(i, right), best_lag(i, at_.timing), {},
                                            &SensorSuspicion::evidence);
    judge(unseen, right);
    judge(late, right);
    const bool is_late = late.evidence > (misses_enough(unseen) ? unseen.evidence : kLeastEvidence);
    all.push_back(is_late ? late : unseen);
  }
  return all;
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
  if (!first.fault.lag_s && !misses_enough(first)) return std::nullopt;
  const bool is_shared =
      suspicions.size() > 1 && suspicions[1].evidence > kMostOfOther * first.evidence;
  return is_shared ? std::nullopt : std::optional(first);
}

}  // namespace wattle
