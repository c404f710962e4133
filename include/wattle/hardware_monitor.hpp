// The run monitor: files that show what GPUs and CPUs did, and summaries of these files.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The files of a run monitor, in the folder that was given. Absent: the monitor wrote no row,
/// since there is no such hardware, or the file could not be written. Threads: a value type.
struct HardwareFiles {
  std::optional<std::filesystem::path> gpu_csv;      ///< hw_metrics.csv: NVIDIA GPUs
  std::optional<std::filesystem::path> cpu_csv;      ///< cpu_metrics.csv
  std::optional<std::filesystem::path> dmon_csv;     ///< hw_dmon.csv: NVIDIA GPUs
  std::optional<std::filesystem::path> samples_csv;  ///< hw_samples.csv: everything
  /// Where the rows of this run of the monitor start, in bytes: what the files held before precedes
  /// them.
  std::uint64_t gpu_csv_begin = 0;
  std::uint64_t cpu_csv_begin = 0;
  std::uint64_t dmon_csv_begin = 0;
  std::uint64_t samples_csv_begin = 0;
  /// Rows that could not be written (a disk that is full ...).
  std::uint64_t lost_rows = 0;
};

/// How to monitor. Threads: a value type.
struct HardwareMonitorOptions {
  static constexpr std::chrono::nanoseconds kShortestInterval = std::chrono::milliseconds(1);
  static constexpr std::chrono::nanoseconds kLongestInterval = std::chrono::hours(24);

  /// The time between two rows, from `kShortestInterval` to `kLongestInterval`.
  std::chrono::nanoseconds interval = std::chrono::seconds(2);
  /// Existing files of a hardware monitor are overwritten; otherwise rows are added after their
  /// last whole line. A file that holds something else is never touched.
  bool overwrite = false;
  /// Which GPUs.
  GpuSelection gpus{};
  /// `ignore`: a machine where nothing at all can be read, or without a selected GPU, is no error.
  IfUnavailable if_unavailable = IfUnavailable::fail;
  /// Where to search for devices.
  System system = System::from_environment();
};

/// Writes the activity of GPUs, CPUs, memory, disks and network to files in a folder, row by row,
/// in its own thread. `tail -f` follows them. A killed process loses only the rows of that moment.
/// docs/run-monitor.md lists the columns. A file that cannot be written any more is logged
/// (`set_log`) once and tried again with each row. Written rows are never lost, and the rest of the
/// process continues. A GPU that does not answer has rows without values, and holds up the others
/// once for at most half a second.
///
/// After `fork` the child's copy does nothing. Threads: one at a time.
class WATTLE_EXPORT HardwareMonitor {
 public:
  /// Searches for what can be read; drivers have 2 s to answer. Throws `InvalidArgument` for an
  /// option out of its range. Throws `NoSuchDevice` for a GPU that does not exist, unless
  /// `if_unavailable` is `ignore`. A machine without devices is no error.
  explicit HardwareMonitor(HardwareMonitorOptions options = {});
  /// The same, with the folder that `start()` uses.
  template <class Folder>
    requires std::is_convertible_v<Folder, std::filesystem::path>
  explicit HardwareMonitor(Folder output_dir, HardwareMonitorOptions options = {})
      : HardwareMonitor(std::move(options)) {
    output_dir_ = std::move(output_dir);
  }
  HardwareMonitor(const HardwareMonitor&) = delete;
  HardwareMonitor& operator=(const HardwareMonitor&) = delete;
  /// Stops, where it was started.
  ~HardwareMonitor();

