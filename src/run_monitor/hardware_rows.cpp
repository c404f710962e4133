#include "run_monitor/hardware_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/quantity.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

constexpr double kMega = 1e6;

/// A whole number, rounded down to units of `unit`.
std::string whole(const std::optional<double>& value, std::string_view unknown, double unit = 1.0) {
  return value ? fmt::format("{:.0f}", std::floor(*value / unit)) : std::string(unknown);
}

/// How files of nvidia-smi start: with these, or with what it writes to them where it fails.
template <class... Begins>
std::vector<std::string> with_its_errors(Begins... begins) {
  return {begins..., "NVIDIA-SMI", "Failed to initialize NVML", "No devices were found",
          "Unable to determine"};
}

}  // namespace

FileKind gpu_file() {
  std::string date = "0000/00/00 00:00:00.000, ";
  std::ranges::replace(date, '0', LineFile::kDigit);
  return {.name = "hw_metrics.csv",
          .first_bytes = std::move(date),
          .header = "",
          .of_nvidia_smi = with_its_errors("timestamp")};
}

FileKind dmon_file() {
  const std::string names = "# gpu     sm    mem     fb\n";
  return {.name = "hw_dmon.csv",
          .first_bytes = names,
          .header = names + "# Idx      %      %     MB\n",
          .of_nvidia_smi = with_its_errors("# gpu", "#Date", "#Time", "# Date", "# Time")};
}

FileKind cpu_file() {
  const std::string header = "timestamp,usr_pct,idle_pct\n";
  return {.name = "cpu_metrics.csv", .first_bytes = header, .header = header};
}

FileKind samples_file() {
  const std::string header = "time,device,index,uuid,quantity,value\n";
  return {.name = "hw_samples.csv", .first_bytes = header, .header = header};
}

void append_gpu_row(std::string& out, std::string_view local_time, const GpuValues& gpu) {
  const auto cell = [](const std::optional<double>& value, double unit = 1.0) {
    return whole(value, "[N/A]", unit);
  };
  fmt::format_to(std::back_inserter(out), "{}, {}, {}, {}, {}, {}, {}, {}, {}\n", local_time,
                 cell(gpu.utilization_percent), cell(gpu.memory_utilization_percent),
                 cell(gpu.memory_used_bytes, kMebibyte), cell(gpu.memory_total_bytes, kMebibyte),
                 gpu.power_w ? fmt::format("{:.2f}", *gpu.power_w) : "[N/A]",
                 cell(gpu.temperature_celsius), cell(gpu.clock_sm_hz, kMega),
                 cell(gpu.clock_memory_hz, kMega));
}

void append_dmon_row(std::string& out, std::uint32_t index, const GpuValues& gpu) {
  fmt::format_to(std::back_inserter(out), "{:>5} {:>6} {:>6} {:>6}\n", index,
                 whole(gpu.utilization_percent, "-"), whole(gpu.memory_utilization_percent, "-"),
                 whole(gpu.memory_used_bytes, "-", kMebibyte));
}

void append_cpu_row(std::string& out, std::string_view utc_time, const CpuShares& cpu) {
  fmt::format_to(std::back_inserter(out), "{},{:.1f},{:.1f}\n", utc_time, cpu.user, cpu.idle);
}

void SampleRows::add(std::string_view device, std::string_view quantity,
                     std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return;
  text_ += time_;
  text_ += ',';
  text_ += device;
  text_ += quantity;
  text_ += ',';
  // Whole numbers (bytes, percent of a driver) need no search for the shortest digits.
  constexpr double kMostExact = 0x1p53;
  const double value_floor = std::floor(*value);
  if (value_floor == *value && std::abs(*value) < kMostExact) {
    const fmt::format_int digits(static_cast<std::int64_t>(*value));
    text_.append(digits.data(), digits.size());
  } else {
    fmt::format_to(std::back_inserter(text_), "{}", *value);
  }
  text_ += '\n';
}

void SampleRows::add(std::string_view device, const GpuValues& gpu) {
  add(device, "utilization_percent", gpu.utilization_percent);
  add(device, "memory_utilization_percent", gpu.memory_utilization_percent);
  add(device, "memory_used_bytes", gpu.memory_used_bytes);
  add(device, "memory_total_bytes", gpu.memory_total_bytes);
  add(device, "power_w", gpu.power_w);
  add(device, "temperature_celsius", gpu.temperature_celsius);
  add(device, "clock_sm_hz", gpu.clock_sm_hz);
  add(device, "clock_memory_hz", gpu.clock_memory_hz);
}

void SampleRows::add(const CpuShares& cpu) {
  constexpr std::string_view kCpu = "cpu,,,";
  add(kCpu, "user_percent", cpu.user);
  add(kCpu, "system_percent", cpu.system);
  add(kCpu, "idle_percent", cpu.idle);
  add(kCpu, "iowait_percent", cpu.iowait);
  add(kCpu, "irq_percent", cpu.irq);
  add(kCpu, "steal_percent", cpu.steal);
}

void SampleRows::add(const MachineState& machine) {
  const auto pressure = [&](std::string_view device, const std::optional<Pressure>& waited,
                            bool has_full) {
    if (!waited) return;
    add(device, "pressure_some_s", waited->some_s);
    if (has_full) add(device, "pressure_full_s", waited->full_s);
  };
  const auto totals = [&](std::string_view device, const std::optional<ByteTotals>& bytes,
                          std::string_view in, std::string_view out) {
    if (!bytes) return;
    add(device, in, static_cast<double>(bytes->in));
    add(device, out, static_cast<double>(bytes->out));
  };
  if (machine.memory) {
    add("memory,,,", "used_bytes", static_cast<double>(machine.memory->used_bytes));
    add("memory,,,", "total_bytes", static_cast<double>(machine.memory->total_bytes));
  }
  pressure("cpu,,,", machine.cpu_pressure, false);  // of a whole machine it is always 0
  pressure("memory,,,", machine.memory_pressure, true);
  pressure("io,,,", machine.io_pressure, true);
  totals("disk,,,", machine.disk, "read_bytes", "written_bytes");
  totals("network,,,", machine.network, "received_bytes", "sent_bytes");
}

std::string device_cells(std::string_view device, std::optional<std::uint32_t> index,
                         std::string_view uuid) {
  return fmt::format("{},{},{},", device, index ? fmt::format("{}", *index) : "", cell_text(uuid));
}

std::string cell_text(std::string_view text) {
  std::string cell = printable(text);
  std::ranges::replace(cell, ',', ';');
  std::ranges::replace(cell, '"', '\'');
  return cell;
}

}  // namespace wattle
