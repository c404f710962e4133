#include "run_report.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/file.hpp"
#include "sensors/cpu_info.hpp"

namespace wattle::app {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

void fill_usage(Report& report, const MachineUsage& machine, const Collected& collected,
                std::optional<std::uint64_t> launcher_rss) {
  ResourceUsage& usage = report.usage;
  usage.compute_time = report.wall;
  usage.cpu_user = collected.usage.cpu_user;
  usage.cpu_system = collected.usage.cpu_system;
  usage.still_running = collected.still_running;
  if (!collected.still_running) {
    usage.unknown.push_back({{"still_running"}, "procfs does not show this process"});
  }
  // The kernel counts what a process held before its exec into its peak: the launcher's size. Its
  // counters of that lag behind by some pages a processor, and the exec itself takes a few.
  constexpr std::uint64_t kMarginBytes = std::uint64_t{512} << 10U;
  const std::uint64_t inherited = launcher_rss.value_or(0) + kMarginBytes;
  if (collected.usage.peak_rss_bytes > inherited) {
    usage.peak_rss_bytes = collected.usage.peak_rss_bytes;
  } else {
    usage.unknown.push_back(
        {{"peak_rss_bytes"},
         fmt::format("below {} bytes it cannot be told from the process that started the command",
                     inherited)});
  }

  CPUUtilization& cpu = usage.cpu_utilization;
  cpu.system_core_count = machine.processors;
  cpu.n_expected_cores = machine.processors;
  cpu.system.mean_sum_percent = machine.mean_cpu_percent;
  cpu.system.max_sum_percent = machine.max_cpu_percent;
  if (machine.processors) {
    const double count = *machine.processors;
    if (machine.mean_cpu_percent)
      cpu.system.mean_hardware_percent = *machine.mean_cpu_percent / count;
    if (machine.max_cpu_percent) cpu.system.max_hardware_percent = *machine.max_cpu_percent / count;
  }
  if (machine.memory_total_bytes && machine.peak_memory_used_bytes) {
    usage.max_ram.system_capacity = static_cast<double>(*machine.memory_total_bytes);
    usage.max_ram.system = static_cast<double>(*machine.peak_memory_used_bytes);
  }
  usage.unknown.push_back(
      {{"max_ram.main", "max_ram.descendants", "max_ram.combined", "cpu_utilization.main",
        "cpu_utilization.descendants", "cpu_utilization.combined", "peak_pss_bytes", "processes"},
       "this version of Wattle does not sample the command's processes"});
}

/// The groups that gpu_tracker's users know; the single GPUs are in `report.host`.
void fill_gpus(Report& report, const GpusUsage& gpus) {
  if (!report.host.gpus) {
    const std::string& left_out = report.energy.left_out;
    report.usage.unknown.push_back(
        {{"max_gpu_ram", "gpu_utilization"},
         left_out.empty() ? "no GPU can be read: see refused" : left_out});
    return;
  }
  report.host.gpus = gpus.gpus;
  for (const Refusal& refusal : report.refused) {
    if (!refusal.domain || hardware_of(refusal.domain->kind()) == Hardware::cpu) continue;
    if (std::ranges::count(*report.host.gpus, *refusal.domain, &GpuUsage::domain) > 0) continue;
    report.host.gpus->push_back({.domain = *refusal.domain,
                                 .used_by_command_unknown = refusal.reason,
                                 .unknown = refusal.reason});
  }
  const auto number = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
  };
  ResourceUsage& usage = report.usage;
  usage.max_gpu_ram = {.system_capacity = number(gpus.memory_total_bytes),
                       .system = number(gpus.peak_memory_used_bytes),
                       .main = number(gpus.peak_main_bytes),
                       .descendants = number(gpus.peak_descendants_bytes),
                       .combined = number(gpus.peak_combined_bytes)};
  const auto count = static_cast<unsigned>(gpus.gpus.size());
  if (knows_all_gpus(report.refused)) {
    usage.gpu_utilization.system_gpu_count = static_cast<unsigned>(report.host.gpus->size());
  } else {
    usage.unknown.push_back({{"gpu_utilization.system_gpu_count"},
                             "not every vendor's GPUs can be listed: see refused"});
  }
  usage.gpu_utilization.n_expected_gpus = count;
  ProcessingUnitPercentages& percent = usage.gpu_utilization.gpu_percentages;
  percent.max_sum_percent = gpus.max_sum_percent;
  percent.mean_sum_percent = gpus.mean_sum_percent;
  if (gpus.max_sum_percent) percent.max_hardware_percent = *gpus.max_sum_percent / count;
  if (gpus.mean_sum_percent) percent.mean_hardware_percent = *gpus.mean_sum_percent / count;
  if (count == 0) {
    usage.unknown.push_back({{"max_gpu_ram", "gpu_utilization.gpu_percentages"},
                             "no GPU was found that this version reads"});
    return;
  }
  if (!gpus.peak_memory_used_bytes || !gpus.mean_sum_percent) {
    usage.unknown.push_back({{"max_gpu_ram.system", "gpu_utilization.gpu_percentages"},
                             "not every GPU told it: see unknown of host.gpus"});
  }
  if (!gpus.peak_combined_bytes) {
    usage.unknown.push_back(
        {{"max_gpu_ram.main", "max_gpu_ram.descendants", "max_gpu_ram.combined"},
         "it is not known which processes used the GPUs, or how much of their "
         "memory: see used_by_command_unknown of host.gpus"});
  }
}