  /// Makes the folder where it does not exist, and starts. What is not monitored though it is there
  /// is reported to the log. Throws `InvalidState` if it is started already; `WriteError` if a file
  /// cannot be made; `Error` if no thread can be started. Throws `FormatError` for a file with
  /// other contents, which must be moved or removed first. Throws `NoSuchDevice` if nothing can be
  /// read, unless that is ignored. Then it is not started, and no file has lost a row. After `stop`
  /// it may be started again, with another folder.
  void start(const std::filesystem::path& output_dir);
  /// The same, in the folder that was given to the constructor. Throws `InvalidState` where none
  /// was.
  void start();
  /// Writes rows for the last, partial interval, and ends within 100 ms. A file system that does
  /// not answer is given up after 2 s, and logged. A second time it does nothing and returns the
  /// same. Throws `NotStarted` before the first `start`.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the files can be found by their names, too
  HardwareFiles stop();

  [[nodiscard]] bool is_started() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::filesystem::path output_dir_{};
};

/// Figures of one GPU, or of all rows of all GPUs. Absent: in no row. Threads: a value type.
struct GpuFigures {
  std::optional<double> peak_vram_mb;       ///< device memory in use, in MiB, despite the name
  std::optional<double> gpu_util_mean_pct;  ///< time in which any kernel ran, 0 to 100
  std::optional<double> gpu_util_max_pct;
  std::optional<double> mem_util_mean_pct;  ///< time in which memory was read or written, 0 to 100
  std::optional<double> mem_util_max_pct;
  /// From the energy, if the monitor measured it (`hw_samples.csv`); else from the rows' powers.
  std::optional<double> power_watts_mean;
  std::optional<double> power_watts_max;  ///< highest power of a row
  /// As the monitor measured it, by the energy counter where there is one. From a table of powers
  /// alone each power holds until the next row of its GPU. A lower bound where `energy_unknown` is
  /// not 0.
  std::optional<Joules> energy;
  /// The uncertainty of the measuring process, k = 2. Absent if `energy` is, and if the file does
  /// not have it.
  std::optional<Joules> energy_uncertainty;
  /// The part of it that comes back in each run of the kind (see `MeasuredEnergy`).
  Joules energy_common{};
  /// Time whose energy is not known: what the monitor could not measure. In a table of powers rows
  /// that lack one, and pauses of more than ten times the usual.
  Seconds energy_unknown{0};
  Flags energy_flags;
  /// Absent where `energy` is, and where several were summed up that are of different methods.
  std::optional<Method> energy_method;

  WATTLE_EXPORT void set_energy(const MeasuredEnergy& measured, Method method) noexcept;
};

/// One GPU during a run. Threads: a value type.
struct GpuSummary : GpuFigures {
  /// The number, or the UUID where the file has only that. Where it has neither, the GPU's place
  /// among the rows of one moment, from "0" on.
  std::string name;
};

/// The energy of a part of the machine that is no GPU. Threads: a value type.
struct DomainSummary {
  std::string name;  ///< "package_0", "dram_0"
  MeasuredEnergy energy;
  std::optional<Watts> mean_power;  ///< over the time that is known
};

/// A part of a machine's energy that is not in its total. Threads: a value type.
struct MissingEnergy {
  std::string kind;    ///< "cpu", "dram", "gpu"
  std::string reason;  ///< "package_1: its counter does not move"
  friend bool operator==(const MissingEnergy&, const MissingEnergy&) = default;
};

/// The use of a machine as a whole. Absent: in no row. Threads: a value type.
struct MachineSummary {
  /// The energy of packages, memories and GPUs, which do not overlap. A lower bound where
  /// `total_missing` names a kind that is in it in part.
  MeasuredEnergy energy;
  std::vector<std::string> energy_covers;          ///< the domains that are in it
  std::vector<MissingEnergy> total_missing;        ///< what is not, by kind
  std::optional<std::uint64_t> peak_memory_bytes;  ///< in use, highest of all rows
  std::optional<std::uint64_t> memory_bytes;       ///< that it has
  std::optional<std::uint64_t> disk_read_bytes;    ///< while the monitor ran
  std::optional<std::uint64_t> disk_written_bytes;
  std::optional<std::uint64_t> network_received_bytes;
  std::optional<std::uint64_t> network_sent_bytes;
};

