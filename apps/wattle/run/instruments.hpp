// Everything that reads while the command runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "estimate/energy_share.hpp"
#include "run/phases.hpp"
#include "run/run_status.hpp"
#include "run/series.hpp"
#include "run/unit_rows.hpp"
#include "sampling/measured_window.hpp"
#include "sampling/power_profile.hpp"
#include "units/marked_units.hpp"
#include "usage/files/tracking_row.hpp"
#include "usage/files/usage_files.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_reader.hpp"
#include "usage/usage_statistics.hpp"

namespace wattle::app {

/// The GPUs that the groups of gpu_tracker are about: those of one brand.
struct GpusOfGroups {
  std::set<Domain> summed{};             ///< that are to be read
  std::optional<unsigned> on_machine{};  ///< with those that --gpus leaves out
  std::string unknown{};                 ///< why nothing is known of GPUs; else empty
};

struct InstrumentOptions {
  System system{};
  std::chrono::nanoseconds interval{0};
  GpusOfGroups gpus{};
  TrackingUnits units{};  ///< of the files
  pid_t command = 0;
  std::set<pid_t> strangers{};  ///< children of this process that are not the command's
  std::optional<Series> series{};
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
    return readings_.take_left_out();
  }
  [[nodiscard]] const MeasuredWindow& window() const noexcept { return window_; }
  [[nodiscard]] MachineUsage machine() const noexcept { return machine_.usage(); }
  [[nodiscard]] GpusUsage gpus() const;
  [[nodiscard]] std::vector<std::optional<Watts>> profile() const { return profile_.means(); }
  /// CPU times at moments of the run; none where procfs does not show them.
  [[nodiscard]] const std::vector<ShareMoment>& share_moments() const noexcept {
    return share_moments_.all();
  }
  /// Fills what the command's processes used, but for their total processor time.
  /// `main_peak_bytes`: the most that the command, or a child that it waited for, had in memory; 0
  /// where it is not known.
  void fill_processes(ResourceUsage& usage, std::uint64_t main_peak_bytes) const;
  /// Fills the two groups of GPUs.
  void fill_gpus(ResourceUsage& usage) const;
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
  /// Readings in all threads.
  [[nodiscard]] std::uint64_t reads() const noexcept { return reads_ + readings_.lane_ticks(); }

 private:
  void follow_command();
  void look_at_gpus();
  [[nodiscard]] std::optional<ShareMoment> share_moment(TimePoint at) const noexcept;
  void show_status(TimePoint now);
  void sample_tree(bool all);
  [[nodiscard]] std::shared_ptr<PhaseEnd> read_phase_end(TimePoint at);
  [[nodiscard]] std::string energy_since_mark(const PhaseEnd& here) const;
  void divide_among_units(TimePoint now);
  void take_unit(TimePoint sent, const Mark& mark);
  [[nodiscard]] std::vector<detail::SharedDomain> shared_domains() const;
  [[nodiscard]] std::optional<Boundary> counter_at(const PhaseEnd& end, std::size_t domain) const;
  [[nodiscard]] std::vector<DomainFigure> energy_between(const PhaseEnd& begin,
                                                         const PhaseEnd& end) const;
  void begin_files();
  void write_files();
  void write_row();
  void write_usage();
  [[nodiscard]] TrackingMachine tracked_machine() const;
  [[nodiscard]] ResourceUsage usage_so_far() const;

  const TimeSource& clock_;
  Readings readings_;
  MeasuredWindow window_;
  MachineMonitor machine_;
  GpusOfGroups gpus_of_groups_;
  GpuMonitor gpus_;
  PowerProfile profile_;
  Phases phases_;
  std::shared_ptr<PhaseEnd> last_phase_end_;
  SharedEnd last_mark_;  ///< null: none came yet
  TimePoint last_phase_end_read_;
  TimePoint asked_lanes_;
  std::unique_ptr<detail::MarkedUnits> work_units_;  ///< from the first mark of one on
  std::optional<UnitsReport> units_report_;
  pid_t command_;
  std::set<pid_t> strangers_;
  std::optional<TreeReader> tree_;  ///< from the start on; absent where there is no procfs
  std::string no_tree_;             ///< why
  UsageStatistics statistics_;
  ShareMoments share_moments_;
  bool has_begun_ = false;  ///< and not ended: the command's processes are sampled
  std::optional<Series> series_;
  std::optional<UnitRows> unit_rows_;
  detail::UnitDone on_unit_;
  std::unique_ptr<UsageFiles> files_;
  TrackingUnits units_;
  std::chrono::nanoseconds status_period_;
  std::optional<RunStatus> status_;
  TreeState row_begin_;  ///< the last sample that is in a row
  std::uint64_t rows_ = 0;
  std::uint64_t lost_rows_ = 0;
  TimePoint wrote_usage_;
  TimePoint began_;
  TimePoint ended_;
  TimePoint looked_at_gpus_;
  std::uint64_t reads_ = 0;
};

}  // namespace wattle::app
