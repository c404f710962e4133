#include "runs/run_sum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "sensors/domain_traits.hpp"

namespace wattle {
namespace {

/// By how much boards of a kind differ in their pace: counters, and gauges or what was observed.
constexpr double kBetweenBoards = 0.11;
constexpr double kOfObserved = 0.011;

constexpr std::size_t kFewestTimes = 5;
constexpr std::size_t kMostRunsTogether = 64;
/// Rates that are tried in one search: four in the time in which two rates get out of step.
constexpr double kMostRates = 100'000.0;
constexpr double kRatesPerTurn = 4.0;

double rates_in(double length_s, UpdateBand band) noexcept {
  return std::ceil(kRatesPerTurn * length_s * (band.highest_hz - band.lowest_hz));
}

/// How often times at random are as near to one phase of a rate in the band. `resultant`: the
/// length of the sum of their phases; `turns`: how many independent rates there are.
double chance_of(double count, double resultant, double turns) noexcept {
  const double one =
      std::exp(std::sqrt(1.0 + 4.0 * count + 4.0 * (count * count - resultant * resultant)) -
               (1.0 + 2.0 * count));
  return one * (1.0 + turns * resultant / std::sqrt(count));
}

/// The largest sum of the phases, as unit vectors, of all rates in the band. `times_s`: around 0.
double largest_resultant(std::span<const double> times_s, UpdateBand band, double rates) {
  const double step_hz = (band.highest_hz - band.lowest_hz) / std::max(rates, 1.0);
  std::vector<std::complex<double>> phases;
  std::vector<std::complex<double>> turns;
  phases.reserve(times_s.size());
  turns.reserve(times_s.size());
  for (const double time_s : times_s) {
    phases.push_back(std::polar(1.0, 2.0 * std::numbers::pi * band.lowest_hz * time_s));
    turns.push_back(std::polar(1.0, 2.0 * std::numbers::pi * step_hz * time_s));
  }
  double largest = 0.0;
  const auto most = static_cast<std::size_t>(rates);
  for (std::size_t rate = 0; rate <= most; ++rate) {
    double real = 0.0;
    double imaginary = 0.0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const double x = phases[i].real();
      const double y = phases[i].imag();
      real += x;
      imaginary += y;
      phases[i] = {x * turns[i].real() - y * turns[i].imag(),
                   x * turns[i].imag() + y * turns[i].real()};
    }
    largest = std::max(largest, std::hypot(real, imaginary));
  }
  return largest;
}

/// Runs that follow each other, as places in a list.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// `runs`: in the order of their starts.
std::vector<Stretch> stretches_of(std::span<const SummedRun> runs, UpdateBand band) {
  const std::size_t pieces = (runs.size() + kMostRunsTogether - 1) / kMostRunsTogether;
  const std::size_t most = pieces > 0 ? (runs.size() + pieces - 1) / pieces : 0;
  std::vector<Stretch> stretches;
  for (std::size_t begin = 0; begin < runs.size();) {
    std::size_t end = begin + 1;
    while (end < runs.size() && end - begin < most &&
           rates_in(runs[end].ended_unix_s - runs[begin].started_unix_s, band) <= kMostRates) {
      ++end;
    }
    if (end - begin >= kFewestTimes) stretches.push_back({begin, end});
    begin = end;
  }
  return stretches;
}

std::vector<UpdateBand> bands_of(std::span<const SummedRun> runs) {
  std::vector<UpdateBand> bands;
  for (const SummedRun& run : runs) {
    for (const SensorPart& sensor : run.sensors) {
      if (std::ranges::find(bands, sensor.updates) == bands.end()) bands.push_back(sensor.updates);
    }
  }
  return bands;
}

bool is_in_step(std::span<const SummedRun> runs, UpdateBand band, double most_false) {
  std::vector<double> starts;
  std::vector<double> ends;
  for (const SummedRun& run : runs) {
    starts.push_back(run.started_unix_s);
    ends.push_back(run.ended_unix_s);
  }
  return are_in_step(starts, band, most_false / 2.0) || are_in_step(ends, band, most_false / 2.0);
}

/// Moves what sensors of this band add from what is by chance to what is in step.
void move_to_in_step(SummedRun& run, UpdateBand band, double& in_step_j) {
  for (SensorPart& sensor : run.sensors) {
    if (sensor.updates != band) continue;
    const double left_j2 = std::pow(run.uncertainty.si(), 2.0) -
                           std::pow(sensor.independent.si(), 2.0) - std::pow(run.common.si(), 2.0);
    in_step_j += sensor.independent.si();
    run.uncertainty = Joules(std::hypot(std::sqrt(std::max(left_j2, 0.0)), run.common.si()));
  }
}

/// 0 of a sensor that showed what happened around the ends, and of a gauge: its ± has that.
Joules unseen_around_ends(const EnergyFigure& figure, Seconds update) noexcept {
  constexpr double kTimesThePower = 4.0;
  constexpr double kMeanAge = 0.5;
  if (figure.ends_are_seen || figure.method != Method::counter) return {};
  if (!figure.mean) return {};  // shorter than an update: its ± is for all that the device can draw
  return kTimesThePower * (*figure.mean * (kMeanAge * update));
}

UpdateBand band_of(const EnergyFigure& figure, Seconds update) noexcept {
  const bool is_near = figure.update_is_observed || figure.method == Method::integrated;
  const double off = is_near ? kOfObserved : kBetweenBoards;
  const double rate_hz = 1.0 / update.count();
  return {.lowest_hz = rate_hz / (1.0 + off), .highest_hz = rate_hz / (1.0 - off)};
}

}  // namespace