/// A file that was read for a summary. Threads: a value type.
struct SummaryFile {
  std::filesystem::path path;
  std::uint64_t rows = 0;
  /// Rows that were left out: cut off, damaged, or something else (an error message).
  std::uint64_t bad_rows = 0;
  /// Good rows whose GPU nothing shows: they count in the figures of all GPUs alone.
  std::uint64_t unassigned_rows = 0;
  /// The evidence that assigns rows to a GPU: "index", "uuid", "serial", "pci.bus_id", or "order of
  /// rows". With "order of rows" it adds the evidence of the number of GPUs. Empty for files that
  /// have none.
  std::string gpus_by;
  std::string problem;  ///< why nothing or not all could be read; else empty
  /// How it was read where that is not as usual: "UTF-16", "power is power.draw.instant"; else
  /// empty.
  std::string note;
};

/// The use of a run, from the files of a run monitor. In a mean each row counts for the time since
/// the row before. In the figures of all GPUs together (those of the base) rows of all GPUs do; the
/// energy is the sum. Threads: a value type.
struct WATTLE_EXPORT ResourceSummary : GpuFigures {
  std::optional<double> cpu_usr_mean_pct;
  std::optional<double> cpu_idle_mean_pct;
  std::optional<double> jax_peak_bytes_mb;  ///< MiB; see `set_allocator_peak`
  /// In which file `mem_util_*` were found; empty where they are absent.
  std::filesystem::path mem_util_source;
  std::vector<GpuSummary> gpus;
  std::vector<DomainSummary> domains;  ///< with a known energy, or a reason in its flags
  MachineSummary machine;
  std::vector<SummaryFile> files;

  /// The most that a program's own allocator had in use, in MiB, as `python/wattle_probe.py` prints
  /// it. Throws `InvalidArgument` for a negative number and for what is none.
  void set_allocator_peak(double mebibytes);

  /// One line of JSON: `peak_vram_mb`, `gpu_util_mean_pct`, `gpu_util_max_pct`, `power_watts_mean`,
  /// `power_watts_max`, `cpu_usr_mean_pct`, `cpu_idle_mean_pct`, null where absent; then
  /// `jax_peak_bytes_mb` and the two `mem_util_*` where present. One decimal.
  [[nodiscard]] std::string to_dict() const;
  /// One line of JSON, `wattle.summary/1`: all of it, bytes in bytes.
  [[nodiscard]] std::string to_json() const;
  /// Lines for people.
  [[nodiscard]] std::string to_text() const;
};

/// Prints `to_text`.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const ResourceSummary& summary);

/// Reads these files: `hw_samples.csv` has the measurements of a run monitor. It counts before the
/// others, since it has more about GPUs. `hw_metrics.csv` has rows of `nvidia-smi --query-gpu`,
/// with header and units or without. `hw_dmon.csv` has the table of `nvidia-smi dmon`, with columns
/// found by their header. Four columns without a header are gpu, sm, mem, fb. `cpu_metrics.csv` has
/// the CPUs. Any of them may be absent; one that cannot be read is a `SummaryFile` with a problem.
/// Takes the same small memory for files of any length. Throws nothing but std::bad_alloc. Threads:
/// any.
[[nodiscard]] WATTLE_EXPORT ResourceSummary
build_resource_summary(const std::optional<std::filesystem::path>& gpu_csv,
                       const std::optional<std::filesystem::path>& cpu_csv,
                       const std::optional<std::filesystem::path>& dmon_csv = std::nullopt,
                       const std::optional<std::filesystem::path>& samples_csv = std::nullopt);
/// Summarizes one run of a monitor: rows that its files held before do not count.
[[nodiscard]] WATTLE_EXPORT ResourceSummary build_resource_summary(const HardwareFiles& files);

}  // namespace wattle
