// Gauges whose power is known.
#pragma once

#include <chrono>

#include "known_history.hpp"
#include "sampling/integrate.hpp"

namespace wattle {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

inline EnergyFigure energy(const KnownHistory& history, nanoseconds begin, nanoseconds end) {
  return gauge_energy(*history, kBegin + begin, kBegin + end);
}

inline constexpr double kNothingJ = 1e-9;

/// A gauge whose values are means over the time before them.
inline Channel mean_of(nanoseconds window) {
  Channel channel = whole_watts();
  channel.gauge.window = window;
  return channel;
}

/// 100 W, and 300 W from 5 s on; read from 0 to 10 s.
class StepAt5s : public KnownHistory {
 public:
  StepAt5s() : KnownHistory(whole_watts()) {
    read_through(0s, 4900ms, 100);
    read_through(5s, 10s, 300);
  }
};

}  // namespace wattle
