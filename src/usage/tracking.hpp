// A tracker without its thread: the caller decides when it samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "usage/files/tracking_row.hpp"
#include "usage/files/usage_files.hpp"
#include "usage/gpu/tracked_gpus.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_reader.hpp"
#include "usage/usage_statistics.hpp"
#include "wattle/error.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// `begin`, `sample` any number of times, `end`. Threads: one at a time.
class Tracking {
 public:
  /// Checks the options and opens the files; throws as the constructor of `Tracker`. Files that it
  /// made are there for good from `begin` on.
  Tracking(const TrackerOptions& options, const TimeSource& clock,
           std::size_t usage_file_bytes = kUsageFileBytes);

  /// Throws `InvalidArgument` if the process has ended since, `Error` if there are no
  /// threads available that read GPUs. `others`: what other trackers of this process take.
  void begin(const TrackerCost& others = {});
  /// False once the process has ended. `all`: what all trackers of this process took since the
  /// begin.
  bool sample(const TrackerCost& all = {});
  /// Looks a last time, if the process has not ended. The usage file is removed where all went
  /// well.
  void end(const TrackerCost& all = {});

  /// Instead of `end`, if the sampling thread cannot be started.
  void abandon() noexcept;

  /// What the threads take that read GPUs.
  [[nodiscard]] TrackerCost gpu_cost() const noexcept { return gpus_.cost(); }
  /// What this tracker took, for its reports.
  void set_own_cpu(std::chrono::nanoseconds cpu) noexcept { own_cpu_ = cpu; }

  [[nodiscard]] ResourceUsage usage() const;
  [[nodiscard]] int process() const noexcept { return pid_; }
  /// The first write that failed, of either file.
  [[nodiscard]] const std::optional<WriteError>& failure() const noexcept {
    return files_.failure();
  }

 private:
  void begin_tree(const TrackerCost& others);
  void sample_all(bool last, const TrackerCost& cost);
  void leave_out(TreeState& state, const TrackerCost& cost) const noexcept;
  void leave_out_cost(ResourceUsage& usage) const noexcept;
  [[nodiscard]] TrackingUnits units() const;
  [[nodiscard]] TrackingMachine machine() const;
  void write_usage();

  TrackerOptions options_;
  const TimeSource& clock_;
  int pid_;
  std::uint64_t start_time_;  ///< of that process: its number may be another's at the begin
  double time_unit_;
  bool is_own_process_;
  TrackedGpus gpus_;
  MachineMonitor machine_;
  std::unique_ptr<TreeReader> tree_;  ///< from `begin` on
  UsageStatistics statistics_;
  TreeState last_;
  Seconds cost_{0};  ///< CPU time that all trackers of this process took by the last sample
  TimePoint began_;
  TimePoint ended_;
  std::uint64_t ticks_ = 0;
  bool is_over_ = false;  ///< `end` was called
  std::chrono::nanoseconds own_cpu_{0};
  UsageFiles files_;
};

}  // namespace wattle
