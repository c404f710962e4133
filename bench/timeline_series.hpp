// Readings as a sampler would bring them, made up from published sensor behaviour, the same at
// every run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"

namespace wattle::bench {

struct Sample {
  TimePoint at;
  std::uint64_t raw;
};

/// How the counter advances, and how punctual its reader is.
struct CounterModel {
  /// False: it shows the energy of the moment it is read. True: it is renewed about every
  /// millisecond, at times that scatter around a regular grid with a standard deviation of 0.19 ms;
  /// two neighbouring updates are then 1.00 +- 0.27 ms apart and negatively correlated, as measured
  /// on Ice Lake servers. The grid is slower than the reader's by 0.2 per mille, so that all phases
  /// between update and read occur.
  bool steps = false;
  /// False: every read is at its deadline. True: 50 us late at least, by an exponential delay of
  /// mean 50 us more, and one in a hundred by another of mean 1 ms; deadlines that have passed by
  /// then are skipped.
  bool late = false;
};

/// Power in each millisecond is 120 W with a standard deviation of 3 W, independent of the others;
/// energy is counted in units of 2^-14 J and read once a millisecond.
class CounterSeries {
 public:
  explicit CounterSeries(const CounterModel& model) : model_(model) {}

  Sample next() {
    double now_us = deadline_us_;
    if (model_.late) {
      now_us += 50.0 + delay_(random_) * 50.0;
      if (seldom_(random_)) now_us += delay_(random_) * 1000.0;
    }
    deadline_us_ = (std::floor((now_us - kBeginUs) / 1000.0) + 1.0) * 1000.0 + kBeginUs;
    double shown_us = now_us;
    if (model_.steps) {
      while (next_update_us_ <= now_us) {
        shown_update_us_ = next_update_us_;
        ++update_;
        const double jitter = std::clamp(scatter_(random_), -0.45, 0.45);
        next_update_us_ = kBeginUs + (static_cast<double>(update_) + jitter) * 1000.2;
      }
      shown_us = shown_update_us_;
    }
    const double joules = energy_until(shown_us);
    return {TimePoint(std::chrono::nanoseconds(static_cast<std::int64_t>(now_us * 1000.0))),
            static_cast<std::uint64_t>(joules * 16384.0)};
  }

 private:
  static constexpr double kBeginUs = 1e9 + 137.0;

  /// Queried with times that do not decrease.
  double energy_until(double time_us) {
    while (segment_end_us_ <= time_us) {
      energy_j_ += power_w_ * 1e-3;
      segment_end_us_ += 1000.0;
      power_w_ = 120.0 + 3.0 * normal_(random_);
    }
    return energy_j_ + power_w_ * (time_us - segment_end_us_ + 1000.0) * 1e-6;
  }

  CounterModel model_;
  std::mt19937_64 random_{20240817};
  std::normal_distribution<double> normal_;
  std::normal_distribution<double> scatter_{0.0, 0.19};
  std::exponential_distribution<double> delay_;
  std::bernoulli_distribution seldom_{0.01};
  double deadline_us_ = kBeginUs;
  double shown_update_us_ = kBeginUs;
  double next_update_us_ = kBeginUs;
  std::uint64_t update_ = 0;
  double segment_end_us_ = kBeginUs + 1000.0;
  double power_w_ = 120.0;
  double energy_j_ = 1234.5;
};

/// A GPU's power in milliwatts: renewed every 100 ms, read every 50 ms, each read late as above.
/// It wanders around 300 W: each value is nine tenths of the previous deviation plus 5 W of noise.
class GaugeSeries {
 public:
  Sample next() {
    const double now_us = deadline_us_ + 50.0 + delay_(random_) * 50.0;
    deadline_us_ += 50000.0;
    while (next_update_us_ <= now_us) {
      next_update_us_ += 100000.0;
      deviation_mw_ = 0.9 * deviation_mw_ + 5000.0 * normal_(random_);
    }
    return {TimePoint(std::chrono::nanoseconds(static_cast<std::int64_t>(now_us * 1000.0))),
            static_cast<std::uint64_t>(300000.0 + deviation_mw_)};
  }

 private:
  std::mt19937_64 random_{20240817};
  std::normal_distribution<double> normal_;
  std::exponential_distribution<double> delay_;
  double deadline_us_ = 1e9;
  double next_update_us_ = 1e9 + 20000.0;
  double deviation_mw_ = 0.0;
};

template <class Series>
std::vector<Sample> take(Series series, std::size_t count) {
  std::vector<Sample> samples(count);
  for (Sample& sample : samples) sample = series.next();
  return samples;
}

}  // namespace wattle::bench
