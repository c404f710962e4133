// Is the truth where the figures say it is? Random loads, seen through simulated sensors: at least
// 95 of 100 energies lie within their own uncertainty of what was spent.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "known_history.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr int kTrials = 400;
constexpr double kCovered = 0.95;

nanoseconds of_seconds(double seconds) { return nanoseconds(std::llround(seconds * 1e9)); }

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double waiting_time(double mean) {
    return std::exponential_distribution<double>(1.0 / mean)(engine_);
  }

 private:
  std::mt19937_64 engine_;
};

/// A power between 50 and 400 W that changes at random times, from -5 to 15 s.
class Load {
 public:
  Load(Chance& chance, double mean_dwell_s) {
    double energy_j = 0.0;
    for (double time = -5.0; time < 15.0;) {
      const double watts = chance.between(50.0, 400.0);
      steps_.push_back({time, watts, energy_j});
      const double dwell_s = chance.waiting_time(mean_dwell_s);
      energy_j += watts * dwell_s;
      time += dwell_s;
    }
  }
  /// Spent until `time`.
  [[nodiscard]] double energy_j(double time) const {
    const auto next = std::ranges::upper_bound(steps_, time, {}, &Step::since);
    const Step& step = *std::prev(next);
    return step.energy_j + step.watts * (time - step.since);
  }

 private:
  struct Step {
    double since;
    double watts;
    double energy_j;
  };
  std::vector<Step> steps_;
};

/// What a sensor shows at `time` was true at its last renewal.
double renewed(double time, double phase, double update_s) {
  return std::floor((time - phase) / update_s) * update_s + phase;
}

bool is_covered(const EnergyFigure& figure, double truth_j) {
  return figure.energy && std::abs(figure.energy->si() - truth_j) <= figure.uncertainty.si();
}

struct GaugeCase {
  double period_s;
  double window_s;  ///< that a value is the mean of; 0: a millisecond, and unknown
  double dwell_s;
  bool ends_with_last_reading;
};

class GaugeCoverage : public testing::TestWithParam<GaugeCase> {};

/// One window of a gauge in milliwatts, renewed every 100 ms.
bool gauge_is_covered(Chance& chance, const GaugeCase& gauge) {
  const Load load(chance, gauge.dwell_s);
  Channel channel = whole_watts();
  channel.gauge.scale = 1e-3;
  if (gauge.window_s > 0.0) channel.gauge.window = of_seconds(gauge.window_s);
  KnownHistory history(channel,
                       {.period = of_seconds(gauge.period_s), .memory_limit = kMinTimelineBytes});
  const double mean_of_s = gauge.window_s > 0.0 ? gauge.window_s : 1e-3;
  const double phase = chance.between(0.0, 0.1);
  const double begin = chance.between(1.0, 2.0);
  const double end = begin + chance.between(1.0, 6.0);
  const auto read = [&](double time) {
    const double shown = renewed(time, phase, 0.1);
    const double watts = (load.energy_j(shown) - load.energy_j(shown - mean_of_s)) / mean_of_s;
    history.read(of_seconds(time), static_cast<std::uint64_t>(std::llround(watts * 1e3)));
  };
  const double last = gauge.ends_with_last_reading ? end : 10.0;
  for (double time = chance.between(0.0, gauge.period_s); time < last; time += gauge.period_s) {
    read(std::min(last, time + chance.between(0.0, 0.002)));
  }
  if (gauge.ends_with_last_reading) read(end);
  const EnergyFigure figure =
      gauge_energy(*history, kBegin + of_seconds(begin), kBegin + of_seconds(end));
  return is_covered(figure, load.energy_j(end) - load.energy_j(begin));
}

TEST_P(GaugeCoverage, IsEnough) {
  Chance chance(1);
  int covered = 0;
  for (int i = 0; i < kTrials; ++i) covered += gauge_is_covered(chance, GetParam()) ? 1 : 0;
  EXPECT_GE(covered, kCovered * kTrials);
}

