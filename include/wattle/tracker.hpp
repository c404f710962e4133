// The use of a machine by a process and all its descendants: memory, CPU, GPUs, time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/refusal.hpp"
#include "wattle/system.hpp"

namespace wattle {

// In all that follows an absent value is not known; `ResourceUsage::unknown` has the reason.

/// Resident memory at the moment at which the total was largest, in the unit of its `MaxRAM`:
/// total = private + shared. The total of one process is its peak by the kernel's account; where
/// that peak came between two samples, its two parts are not known. Threads: a value type.
struct RSSValues {
  std::optional<double> total_rss;
  std::optional<double> private_rss;  ///< in no other process's memory
  std::optional<double> shared_rss;
};

/// Largest memory. `main` is the process itself, whose total is its resident set. In the sums of
/// `descendants` and `combined` (all of them) what processes share counts once. Threads: a value
/// type.
struct MaxRAM {
  std::string unit = "gigabytes";  ///< of all values; 10^9 bytes
  std::optional<double> system_capacity;
  std::optional<double> system;  ///< of the whole machine: what could not be had without swapping
  RSSValues main;
  RSSValues descendants;
  RSSValues combined;
};

/// Largest memory of all GPUs together. Threads: a value type.
struct MaxGPURAM {
  std::string unit = "gigabytes";
  std::optional<double> system_capacity;
  std::optional<double> system;
  std::optional<double> main;
  std::optional<double> descendants;
  std::optional<double> combined;
};

/// A sum over processing units (200: two of them busy), and that divided by their number. Means
/// are over the whole time; the largest is a mean over about a second. Threads: a value type.
struct ProcessingUnitPercentages {
  std::optional<double> max_sum_percent;
  std::optional<double> max_hardware_percent;
  std::optional<double> mean_sum_percent;
  std::optional<double> mean_hardware_percent;
};

/// Threads: a value type.
struct CPUUtilization {
  std::optional<unsigned> system_core_count;  ///< online logical CPU cores
  std::optional<unsigned> n_expected_cores;   ///< what the hardware percentages divide by
  ProcessingUnitPercentages system;           ///< by all cores
  ProcessingUnitPercentages main;
  ProcessingUnitPercentages descendants;
  ProcessingUnitPercentages combined;
  std::optional<unsigned> main_n_threads;  ///< the most at one time
  std::optional<unsigned> descendants_n_threads;
  std::optional<unsigned> combined_n_threads;
};

/// Threads: a value type.
struct GPUUtilization {
  std::optional<unsigned> system_gpu_count;
  std::optional<unsigned> n_expected_gpus;  ///< whose utilization counts
  ProcessingUnitPercentages gpu_percentages;
};

/// Threads: a value type.
struct ComputeTime {
  std::string unit = "hours";
  double time = 0.0;  ///< from start to stop, or to the process's end
};

/// A process of the tree. Threads: a value type.
struct ProcessUsage {
  int pid = 0;
  std::string name;
  Seconds cpu{0};  ///< with that of its children that ended
  std::optional<std::uint64_t> peak_rss_bytes;
};

/// Why one or more keys are null. Threads: a value type.
struct UnknownUsage {
  std::vector<std::string> keys;  ///< "max_ram.main", "processes" ...
  std::string reason;
};

/// Where figures come from, and what that can miss. Threads: a value type.
struct UsageMechanism {
  std::vector<std::string> keys;
  std::string mechanism;
};

/// A figure is the largest of the samples in which it was known; in others only a bound was, which
/// is larger. Threads: a value type.
struct UsageBound {
  std::string key;       ///< "max_ram.combined.total_rss"
  double at_most = 0.0;  ///< in the unit of the figure
};

/// Why keys disagree with a second source by more than both can be wrong. Threads: a value type.
struct UsageMismatch {
  std::vector<std::string> keys;  ///< those that are too small
  std::string reason;
};

/// Energy of the machine: no counter distinguishes processes. Threads: a value type.
struct TrackedEnergy {
  std::vector<DomainEnergy> domains;
  std::vector<Refusal> refused;
};

/// The five groups that gpu_tracker's users know, and figures of Wattle's own. Threads: a value
/// type.
struct WATTLE_EXPORT ResourceUsage {
  MaxRAM max_ram;
  MaxGPURAM max_gpu_ram;
  CPUUtilization cpu_utilization;
  GPUUtilization gpu_utilization;
  ComputeTime compute_time;

