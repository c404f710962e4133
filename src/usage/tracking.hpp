// A tracker without its thread: who has it look decides when.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "sampling/sampler.hpp"
#include "usage/gpu_monitor.hpp"
#include "usage/machine.hpp"
#include "usage/tracking_file.hpp"
#include "usage/tree_reader.hpp"
#include "usage/usage_statistics.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// Processor time and threads that trackers of this process take. Threads: any.
struct TrackerCost {
  std::chrono::nanoseconds cpu{0};
  std::uint64_t threads = 0;
};

/// `begin`, `look` any number of times, `end`. Threads: one at a time.
class Tracking {
 public:
  /// Checks the options and opens the files; throws as the constructor of `Tracker`.
  Tracking(const TrackerOptions& options, const Clock& clock);

  /// Throws `InvalidArgument` where the process has ended meanwhile.
  /// `cost`: threads that trackers have.
  void begin(const TrackerCost& cost = {});
  /// False once the process has ended. `cost`: what trackers took so far.
  bool look(const TrackerCost& cost = {});
  /// Looks a last time. The usage file is removed where all went well.
  void end(const TrackerCost& cost = {});

  [[nodiscard]] ResourceUsage usage() const;
  [[nodiscard]] int process() const noexcept { return pid_; }
  /// The first write that failed: file and `errno`.
  struct Failure {
    std::string path;
    int error_number = 0;
  };
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  void check() const;
  void find_gpus();
  void look_at_all(bool last, const TrackerCost& cost);
  void leave_out(TreeState& state, const TrackerCost& cost) const noexcept;
  void write_header();
  void write_row(const TreeState& before, const TreeState& state);
  void write_usage();
  void write(Fd& fd, const std::filesystem::path& path, const std::string& text);
  [[nodiscard]] bool may_log() const noexcept { return !options_.disable_logs; }

  TrackerOptions options_;
  const Clock& clock_;
  int pid_;
  double ram_factor_;
  double gpu_ram_factor_;
  double time_factor_;
  bool is_own_process_;
  std::unique_ptr<Sampler> sampler_;  ///< of the GPUs
  std::unique_ptr<GpuMonitor> gpus_;
  bool knows_all_gpus_ = true;
  MachineMonitor machine_;
  std::unique_ptr<TreeReader> tree_;  ///< from `begin` on
  UsageStatistics statistics_;
  TreeState last_;
  TimePoint began_;
  TimePoint ended_;
  std::uint64_t ticks_ = 0;
  std::filesystem::path tracking_path_;
  std::filesystem::path usage_path_;
  Fd tracking_file_;
  Fd usage_file_;
  bool is_usage_regular_ = false;
  std::size_t usage_bytes_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace wattle