EnergyReport energy_report(const Instruments& instruments, TimePoint begin, TimePoint end,
                           const std::vector<Refusal>& refused) {
  EnergyReport report;
  for (const Sampler::Result& result : instruments.sampler().results(begin, end)) {
    report.domains.push_back({.domain = result.channel.domain,
                              .contained_in = result.channel.contained_in,
                              .source = result.channel.source,
                              .figure = result.figure});
  }
  report.total = total_of(report.domains, refused);
  report.profile = instruments.profile();
  return report;
}

Overhead own_overhead(std::uint64_t samples, std::uint64_t late) {
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  const auto seconds = [](const timeval& time) -> Seconds {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return {.cpu = seconds(self.ru_utime) + seconds(self.ru_stime), .samples = samples, .late = late};
}

}  // namespace

bool knows_all_gpus(const std::vector<Refusal>& refused) noexcept {
  return std::ranges::none_of(refused, [](const Refusal& refusal) {
    return refusal.scope == RefusalScope::interface && refusal.hardware != Hardware::cpu;
  });
}

bool names_gpus(const Survey& found) {
  const auto is_gpu = [](const auto& sensor) {
    const DeviceInfo* const info = sensor->device();
    return info != nullptr && info->kind == DeviceKind::gpu;
  };
  const auto is_of_gpu = [](const Refusal& refusal) {
    return refusal.domain && hardware_of(refusal.domain->kind()) != Hardware::cpu;
  };
  return std::ranges::any_of(found.sensors, is_gpu) ||
         std::ranges::any_of(found.refused, is_of_gpu);
}

Report begin_report(const RunOptions& options, const Job& job) {
  Report report;
  report.command = options.command;
  report.interval = options.interval;
  report.slurm = job.slurm;
  report.host.name = host_name();
  const std::string boot_id = (options.system.procfs / "sys/kernel/random/boot_id").string();
  report.host.boot_id = read_line(boot_id).value_or("");
  report.host.cpu = read_cpu_info(options.system).model_name;
  if (job.local_rank.value_or(0) != 0 && !options.every_rank) {
    report.energy.left_out = fmt::format(
        "rank 0 of this machine measures it; this is local rank {} (--every-rank measures in all)",
        *job.local_rank);
  }
  return report;
}

void fill_report(Report& report, const RunFrame& frame, const Instruments& instruments,
                 const Collected& collected) {
  report.started_unix_s = to_unix(frame.begin);
  report.ended_unix_s = to_unix(frame.end);
  report.wall = frame.end - frame.begin;
  report.exit = collected.exit;
  if (report.energy.left_out.empty()) {
    report.energy = energy_report(instruments, frame.begin, frame.end, report.refused);
  }
  fill_usage(report, instruments.machine(), collected, frame.launcher_rss_bytes);
  fill_gpus(report, instruments.gpus());
  report.overhead =
      own_overhead(instruments.reads(), frame.late + instruments.sampler().lane_missed());
}

}  // namespace wattle::app
