#include "run_monitor/machine_reader.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/files/file.hpp"

namespace wattle {
namespace {

constexpr std::size_t kTextBytes = std::size_t{16} << 10U;

}  // namespace

std::optional<CpuShares> cpu_shares(const CpuTimes& begin, const CpuTimes& end) noexcept {
  const auto passed = [&](std::uint64_t CpuTimes::*part) {
    return static_cast<double>(end.*part - std::min(begin.*part, end.*part));
  };
  CpuShares shares{.user = passed(&CpuTimes::user),
                   .system = passed(&CpuTimes::system),
                   .idle = passed(&CpuTimes::idle),
                   .iowait = passed(&CpuTimes::iowait),
                   .irq = passed(&CpuTimes::irq),
                   .steal = passed(&CpuTimes::steal)};
  const std::array parts = {&shares.user,   &shares.system, &shares.idle,
                            &shares.iowait, &shares.irq,    &shares.steal};
  double total = 0.0;
  for (const double* part : parts) total += *part;
  if (total <= 0.0) return std::nullopt;
  for (double* part : parts) *part *= 100.0 / total;
  return shares;
}

MachineReader::MachineReader(System system)
    : system_(std::move(system)), stat_(system_), text_(kTextBytes) {
  const auto open = [&](const char* name) {
    return open_for_reading((system_.procfs / name).string());
  };
  meminfo_ = open("meminfo");
  cpu_pressure_ = open("pressure/cpu");
  memory_pressure_ = open("pressure/memory");
  io_pressure_ = open("pressure/io");
  disks_ = open("diskstats");
  network_ = open("net/dev");
}

std::optional<CpuTimes> MachineReader::read_cpu() noexcept { return stat_.read_times(); }

MachineState MachineReader::read() {
  MachineState state;
  state.cpu = read_cpu();
  state.memory = parse_memory(text_of(meminfo_));
  state.cpu_pressure = parse_pressure(text_of(cpu_pressure_));
  state.memory_pressure = parse_pressure(text_of(memory_pressure_));
  state.io_pressure = parse_pressure(text_of(io_pressure_));
  state.disk = parse_disk_totals(text_of(disks_), [&](std::string_view name) {
    return is_device(known_disks_, "block", name);
  });
  const std::string_view network = text_of(network_);
  state.network = parse_network_totals(network, [&](std::string_view name) {
    return is_device(known_interfaces_, "class/net", name);
  });
  if (!state.network) {
    state.network =
        parse_network_totals(network, [](std::string_view name) { return name != "lo"; });
  }
  return state;
}

/// Empty where it cannot be read.
std::string_view MachineReader::text_of(const Fd& file) {
  if (!file) return {};
  ssize_t count = read_pieces(file.get(), text_);
  while (count == static_cast<ssize_t>(text_.size()) && text_.size() < kMaxFileBytes) {
    text_.resize(2 * text_.size());
    count = read_pieces(file.get(), text_);
  }
  return {text_.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

/// Parts of disks, loops, bridges and the like have no such link.
bool MachineReader::is_device(std::map<std::string, bool, std::less<>>& known, const char* folder,
                              std::string_view name) const {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  constexpr std::size_t kMostNames = 4096;  // interfaces of containers come and go
  if (known.size() >= kMostNames) known.clear();
  std::error_code error;
  const bool is_one = std::filesystem::exists(system_.sysfs / folder / name / "device", error);
  known.emplace(name, is_one);
  return is_one;
}

}  // namespace wattle
