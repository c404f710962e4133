// The ± of a sum of runs of one machine: what is by chance in each run averages out, unless the
// runs are in step with a sensor.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "report/report.hpp"
#include "wattle/energy.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The rates at which a sensor may be renewed.
struct UpdateBand {
  double lowest_hz = 0.0;
  double highest_hz = 0.0;

  friend bool operator==(const UpdateBand&, const UpdateBand&) = default;
};

/// A domain in a run.
struct SensorPart {
  UpdateBand updates{};
  Joules independent{};  ///< the part of the run's ± that is the domain's, and does not come back
};

/// A run that is added up.
struct SummedRun {
  double started_unix_s = 0.0;
  double ended_unix_s = 0.0;
  Joules uncertainty{};  ///< k = 2, of its total
  Joules common{};       ///< of that, what comes back
  Joules energy{};
  /// The most that counters may have shown late of what was drawn just before the start and the
  /// end, where that was not seen: four times the power of the run, for the mean age of an update.
  Joules unseen{};
  std::vector<SensorPart> sensors{};
};

/// The ± of a sum, and whether runs in it are in step.
struct RunSum {
  Joules uncertainty{};
  Joules common{};
  bool is_in_step = false;
  Joules energy{};
  Joules unseen{};  ///< of all runs
};

/// True if counters may have shown more late than the uncertainty of a sum, and than a thousandth
/// of its energy: then the flag `ends_unseen` is due. That of one run holds it.
[[nodiscard]] bool is_material(Joules unseen, Joules uncertainty, Joules energy) noexcept;

/// A run as it is added up. Sensors whose update interval is not known have no part.
[[nodiscard]] SummedRun summed_run(const Report& record);

/// True if `times_s` are nearer to one phase of some rate in the band than `most_false` of all
/// times by chance are: Rayleigh's test (its p-value after Zar, Biostatistical Analysis), for the
/// best of all rates in the band (after Baluev, MNRAS 385, 1279, 2008). Fewer than 5 times are
/// never in step.
[[nodiscard]] bool are_in_step(std::span<const double> times_s, UpdateBand band, double most_false);

/// Runs that start, or end, at the same phase of a sensor's updates have the same error every time.
/// So of these the independent parts of that sensor add up, and the flag `in_step` is due:
///
///   U^2 = sum of I_i^2 + (sum of C_i)^2 + (sum of I_i of runs in step)^2
///
/// Runs of at most 64, and of as long a time as can be searched, are tested together.
/// A run whose times are no numbers is never in step.
/// `most_false`: the part of all sums of runs that start at any time which may count as in step.
[[nodiscard]] RunSum sum_of_runs(std::vector<SummedRun> runs, double most_false);

}  // namespace wattle