  /// The use of the process and everything it started, ended or not.
  std::optional<Seconds> cpu_user;
  std::optional<Seconds> cpu_system;
  /// The sum of both, by perf's task clock: of `wattle run --task-clock` alone.
  std::optional<Seconds> cpu_task_clock;
  /// The peak of the largest single process among them, not of their sum.
  std::optional<std::uint64_t> peak_rss_bytes;
  /// Largest sum of the proportional memory (PSS) of all of them.
  std::optional<std::uint64_t> peak_pss_bytes;
  /// By system calls such as `read` and `write`, whatever on: files, pipes, terminals. Memory that
  /// a file is mapped to does not count.
  std::optional<std::uint64_t> io_read_bytes;
  std::optional<std::uint64_t> io_written_bytes;
  /// Bytes requested from storage, and bytes to be written to it; for network file systems as they
  /// report them to the kernel.
  std::optional<std::uint64_t> storage_read_bytes;
  std::optional<std::uint64_t> storage_written_bytes;
  /// Page faults answered from memory, and those that waited for storage.
  std::optional<std::uint64_t> minor_faults;
  std::optional<std::uint64_t> major_faults;
  /// How often a thread gave its processor up to wait, and how often it was taken away.
  std::optional<std::uint64_t> voluntary_switches;
  std::optional<std::uint64_t> involuntary_switches;
  /// Those that were alive at the end: of a tracker all, of a run those that outlived the command.
  std::optional<std::vector<ProcessUsage>> still_running;
  std::optional<std::uint64_t> processes;  ///< that were seen, ended or not

  std::vector<UnknownUsage> unknown;
  /// Keys of figures that are an upper bound. For processes whose PSS was not read the resident set
  /// counts, for all together at most what the whole machine has mapped.
  std::vector<std::string> estimated;
  /// Bounds of memory figures that may have been larger between the samples that show them.
  std::vector<UsageBound> bounds;
  std::vector<UsageMismatch> mismatches;
  std::vector<UsageMechanism> mechanisms;
  /// By a tracker; absent before its end (usage file), and in the report of a run, which has its
  /// own.
  std::optional<TrackedEnergy> energy;
  std::optional<Seconds> tracker_cpu;  ///< what the tracking itself took

  /// The five groups alone, with the keys, their nesting and order of gpu_tracker; unknown is null.
  /// Where one of them is an upper bound, `upper_bounds` follows: the keys of `estimated`. Where a
  /// figure has a bound beside it, `at_most` follows: the values of `bounds`, by key.
  [[nodiscard]] std::string to_json() const;
  /// The five groups and everything else: schema `wattle.track/2`, see docs/json.md.
  [[nodiscard]] std::string to_native_json() const;
  /// The five groups for people, in gpu_tracker's layout; "unknown" where nothing is known, "at
  /// most" before an upper bound. Numbers have three decimals at most. No line end at the end.
  [[nodiscard]] std::string to_text() const;
};

/// Prints `to_text`.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const ResourceUsage& usage);

/// Threads: a value type.
struct WATTLE_EXPORT TrackerOptions {
  /// The time between two samples, at least 0.01 s. What is counted (CPU time, the peak of a
  /// process's memory) does not depend on it.
  std::chrono::nanoseconds sleep_time = std::chrono::seconds(1);
  /// bytes, kilobytes, megabytes, gigabytes or terabytes, of 1000 each.
  std::string ram_unit = "gigabytes";
  std::string gpu_ram_unit = "gigabytes";
  /// seconds, minutes, hours or days.
  std::string time_unit = "hours";
  /// The divisor of the percentages of `main`, `descendants` and `combined`, at least 1; absent:
  /// the CPU cores of the machine.
  std::optional<unsigned> n_expected_cores{};
  /// GPUs whose utilization counts. GPU memory and energy are always those of all.
  GpuSelection gpus{};
  /// Nothing goes to the log (`set_log`).
  bool disable_logs = false;
  /// The process to track; absent: this one. What trackers of this process do is left out.
  std::optional<int> process_id{};
  /// Each sample appends the results so far to it, as a line of JSON, so that they survive a crash
  /// (`recover_usage`). `stop` removes it. Absent: a file of a new name in the state folder
  /// (`$XDG_STATE_HOME/wattle/usage`, or `~/.local/state/wattle/usage`). If it cannot be written,
  /// that is logged, and there is none. An empty path: none.
  std::optional<std::filesystem::path> resource_usage_file{};
  /// "nvidia", "amd" or "intel": the GPUs of this brand alone are in the five groups. Absent: those
  /// of one brand that is there, NVIDIA before AMD before Intel, and GPUs of their own before those
  /// in a processor.
  std::optional<std::string> gpu_brand{};
  /// A row per sample: SQLite if the name ends in ".sqlite", else comma-separated values. Absent:
  /// none.
  std::optional<std::filesystem::path> tracking_file{};
  /// Either file may exist already, and is replaced then.
  bool overwrite = false;
  /// Reads proportional memory (PSS) at every sample, whatever it costs: 4 to 25 ms per GiB, during
  /// which the process may have to wait. Otherwise it takes at most 1 % of a core, and processes
  /// for which it would take more than 100 ms are left out.
  bool force_pss = false;
  /// Where to search for devices.
  System system = System::from_environment();
};

/// Tracks a process and all its descendants while it is started, in a thread of its own, and two
/// for each GPU. It can be started once. After the process's end it waits for `stop`, and takes no
/// CPU time. In the child after a `fork` it does nothing.
///
/// Threads: one at a time.
class WATTLE_EXPORT Tracker {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): the words that gpu_tracker's users know
  enum class State : std::uint8_t { NEW, STARTED, STOPPED };

