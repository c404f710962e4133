// What the files of a run monitor say about a run: its use of GPUs and processors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Figures of one GPU, or of all rows of all GPUs. Absent: no row tells. Threads: a value type.
struct GpuFigures {
  std::optional<double> peak_vram_mb;  ///< device memory in use, in MiB, whatever the name says
  std::optional<double> gpu_util_mean_pct;  ///< time in which any kernel ran, 0 to 100
  std::optional<double> gpu_util_max_pct;
  std::optional<double> mem_util_mean_pct;  ///< time in which memory was read or written, 0 to 100
  std::optional<double> mem_util_max_pct;
  std::optional<double> power_watts_mean;
  std::optional<double> power_watts_max;
  /// Each power held until the next row of its GPU; a lower bound where `energy_unknown` is not 0.
  std::optional<Joules> energy;
  /// Stretches between the first row and the last without a power: rows that lack it, and pauses of
  /// more than ten times the usual.
  Seconds energy_unknown{0};
};

struct GpuSummary : GpuFigures {
  /// The number, or the UUID where the file has only that. Where it has neither, the GPU's place
  /// among the rows of one time, from "0" on.
  std::string name;
};

/// What became of a file that was to be summarized.
struct SummaryFile {
  std::filesystem::path path;
  std::uint64_t rows = 0;
  /// Rows that were left out: cut off, damaged, or something else (an error message).
  std::uint64_t bad_rows = 0;
  std::string problem;  ///< why it tells nothing or not all; else empty
};

/// The use of a run, from the files of a run monitor. In the figures of all GPUs together (those of
/// the base) each row counts the same; the energy is the sum. Threads: a value type.
struct WATTLE_EXPORT ResourceSummary : GpuFigures {
  std::optional<double> cpu_usr_mean_pct;
  std::optional<double> cpu_idle_mean_pct;
  std::optional<double> jax_peak_bytes_mb;  ///< MiB; see `set_allocator_peak`
  /// In which file `mem_util_*` were found; empty where they are absent.
  std::filesystem::path mem_util_source;
  std::vector<GpuSummary> gpus;
  std::vector<SummaryFile> files;

  /// The most that a program's own allocator had in use, in MiB, as `python/wattle_probe.py` tells
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

/// Reads `hw_metrics.csv` (rows of `nvidia-smi --query-gpu`, with header and units or without),
/// `cpu_metrics.csv`, and `hw_dmon.csv` (the table of `nvidia-smi dmon`, columns found by their
/// header; four columns without one are gpu, sm, mem, fb). Any of them may be absent; one that
/// cannot be read is a `SummaryFile` with a problem. Takes the same small memory for files of any
/// length. Throws nothing but std::bad_alloc. Threads: any.
[[nodiscard]] WATTLE_EXPORT ResourceSummary
build_resource_summary(const std::optional<std::filesystem::path>& gpu_csv,
                       const std::optional<std::filesystem::path>& cpu_csv,
                       const std::optional<std::filesystem::path>& dmon_csv = std::nullopt);

}  // namespace wattle
