// One observation: what a machine spends, and what a process and its descendants use of it, from a
// start to an end. `wattle run`, `wattle step`, `wattle bench` and trackers are made of it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sampling/measured_window.hpp"
#include "usage/files/tracking_table.hpp"
#include "usage/files/usage_files.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_reader.hpp"
#include "usage/usage_statistics.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// The cost of a process's observers: CPU time, and threads that exist.
struct TrackerCost {
  std::chrono::nanoseconds cpu{0};
  std::uint64_t threads = 0;
};

/// The GPUs that the groups of gpu_tracker are about: those of one brand.
struct ObservedGpus {
  std::set<Domain> members{};  ///< those that cannot be read included
  /// The members whose utilization is in the sums. Absent: all; then a sum that lacks one is
  /// unknown.
  std::optional<std::set<Domain>> counted{};
  /// How many there are, with those that a user leaves out; absent: some vendor's are not listed.
  std::optional<unsigned> on_machine{};
  std::string unknown{};  ///< why nothing is known of GPUs; else empty
};

struct UsageObservationOptions {
  System system{};     ///< of the machine
  pid_t root = 0;      ///< the process
  System processes{};  ///< whose procfs has the root
  TreeOptions tree{};
  bool needs_tree = false;                 ///< `begin` throws if the root cannot be read
  ReadingsOptions readings{};              ///< see `GpuMonitor::sampling`
  std::chrono::nanoseconds gpu_period{0};  ///< the least time between two samples of GPUs
  ObservedGpus gpus{};
  std::vector<SensorRefusal> refused{};  ///< what is not read, for `energy`
  TrackingUnits units{};                 ///< of `usage` and the files
  std::optional<unsigned> expected_cores{};
  std::unique_ptr<UsageFiles> files{};  ///< null: none
  /// The least time between two records in the usage file; 0: one at the start, and one per row.
  std::chrono::nanoseconds usage_period{0};
  bool has_own_cost = false;  ///< `usage` reports `set_own_cpu`
  /// The work that is measured is a command, which starts and ends with the window. After its end
  /// counters are read on, for at most half of what it took.
  bool is_of_command = false;
};

/// `begin`, then `sample` any number of times, and `end`; or the parts of these, for callers that
/// do more at the same times. Threads: one at a time.
class UsageObservation {
 public:
  UsageObservation(std::vector<std::unique_ptr<Sensor>> sensors, const TimeSource& clock,
                   UsageObservationOptions options);

  /// Starts the threads that read devices; only once. Throws `Error` if one cannot be started,
  /// unless `readings.keeps_going`.
  void open();
  /// Opens, waits a moment for drivers, finds the processes, starts the files, and reads the
  /// counters last. Throws `InvalidArgument` if the root has ended, where the tree is needed; then
  /// the threads are stopped. `others`: what other observers of this process take.
  void begin(const TrackerCost& others = {});
  /// Instead of `end`, if the observation cannot go on: files that it made are removed.
  void abandon() noexcept;

  /// Reads all, and writes a row. False once the root has ended. `all`: what all observers of this
  /// process took since the start.
  bool sample(const TrackerCost& all = {});
  /// Samples a last time if the root has not ended, and stops the threads. The usage file is
  /// removed if nothing failed.
  void end(const TrackerCost& all = {});

  /// Counters, machine, processes, and GPUs where they are due. `ends_interval`: see
  /// `MeasuredWindow::read`.
  void read(bool ends_interval, const TrackerCost& all = {});
  /// Counters that answer at once, alone.
  void read_counters() noexcept { window_->read(false); }
  /// A row, and a record in the usage file if it is due. Throws `std::bad_alloc`.
  void write_files();
  /// The window ends now: counters first, then the processes for the last time.
  void end_processes(const TrackerCost& all = {});
  /// Lets the lanes read until `deadline`, and reads the GPUs.
  void end_devices(TimePoint deadline, Lanes lanes = Lanes::usual);
  void end_files();