bool is_material(Joules unseen, Joules uncertainty, Joules energy) noexcept {
  constexpr double kThatShows = 1e-3;
  return unseen > std::max(uncertainty, kThatShows * energy);
}

SummedRun summed_run(const Report& record) {
  constexpr Seconds kShortestUpdate{1e-6};
  constexpr Seconds kLongestUpdate{3600.0};
  const Total& total = record.energy.total;
  SummedRun run{.started_unix_s = record.started_unix_s,
                .ended_unix_s = record.ended_unix_s,
                .uncertainty = total.uncertainty,
                .common = total.common,
                .energy = total.energy.value_or(Joules())};
  for (const DomainFigure& domain : record.energy.domains) {
    const EnergyFigure& figure = domain.figure;
    if (!counts_in_total(domain.domain.kind()) || !figure.energy) continue;
    const Seconds update = figure.update.value_or(Seconds(0));
    if (!(update >= kShortestUpdate && update <= kLongestUpdate)) continue;
    run.unseen = run.unseen + unseen_around_ends(figure, update);
    const double independent_j2 =
        std::pow(figure.uncertainty.si(), 2.0) - std::pow(figure.common.si(), 2.0);
    run.sensors.push_back({.updates = band_of(figure, update),
                           .independent = Joules(std::sqrt(std::max(independent_j2, 0.0)))});
  }
  return run;
}

bool are_in_step(std::span<const double> times_s, UpdateBand band, double most_false) {
  if (times_s.size() < kFewestTimes) return false;
  const auto count = static_cast<double>(times_s.size());
  double mean_s = 0.0;
  for (const double time_s : times_s) mean_s += (time_s - times_s[0]) / count;
  std::vector<double> centered_s;
  double variance_s2 = 0.0;
  for (const double time_s : times_s) {
    centered_s.push_back(time_s - times_s[0] - mean_s);
    variance_s2 += centered_s.back() * centered_s.back() / count;
  }
  const auto [first, last] = std::ranges::minmax(centered_s);
  const double rates = rates_in(last - first, band);
  const double turns =
      (band.highest_hz - band.lowest_hz) * std::sqrt(4.0 * std::numbers::pi * variance_s2);
  if (!(rates <= kMostRates) || chance_of(count, count, turns) > most_false) return false;
  const double resultant = std::min(largest_resultant(centered_s, band, rates), count);
  return chance_of(count, resultant, turns) <= most_false;
}

RunSum sum_of_runs(std::vector<SummedRun> runs, double most_false) {
  for (SummedRun& run : runs) {
    if (std::isfinite(run.started_unix_s) && std::isfinite(run.ended_unix_s)) continue;
    run.started_unix_s = run.ended_unix_s = 0.0;
    run.sensors.clear();
  }
  std::ranges::sort(runs, {}, &SummedRun::started_unix_s);
  const std::vector<UpdateBand> bands = bands_of(runs);
  RunSum sum;
  double in_step_j = 0.0;
  for (const UpdateBand& band : bands) {
    const std::vector<Stretch> stretches = stretches_of(runs, band);
    const auto tests = static_cast<double>(bands.size() * stretches.size());
    for (const auto& [begin, end] : stretches) {
      const std::span<SummedRun> together = std::span(runs).subspan(begin, end - begin);
      if (!is_in_step(together, band, most_false / tests)) continue;
      sum.is_in_step = true;
      for (SummedRun& run : together) move_to_in_step(run, band, in_step_j);
    }
  }
  UncertaintySum errors;
  for (const SummedRun& run : runs) {
    errors.add(run.uncertainty, run.common);
    sum.energy += run.energy;
    sum.unseen += run.unseen;
  }
  sum.common = errors.common();
  sum.uncertainty = Joules(std::hypot(errors.uncertainty().si(), in_step_j));
  return sum;
}

}  // namespace wattle
