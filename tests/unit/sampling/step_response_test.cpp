// A load that turns on and off shows what a gauge sees of it.
#include "sampling/gauges/step_response.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace wattle {
namespace {

constexpr double kLowW = 70.0;
constexpr double kHighW = 300.0;

/// A board, and a load that is on for half of the time.
struct Board {
  double window_s = 0.025;
  double update_s = 0.1;
  double phase_s = 0.03;  ///< of the gauge's updates in those of the counter
  double delay_s = 0.0;   ///< the window ends that long before the update
  double load_s = 0.6346;
  double ramp_s = 0.0;   ///< a change of the power takes that long
  double noise_w = 0.0;  ///< of the gauge
  double gain = 1.0;     ///< of the gauge
  double low_w = kLowW;
  bool is_fed = false;  ///< the counter adds up what the gauge shows
  double length_s = 30.0;
};

double power_w(const Board& board, double at_s) {
  const double in_s = at_s - board.load_s * std::floor(at_s / board.load_s);
  const double half_s = board.load_s / 2.0;
  const double since_s = in_s < half_s ? in_s : in_s - half_s;
  const double part = board.ramp_s > 0.0 ? std::min(1.0, since_s / board.ramp_s) : 1.0;
  return in_s < half_s ? board.low_w + part * (kHighW - board.low_w)
                       : kHighW - part * (kHighW - board.low_w);
}

struct Watched {
  std::vector<TimedValue> counter{};
  std::vector<TimedValue> gauge{};
};

/// Read every 1.06 ms.
Watched watch(const Board& board, unsigned seed = 1) {
  constexpr double kStepS = 0.5e-3;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0.0, board.noise_w + 1e-12);
  const auto count = static_cast<std::size_t>(board.length_s / kStepS) + 4000;
  std::vector<double> energy_j(count, 0.0);  // from -1 s on
  for (std::size_t i = 1; i < count; ++i) {
    energy_j[i] =
        energy_j[i - 1] + kStepS * power_w(board, -1.0 + kStepS * (static_cast<double>(i) - 0.5));
  }
  const auto energy_at = [&](double at_s) {
    const double place = (at_s + 1.0) / kStepS;
    const auto i = static_cast<std::size_t>(place);
    return energy_j[i] + (place - std::floor(place)) * (energy_j[i + 1] - energy_j[i]);
  };
  const auto read_s = [](double at_s) { return 1.06e-3 * std::ceil(at_s / 1.06e-3); };
  Watched watched;
  double fed_j = 0.0;
  for (double at_s = 0.0; at_s < board.length_s; at_s += 0.1) {
    if (!board.is_fed) watched.counter.push_back({read_s(at_s), energy_at(at_s)});
  }
  for (double at_s = board.phase_s; at_s < board.length_s; at_s += board.update_s) {
    const double end_s = at_s - board.delay_s;
    const double mean_w = (energy_at(end_s) - energy_at(end_s - board.window_s)) / board.window_s;
    const double value = board.gain * mean_w + noise(random);
    fed_j += value * board.update_s;
    if (board.is_fed) watched.counter.push_back({read_s(at_s), fed_j});
    if (watched.gauge.empty() || std::abs(watched.gauge.back().value - value) > 1e-3) {
      watched.gauge.push_back({read_s(at_s), value});
    }
  }
  return watched;
}

GaugeWindowAnswer answer_of(const Board& board, unsigned seed = 1) {
  const Watched watched = watch(board, seed);
  return find_window(watched.counter, watched.gauge);
}

void expect_window(const Board& board, double window_s, const std::string& what) {
  const GaugeWindowAnswer answer = answer_of(board);
  ASSERT_TRUE(answer.found) << what << ": " << answer.reason;
  EXPECT_NEAR(answer.found->window_s, window_s, answer.found->window_uncertainty_s) << what;
  EXPECT_LE(answer.found->window_uncertainty_s, 0.1 * board.update_s) << what;
  EXPECT_NEAR(answer.found->update_s, board.update_s, 0.02 * board.update_s) << what;
}

TEST(GaugeWindow, IsFoundOfAnyPart) {
  expect_window({.window_s = 0.025}, 0.025, "a quarter");
  expect_window({.window_s = 0.05}, 0.05, "half");
  expect_window({.window_s = 0.1}, 0.1, "all");
  expect_window({.window_s = 0.01}, 0.01, "a tenth");
  expect_window({.window_s = 0.014, .update_s = 0.031}, 0.014, "14 of 31 ms");
}

TEST(GaugeWindow, IsFoundAtAnyPhaseAndDelayOfTheGauge) {
  for (const double phase_s : {0.0, 0.05, 0.09}) {
    expect_window({.window_s = 0.025, .phase_s = phase_s}, 0.025, "phase");
  }
  expect_window({.window_s = 0.025, .delay_s = 0.02}, 0.025, "delay");
}

TEST(GaugeWindow, IsFoundWithNoiseAndAnotherGain) {
  expect_window({.window_s = 0.025, .noise_w = 3.0, .gain = 1.05}, 0.025, "a quarter");
  expect_window({.window_s = 0.1, .noise_w = 3.0, .gain = 0.95}, 0.1, "all");
}

TEST(GaugeWindow, IsWithinItsUncertaintyInMostTrials) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> part(0.1, 1.0);
  std::uniform_real_distribution<double> phase(0.0, 0.1);
  int inside = 0;
  constexpr int kTrials = 40;
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    const Board board = {.window_s = 0.1 * part(random),
                         .phase_s = phase(random),
                         .load_s = 0.55 + phase(random),
                         .noise_w = 2.0};
    const GaugeWindowAnswer answer = answer_of(board, trial);
    if (!answer.found) continue;
    if (std::abs(answer.found->window_s - board.window_s) <= answer.found->window_uncertainty_s) {
      ++inside;
    }
  }
  EXPECT_GE(inside, 36);
}

TEST(GaugeWindow, IsNotFoundFromACounterThatTheGaugeFeeds) {
  const GaugeWindowAnswer answer = answer_of({.window_s = 0.025, .is_fed = true});
  EXPECT_FALSE(answer.found);
  EXPECT_NE(answer.reason.find("adds up what a gauge shows"), std::string::npos) << answer.reason;
}

TEST(GaugeWindow, IsNotFoundWithoutALoadThatTurnsOnAndOff) {
  for (const Board& board : {Board{.low_w = kHighW}, Board{.load_s = 0.13}, Board{.length_s = 3.0},
                             Board{.ramp_s = 0.3}}) {
    const GaugeWindowAnswer answer = answer_of(board);
    EXPECT_FALSE(answer.found) << board.load_s << " s, " << answer.found->window_s;
    EXPECT_FALSE(answer.reason.empty());
  }
  EXPECT_FALSE(find_window({}, {}).found);
}

TEST(GaugeWindow, IsNotFoundFromALoadInStepWithTheCounter) {
  const GaugeWindowAnswer answer = answer_of({.load_s = 0.6});
  EXPECT_FALSE(answer.found);
}

TEST(GaugeWindow, OfAMeanOverASecondIsNotFound) {
  const GaugeWindowAnswer answer = answer_of({.window_s = 1.0});
  EXPECT_FALSE(answer.found);
}

}  // namespace
}  // namespace wattle