  /// Searches for GPUs, which can take two seconds where a driver does not answer. Throws
  /// `InvalidArgument`, which lists valid values, for an option out of its range or an existing
  /// file. Also for a process that does not exist or has ended. Throws `NoSuchDevice` for a GPU
  /// that does not exist; `WriteError` if a file cannot be written. A machine without sensors is no
  /// error.
  explicit Tracker(const TrackerOptions& options = {});
  Tracker(const Tracker&) = delete;
  Tracker& operator=(const Tracker&) = delete;
  /// Stops where it is started; what goes wrong then is lost. The usage file stays.
  ~Tracker();

  /// Waits up to half a second for GPUs whose driver is slow. Throws `InvalidState` where it was
  /// started before, `Error` where no thread can be started, `InvalidArgument` where the process
  /// has ended.
  void start();
  /// Takes a last sample, and ends within 50 ms; a second time it does nothing. Throws `NotStarted`
  /// where it was not started. Where a file could not be written completely it throws `WriteError`,
  /// but has stopped, and `resource_usage` has everything.
  void stop();

  [[nodiscard]] State state() const noexcept;
  /// True once the process was seen to have ended. Threads: any.
  [[nodiscard]] bool has_target_ended() const noexcept;
  /// Throws `NotStopped` before `stop`.
  [[nodiscard]] const ResourceUsage& resource_usage() const;
  /// Those of `resource_usage()`; they throw as it does.
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] std::string to_text() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// "NEW", "STARTED", "STOPPED".
[[nodiscard]] WATTLE_EXPORT std::string_view to_string(Tracker::State state) noexcept;

/// Prints its `to_text`; before `stop` its state. Threads: as the tracker.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const Tracker& tracker);

/// Starts a tracker, and stops it at the end of the scope, also where an exception ends it.
/// Threads: as the tracker.
class WATTLE_EXPORT TrackerScope {
 public:
  /// `tracker` outlives it. Throws as `Tracker::start`.
  explicit TrackerScope(Tracker& tracker);
  TrackerScope(const TrackerScope&) = delete;
  TrackerScope& operator=(const TrackerScope&) = delete;
  /// A file that could not be written is reported to the log, unless the tracker logs nothing.
  ~TrackerScope();

 private:
  Tracker& tracker_;
};

/// The results of a killed tracker, from its usage file: as of its last sample. A line that was not
/// completed does not count. Throws `FormatError` where the file has no whole line of a tracker,
/// `Error` where it cannot be read. Threads: any.
[[nodiscard]] WATTLE_EXPORT ResourceUsage recover_usage(const std::filesystem::path& usage_file);

}  // namespace wattle
