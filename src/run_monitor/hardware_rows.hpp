// Rows of the run monitor's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/line_file.hpp"
#include "run_monitor/machine_reader.hpp"

namespace wattle {

/// The values of a GPU, in SI units. Absent: unknown.
struct GpuValues {
  std::optional<double> utilization_percent;
  std::optional<double> memory_utilization_percent;
  std::optional<double> memory_used_bytes;
  std::optional<double> memory_total_bytes;
  std::optional<double> power_w;
  std::optional<double> temperature_celsius;
  std::optional<double> clock_sm_hz;
  std::optional<double> clock_memory_hz;
};

/// A file's name, what it starts with, and the lines before its first row.
struct FileKind {
  std::string_view name;
  std::string first_bytes;
  std::string header;
  std::vector<std::string> of_nvidia_smi{};  ///< what a file of that name starts with there
};

/// No header: rows of `nvidia-smi --query-gpu=timestamp,utilization.gpu,utilization.memory,
/// memory.used,memory.total,power.draw,temperature.gpu,clocks.current.sm,clocks.current.memory
/// --format=csv,nounits,noheader`, whose readers go by position. They start with a date.
[[nodiscard]] FileKind gpu_file();
/// As of `nvidia-smi dmon`, with four columns in the order that readers by position expect.
[[nodiscard]] FileKind dmon_file();
/// timestamp,usr_pct,idle_pct
[[nodiscard]] FileKind cpu_file();
/// time,device,index,uuid,quantity,value
[[nodiscard]] FileKind samples_file();

/// An unknown value is "[N/A]". Whole MiB and MHz as nvidia-smi has them: rounded down.
void append_gpu_row(std::string& out, std::string_view local_time, const GpuValues& gpu);
/// An unknown value is "-".
void append_dmon_row(std::string& out, std::uint32_t index, const GpuValues& gpu);
void append_cpu_row(std::string& out, std::string_view utc_time, const CpuShares& cpu);

/// Rows of hw_samples.csv: none for a value that is not known. Threads: one at a time.
class SampleRows {
 public:
  /// Starts the rows of a time.
  void begin(std::string utc_time) {
    text_.clear();
    time_ = std::move(utc_time);
  }
  /// `device`: the cells before the quantity, "nvidia_gpu_0,0,GPU-1234," (see `device_cells`).
  void add(std::string_view device, std::string_view quantity, std::optional<double> value);
  void add(std::string_view device, const GpuValues& gpu);
  void add(const CpuShares& cpu);
  void add(const MachineState& machine);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string time_;
  std::string text_;
};

/// `uuid` is foreign text: commas and what cannot be printed are replaced.
[[nodiscard]] std::string device_cells(std::string_view device, std::optional<std::uint32_t> index,
                                       std::string_view uuid);

/// Foreign text as a cell: no comma, no quote, nothing that cannot be printed.
[[nodiscard]] std::string cell_text(std::string_view text);

}  // namespace wattle