  /// From the end of `begin` to `end_processes`.
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }
  [[nodiscard]] pid_t root() const noexcept { return options_.root; }
  [[nodiscard]] TimePoint began() const noexcept { return began_; }
  [[nodiscard]] TimePoint ended() const noexcept { return ended_; }
  /// When the counters were read last.
  [[nodiscard]] TimePoint read_at() const noexcept { return read_at_; }
  /// Calls of `read`, and readings in all lanes.
  [[nodiscard]] std::uint64_t reads() const noexcept { return reads_ + readings_->lane_ticks(); }

  // From `open` on.
  [[nodiscard]] Readings& readings() noexcept { return *readings_; }
  [[nodiscard]] const Readings& readings() const noexcept { return *readings_; }
  [[nodiscard]] MeasuredWindow& window() noexcept { return *window_; }
  [[nodiscard]] const MeasuredWindow& window() const noexcept { return *window_; }
  /// From `begin` on.
  [[nodiscard]] const MachineMonitor& machine() const noexcept { return *machine_; }
  /// The processes at the last reading, without what observers take; null if there is no tree.
  [[nodiscard]] const TreeState* processes() const noexcept { return tree_ ? &state_ : nullptr; }
  /// Why the processes are unknown; else empty.
  [[nodiscard]] const std::string& no_processes() const noexcept { return no_tree_; }

  /// The cost of the threads that read devices.
  [[nodiscard]] TrackerCost device_cost() const noexcept;
  /// The cost of this observation, for `usage`.
  void set_own_cpu(std::chrono::nanoseconds cpu) noexcept { own_cpu_ = cpu; }
  /// The first write that failed, of either file.
  [[nodiscard]] std::optional<WriteError> failure() const {
    return files_ ? files_->failure() : std::nullopt;
  }
  [[nodiscard]] bool has_rows() const noexcept { return files_ && files_->has_rows(); }

  /// All that is known so far; the energy from `end` on.
  [[nodiscard]] ResourceUsage usage() const;
  [[nodiscard]] GpusUsage gpus() const;
  /// Fills the two groups of GPUs.
  void fill_gpus(ResourceUsage& usage) const;
  /// Fills what the processes used, except for their total CPU time. `main_peak_bytes`: the most
  /// that the root, or a child that it waited for, had in memory; 0 if unknown.
  void fill_processes(ResourceUsage& usage, std::uint64_t main_peak_bytes) const;

 private:
  void begin_tree(const TrackerCost& others);
  [[nodiscard]] std::chrono::nanoseconds longest_of_reading_on() const noexcept;
  void begin_files();
  void sample_tree(bool all, const TrackerCost& cost);
  void sample_gpus();
  void stop_devices();
  void leave_out(TreeState& state, const TrackerCost& cost) const noexcept;
  void leave_out_cost(ResourceUsage& usage) const noexcept;
  [[nodiscard]] SummedGpus summed_gpus() const;
  [[nodiscard]] unsigned refused_gpus() const noexcept;
  [[nodiscard]] GpuMonitor::Now gpus_now() const noexcept;
  [[nodiscard]] TrackingMachine tracked_machine() const noexcept;
  [[nodiscard]] TrackedEnergy energy() const;
  void write_usage();

  const TimeSource& clock_;
  UsageObservationOptions options_;
  bool is_own_process_;
  std::vector<std::unique_ptr<Sensor>> sensors_;  ///< until `open`
  std::unique_ptr<Readings> readings_;
  std::unique_ptr<MeasuredWindow> window_;
  std::unique_ptr<GpuMonitor> gpus_;
  unsigned included_gpus_ = 0;             ///< members that are read
  std::optional<MachineMonitor> machine_;  ///< from `begin` on
  std::unique_ptr<TreeReader> tree_;       ///< from `begin` on; null where there is no procfs
  std::string no_tree_;
  UsageStatistics statistics_;
  TreeState state_;
  TreeState row_begin_;  ///< the last one that is in a row
  Seconds cost_{0};      ///< CPU time that observers of the root took by the last sample
  std::optional<std::chrono::nanoseconds> own_cpu_;
  std::unique_ptr<UsageFiles> files_;
  std::uint64_t rows_ = 0;
  std::uint64_t reads_ = 0;
  bool is_running_ = false;
  bool is_over_ = false;  ///< `end` was called
  TimePoint began_;
  TimePoint ended_;
  TimePoint read_at_;
  TimePoint wrote_usage_;
  TimePoint looked_at_gpus_;
  TimePoint lists_since_;  ///< process lists of GPUs that are older do not count
};

}  // namespace wattle