std::vector<GaugeCase> gauge_cases() {
  std::vector<GaugeCase> cases;
  for (const double period_s : {0.1, 0.8}) {
    for (const double window_s : {0.0, 0.025, 0.1, 1.0}) {
      for (const double dwell_s : {0.05, 0.5, 5.0}) {
        for (const bool ends : {false, true}) cases.push_back({period_s, window_s, dwell_s, ends});
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Simulated, GaugeCoverage, testing::ValuesIn(gauge_cases()));

struct CounterCase {
  double period_s;
  double update_s;
  double dwell_s;
};

class CounterCoverage : public testing::TestWithParam<CounterCase> {};

/// One window, whose ends lie between readings, of a counter in millijoules.
bool counter_is_covered(Chance& chance, const CounterCase& counter) {
  const Load load(chance, counter.dwell_s);
  Channel channel = half_joules();
  channel.counter = {.tick = Joules(1e-3), .max_power = Watts(2000.0)};
  channel.update = {.mean = of_seconds(counter.update_s),
                    .spread = of_seconds(counter.update_s * 0.1),
                    .p99 = of_seconds(counter.update_s * 1.25)};
  KnownHistory history(channel,
                       {.period = of_seconds(counter.period_s), .memory_limit = kMinTimelineBytes});
  const double phase = chance.between(0.0, counter.update_s);
  for (double time = chance.between(0.0, counter.period_s); time < 10.0; time += counter.period_s) {
    const double at = time + chance.between(0.0, 0.0005);
    const double joules = load.energy_j(renewed(at, phase, counter.update_s)) - load.energy_j(-4.0);
    history.read(of_seconds(at), static_cast<std::uint64_t>(joules * 1e3));
  }
  const double begin = chance.between(1.5, 3.5);
  const double end = begin + chance.between(1.0, 5.0);
  const EnergyFigure figure = counter_energy(
      *history, {.begin = kBegin + of_seconds(begin), .end = kBegin + of_seconds(end)});
  return is_covered(figure, load.energy_j(end) - load.energy_j(begin));
}

TEST_P(CounterCoverage, IsEnough) {
  Chance chance(2);
  int covered = 0;
  for (int i = 0; i < kTrials; ++i) covered += counter_is_covered(chance, GetParam()) ? 1 : 0;
  EXPECT_GE(covered, kCovered * kTrials);
}

std::vector<CounterCase> counter_cases() {
  std::vector<CounterCase> cases;
  for (const double period_s : {0.01, 0.1, 1.0}) {
    for (const double update_s : {0.001, 0.1}) {
      for (const double dwell_s : {0.05, 0.5, 5.0}) cases.push_back({period_s, update_s, dwell_s});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Simulated, CounterCoverage, testing::ValuesIn(counter_cases()));

/// How a window of a pausing counter is measured.
enum class PausingWay {
  afterwards,  ///< the counter is read at its pace; its ends lie between readings
  followed,    ///< the same, but its ends are readings
  observed,    ///< it is read rarely, but its pauses were observed before
};

struct PausingCase {
  PausingWay way;
  double window_s;
  double mean_between_s;  ///< from one pause to the next
  double dwell_s;
};

class PausingCounterCoverage : public testing::TestWithParam<PausingCase> {};

constexpr double kPauseS = 0.015;
constexpr double kUpdateS = 1e-3;

/// What `wattle sensors --measure` finds.
UpdateInterval observed_interval(double between_s) {
  const double usual = between_s / kUpdateS;  // and a pause
  const double mean_s = (between_s + kPauseS) / (usual + 1.0);
  const double square_s2 = (usual * kUpdateS * kUpdateS + kPauseS * kPauseS) / (usual + 1.0);
  return {.mean = of_seconds(mean_s),
          .spread = of_seconds(std::sqrt(square_s2 - mean_s * mean_s)),
          .p99 = usual < 99.0 ? of_seconds(kPauseS) : 1650us,
          .is_observed = true};
}

/// One window of a counter that is renewed each millisecond, but pauses for 15 ms.
bool pausing_counter_is_covered(Chance& chance, const PausingCase& counter) {
  const Load load(chance, counter.dwell_s);
  Channel channel = half_joules();
  channel.counter = {.tick = Joules(1e-4), .max_power = Watts(2000.0)};
  channel.update = {.mean = 1000us, .spread = 270us, .p99 = 1650us};
  const bool is_rare = counter.way == PausingWay::observed;
  if (is_rare) channel.update = observed_interval(counter.mean_between_s);
  const double period_s = is_rare ? 0.1 : kUpdateS;
  KnownHistory history(channel,
                       {.period = of_seconds(period_s), .memory_limit = kMinTimelineBytes});
  const double begin = chance.between(1.0, 1.1);
  const double end = begin + counter.window_s;
  const double phase = chance.between(0.0, kUpdateS);
  double pause = 0.8 + chance.waiting_time(counter.mean_between_s);
  const auto read = [&](double at) {
    double shown = renewed(at, phase, kUpdateS);
    while (at > pause + kPauseS) pause += kPauseS + chance.waiting_time(counter.mean_between_s);
    if (at > pause) shown = renewed(pause, phase, kUpdateS);
    const double joules = load.energy_j(shown) - load.energy_j(-4.0);
    history.read(of_seconds(at), static_cast<std::uint64_t>(joules * 1e4));
    return history->last();
  };
  EnergyWindow window{.begin = kBegin + of_seconds(begin), .end = kBegin + of_seconds(end)};
  const double last = counter.way == PausingWay::afterwards ? end + 0.2 : end;
  for (double time = is_rare ? begin : 0.8; time < last; time += period_s) {
    const double at = time + chance.between(0.0, 0.0001);
    if (counter.way != PausingWay::afterwards && !window.first && at >= begin) {
      window.first = read(begin);
    }
    if (at > begin || !window.first) (void)read(at);
  }
  if (window.first) window.last = read(end);
  const EnergyFigure figure = counter_energy(*history, window);
  return is_covered(figure, load.energy_j(end) - load.energy_j(begin));
}

TEST_P(PausingCounterCoverage, IsEnough) {
  Chance chance(3);
  int covered = 0;
  for (int i = 0; i < kTrials; ++i) {
    covered += pausing_counter_is_covered(chance, GetParam()) ? 1 : 0;
  }
  EXPECT_GE(covered, kCovered * kTrials);
}

std::vector<PausingCase> pausing_cases() {
  std::vector<PausingCase> cases;
  for (const PausingWay way :
       {PausingWay::afterwards, PausingWay::followed, PausingWay::observed}) {
    for (const double window_s : {0.05, 0.3, 2.0}) {
      for (const double between_s : {0.02, 0.09, 0.2}) {
        for (const double dwell_s : {0.005, 0.05, 5.0}) {
          cases.push_back({way, window_s, between_s, dwell_s});
        }
      }
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Simulated, PausingCounterCoverage, testing::ValuesIn(pausing_cases()));

}  // namespace
}  // namespace wattle
