#include "calibration/beat_evidence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "calibration/robust_fit.hpp"
#include "calibration/sensor_beats.hpp"

namespace wattle {
namespace {

/// How long a run goes on before its first step and after its last one, in its usual times between
/// two.
constexpr std::array kEnds = {0.0, 0.25, 0.5, 0.75, 1.0};
/// How well the power that a meter sees instead is known: its level, and how much of a step it
/// shows.
constexpr double kLevelSd = 0.2;
constexpr double kResponseSd = 0.2;

/// Chooses among the runs of a sensor's beats. Threads: one at a time.
class BeatChoice {
 public:
  BeatChoice(MeterModel& model, std::size_t domain, const MeterTiming& timing,
             const KnownRows& rows)
      : model_(model),
        domain_(domain),
        timing_(timing),
        rows_(rows),
        shown_(model.shown(timing, {})) {}

  [[nodiscard]] BeatEvidence best_of(const SensorBeats& beats);

 private:
  [[nodiscard]] double likelihood(double walk);
  /// With the usual walk.
  [[nodiscard]] double score() { return likelihood(kUsualWalk) - cost(); }
  /// Each run may be beats or not, and has two ends.
  [[nodiscard]] double cost() const {
    const auto ends = static_cast<double>(kEnds.size());
    return std::log(2.0 * ends * ends) * static_cast<double>(runs_.size());
  }
  /// Finds the ends of the last run; returns the score.
  double find_ends(double half_s);
  void add(std::vector<double>& column, const std::vector<SensorStep>& steps) const;

  MeterModel& model_;
  std::size_t domain_;
  MeterTiming timing_;
  const KnownRows& rows_;
  ShownPowers shown_;
  std::vector<BeatRun> runs_;  ///< those chosen
};

void BeatChoice::add(std::vector<double>& column, const std::vector<SensorStep>& steps) const {
  for (const SensorStep& step : steps) {
    const std::vector<double> seen = shown_step(model_.meter(), step.time_s, timing_);
    for (std::size_t k = 0; k < column.size(); ++k) column[k] += step.size_w * seen[k];
  }
}

double BeatChoice::likelihood(double walk) {
  if (runs_.empty()) return model_.likelihood(shown_, timing_, {}, rows_, walk);
  std::vector<double> error(rows_.size(), 0.0);
  std::vector<double> extent(rows_.size(), 0.0);
  for (const BeatRun& run : runs_) {
    add(error, run.error());
    add(extent, run.extent());
  }
  const double factor = model_.unit(domain_) * kUsualGain;
  const std::array more = {PriorColumn{error, factor, -1.0, kResponseSd},
                           PriorColumn{extent, factor, 0.0, kLevelSd}};
  return model_.likelihood(shown_, timing_, {}, rows_, walk, more);
}

double BeatChoice::find_ends(double half_s) {
  BeatRun& run = runs_.back();
  run.before_s = half_s / 2.0;
  run.after_s = half_s / 2.0;
  double most = kImpossible;
  for (const auto end : {&BeatRun::before_s, &BeatRun::after_s}) {
    double best_s = run.*end;
    for (const double part : kEnds) {
      run.*end = part * half_s;
      if (run.missed() == 0) continue;
      const double found = score();
      if (found <= most) continue;
      most = found;
      best_s = run.*end;
    }
    run.*end = best_s;
  }
  return most;
}

BeatEvidence BeatChoice::best_of(const SensorBeats& beats) {
  runs_.clear();
  double most = score();
  std::vector<BeatRun> longest_first = beats.runs;
  std::ranges::stable_sort(longest_first, std::greater<>(),
                           [](const BeatRun& run) { return run.steps.size(); });
  for (BeatRun& run : longest_first) {
    runs_.push_back(std::move(run));
    const double found = find_ends(beats.half_s);
    if (found > most) {
      most = found;
    } else {
      runs_.pop_back();
    }
  }
  BeatEvidence best;
  for (const double walk : kTriedWalks)
    best.likelihood = std::max(best.likelihood, likelihood(walk));
  best.likelihood -= cost();
  for (const BeatRun& run : runs_) best.missed_steps += run.missed();
  return best;
}

}  // namespace

BeatEvidence beat_evidence(MeterModel& model, std::size_t domain, const MeterTiming& timing,
                           const KnownRows& rows) {
  BeatChoice choice(model, domain, timing, rows);
  BeatEvidence best;
  const std::vector<SensorBeats> all = possible_beats(model.steps(domain));
  for (const SensorBeats& beats : all) {
    BeatEvidence found = choice.best_of(beats);
    found.likelihood -= std::log(static_cast<double>(all.size()));
    if (found.likelihood > best.likelihood) best = found;
  }
  return best;
}

}  // namespace wattle
