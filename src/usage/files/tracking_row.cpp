#include "usage/files/tracking_row.hpp"

#include "base/numbers/known_sum.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/process/process_ledgers.hpp"
#include "wattle/clock.hpp"

namespace wattle {
namespace {

TrackingCell divided(const TrackingCell& value, std::optional<unsigned> by) {
  return value && by && *by > 0 ? TrackingCell(*value / *by) : std::nullopt;
}

TrackingCell cell(std::optional<unsigned> number) {
  return number ? TrackingCell(*number) : std::nullopt;
}

template <class Bytes>
TrackingCell in_unit(const std::optional<Bytes>& bytes, double unit) {
  return bytes ? TrackingCell(static_cast<double>(*bytes) / unit) : std::nullopt;
}

}  // namespace

TrackingHeader tracking_header(const TrackingUnits& units, const MachineUsage& machine,
                               const TrackingMachine& known) {
  const auto expected = known.expected_cores ? known.expected_cores : machine.processors;
  const auto memory = machine.peak_memory_used_bytes ? machine.memory_total_bytes : std::nullopt;
  return {.ram_unit = units.ram,
          .gpu_ram_unit = units.gpu_ram,
          .time_unit = units.time,
          .capacities = {in_unit(memory, bytes_in(units.ram, "RAM")),
                         in_unit(known.gpu_memory_bytes, bytes_in(units.gpu_ram, "GPU RAM")),
                         cell(machine.processors), cell(expected), cell(known.gpus),
                         TrackingCell(known.counted_gpus)}};
}

std::vector<TrackingCell> tracking_row(const TrackingUnits& units, const TrackingMachine& known,
                                       const TrackingSample& sample) {
  const MachineUsage machine = sample.machine.usage();
  const TreeState& before = sample.before;
  const TreeState& state = sample.state;
  const GroupState& main = state.main;
  const GroupState& rest = state.descendants;
  const GpuMonitor::Now& gpus = sample.gpus;
  const double ram_unit = bytes_in(units.ram, "RAM");
  const double gpu_ram_unit = bytes_in(units.gpu_ram, "GPU RAM");
  const auto ram = [&](std::uint64_t bytes) { return in_unit(std::optional(bytes), ram_unit); };
  // A bound looks like a value in a column of values.
  const auto known_ram = [&](const GroupState& group) {
    return group.is_estimated ? std::nullopt : ram(group.pss_bytes);
  };
  const auto gpu_ram = [&](const std::optional<std::uint64_t>& bytes) {
    return in_unit(bytes, gpu_ram_unit);
  };
  const auto busy = [&](std::chrono::nanoseconds from, std::chrono::nanoseconds to) {
    return cpu_percent(to - from, state.at - before.at);
  };
  const auto cores = known.expected_cores ? known.expected_cores : machine.processors;
  const auto system_share = sample.machine.last_cpu_percent();
  const TrackingCell main_busy = busy(before.main.cpu, main.cpu);
  const TrackingCell rest_busy = busy(before.descendants.cpu, rest.cpu);
  const TrackingCell both_busy = known_sum(main_busy, rest_busy);
  const auto both_gpu = known_sum(gpus.main_bytes, gpus.descendants_bytes);
  // A process that has ended has no memory and no threads to read; a zombie has none any more.
  const bool is_running = main.threads > 0;
  const auto running = [&](TrackingCell value) { return is_running ? value : std::nullopt; };
  return {running(ram(main.rss_bytes)),
          known_ram(rest),
          running(known_ram(state.combined)),
          in_unit(sample.machine.last_memory_used_bytes(), ram_unit),
          gpu_ram(gpus.main_bytes),
          gpu_ram(gpus.descendants_bytes),
          gpu_ram(both_gpu),
          gpu_ram(gpus.used_bytes),
          gpus.sum_percent,
          divided(gpus.sum_percent, known.counted_gpus),
          running(static_cast<double>(main.threads)),
          static_cast<double>(rest.threads),
          running(static_cast<double>(main.threads + rest.threads)),
          system_share && machine.processors ? TrackingCell(*system_share * *machine.processors)
                                             : std::nullopt,
          system_share,
          main_busy,
          divided(main_busy, cores),
          rest_busy,
          divided(rest_busy, cores),
          both_busy,
          divided(both_busy, cores),
          to_unix(state.at)};
}

}  // namespace wattle
