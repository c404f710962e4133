// The observation of a run, and what is made of it while the command runs: phases, units of work,
// rows of intervals, status lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "estimate/energy_share.hpp"
#include "run/phases.hpp"
#include "run/running_output.hpp"
#include "sampling/power_profile.hpp"
#include "units/marked_units.hpp"
#include "usage/usage_observation.hpp"

namespace wattle::app {

struct InstrumentOptions {
  System system{};
  std::chrono::nanoseconds interval{0};
  ObservedGpus gpus{};
  TrackingUnits units{};  ///< of the files
  pid_t command = 0;
  std::set<pid_t> strangers{};  ///< children of this process that are not the command's
  std::optional<SeriesFile> series{};
  std::optional<UnitRows> unit_rows{};
  detail::UnitDone on_unit{};  ///< gets each unit of work whose energy is final; may be empty
  std::unique_ptr<UsageFiles> files{};  ///< null: none
  std::chrono::nanoseconds status{0};   ///< between two status lines; 0: none
};

/// Threads: the main one.
class Instruments {
 public:
  Instruments(std::vector<std::unique_ptr<Sensor>> sensors, InstrumentOptions options);

  /// The start of the window, just before the command starts.
  TimePoint begin();
  /// A tick of the run: an interval has ended, or counters are to be read in between.
  void read(bool ends_interval);
  /// True from the first mark of a unit of work on: `read_for_units` is to be called each
  /// `kUnitStep`.
  [[nodiscard]] bool has_units() const noexcept { return work_units_ != nullptr; }
  static constexpr std::chrono::milliseconds kUnitStep{20};
  /// Counters alone, unless they were just read.
  void read_for_units();
  /// A mark that was sent at `sent`; absent: a datagram that is none.
  /// Returns what is sent back to the program: empty, but for a `read`.
  [[nodiscard]] std::string take(TimePoint sent, const std::optional<Mark>& mark);
  /// The window's end, after the command's.
  TimePoint end();
  [[nodiscard]] PhasesReport phases() const;
  /// Absent where no mark started a unit of work.
  [[nodiscard]] const std::optional<UnitsReport>& work_units() const noexcept {
    return units_report_;
  }

  /// The sensors that could not be started: there is no memory or no thread for them.
  [[nodiscard]] std::vector<SensorRefusal> take_left_out() noexcept {
    return observation_.readings().take_left_out();
  }
  [[nodiscard]] const UsageObservation& observation() const noexcept { return observation_; }
  [[nodiscard]] const MeasuredWindow& window() const noexcept { return observation_.window(); }
  [[nodiscard]] std::vector<std::optional<Watts>> profile() const { return profile_.means(); }
  /// CPU times at moments of the run; none where procfs does not show them.
  [[nodiscard]] const std::vector<ShareMoment>& share_moments() const noexcept {
    return share_moments_.all();
  }
  /// Why the series ended early; empty where it did not.
  [[nodiscard]] std::string series_failure() const { return series_ ? series_->failure() : ""; }
  /// The same for the rows of units.
  [[nodiscard]] std::string unit_rows_failure() const {
    return unit_rows_ ? unit_rows_->failure() : "";
  }
  /// The same for the tracking file and the usage file.
  [[nodiscard]] std::string files_failure() const;
  /// The longest time between two calls of `read` in which nothing is missed.
  [[nodiscard]] std::chrono::nanoseconds longest_period() const noexcept;

 private:
  [[nodiscard]] std::optional<ShareMoment> share_moment(TimePoint at) const noexcept;
  void show_status(TimePoint now);
  void sample_phases();
  [[nodiscard]] std::shared_ptr<PhaseEnd> read_phase_end(TimePoint at);
  [[nodiscard]] std::string energy_since_mark(const PhaseEnd& here) const;
  void divide_among_units(TimePoint now);
  void take_unit(TimePoint sent, const Mark& mark);
  [[nodiscard]] std::vector<detail::SharedDomain> shared_domains() const;
  [[nodiscard]] std::optional<Boundary> counter_at(const PhaseEnd& end, std::size_t domain) const;
  [[nodiscard]] std::vector<DomainFigure> energy_between(const PhaseEnd& begin,
                                                         const PhaseEnd& end) const;
  void write_files();

  const TimeSource& clock_;
  UsageObservation observation_;
  PowerProfile profile_;
  Phases phases_;
  std::shared_ptr<PhaseEnd> last_phase_end_;
  SharedEnd last_mark_;  ///< null: none came yet
  TimePoint last_phase_end_read_;
  TimePoint asked_lanes_;
  std::unique_ptr<detail::MarkedUnits> work_units_;  ///< from the first mark of one on
  std::optional<UnitsReport> units_report_;
  ShareMoments share_moments_;
  std::optional<SeriesFile> series_;
  std::optional<UnitRows> unit_rows_;
  detail::UnitDone on_unit_;
  std::chrono::nanoseconds status_period_;
  std::optional<RunStatus> status_;
  std::uint64_t lost_rows_ = 0;
};

}  // namespace wattle::app
