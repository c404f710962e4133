// A simulated machine whose power is a known function of the units of work that run: the truth that
// shares and regressions of units are compared with. No real time passes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wattle/work_units.hpp"

namespace wattle::lab {

/// The units of one tag.
struct UnitLoad {
  std::string tag = "request";
  double watts = 1.0;       ///< that a running unit adds
  double running = 8.0;     ///< at a time, on average
  double mean_s = 0.5;      ///< how long one lasts
  double swing = 0.8;       ///< part by which the load goes up and down
  double swing_s = 3.0;     ///< for how long, on average
  bool is_in_turn = false;  ///< one starts when the one before has ended and a pause is over
  /// CPU cores that the thread of a unit uses: twice as many in the first third of its life as in
  /// the rest. `watts` are then those of a core, and units are divided by CPU time. 0: by weight.
  double cores = 0.0;
};

struct UnitWorld {
  std::string name;
  std::vector<UnitLoad> loads = {UnitLoad{}};
  bool swings_together = false;  ///< all loads go up and down at the same times
  double length_s = 100.0;
  double lead_s = 2.0;  ///< without units, before them

  double idle_w = 60.0;
  double idle_doubt_w = 0.6;  ///< ± (k = 2) of the idle power that the book is given
  double idle_drift_w = 0.0;  ///< it changes slowly by so much
  double other_w = 0.0;       ///< of another program that runs all the time
  double noise_w = 2.0;       ///< from one update to the next
  /// The power above idle goes towards this one: x / (1 + x / limit); 0: it is proportional.
  double limit_w = 0.0;

  double update_s = 0.1;
  double jitter = 0.05;  ///< of the time between updates
  double lag_s = 0.0;
  double tick_j = 1e-3;
  double lost_from_s = 0.0;  ///< from then on the sensor shows nothing; 0: it works

  IdleShare idle_share = IdleShare::kept;
};

struct UnitTruth {
  std::string tag;
  std::uint64_t count = 0;
  double joules = 0.0;  ///< above idle, as the loads say; without a limit
};

struct UnitOutcome {
  UnitsReport report;
  std::vector<UnitTruth> truth;
  double unexplained_w = 0.0;  ///< mean power that follows no unit, above the idle power at first
  double active_j = 0.0;       ///< all energy above idle and above the other program
  double unit_sum_j = 0.0;     ///< of all final units
  double closure = 0.0;        ///< what is missing in the balance, relative to what was measured
  std::uint64_t units = 0;
  std::size_t pending = 0;  ///< events that the book still holds at the end
};

[[nodiscard]] UnitOutcome simulate(const UnitWorld& world, std::uint64_t seed);

}  // namespace wattle::lab
