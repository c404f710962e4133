#include "run/run_report.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "base/files/state_folder.hpp"
#include "calibration/kept_calibration.hpp"
#include "report/html/run_page.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/refusals.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/usage_groups.hpp"

namespace wattle::app {
namespace {

/// The kernel counts the memory of a process before its exec, the launcher's, in its peak. The
/// kernel's counters lag by some pages per processor, and the exec itself takes some, more for a
/// large process.
std::uint64_t least_known_peak(std::optional<std::uint64_t> launcher_rss) noexcept {
  constexpr std::uint64_t kMarginBytes = std::uint64_t{512} << 10U;
  constexpr std::uint64_t kPart = 128;
  const std::uint64_t rss = launcher_rss.value_or(0);
  return rss + rss / kPart + kMarginBytes;
}

void fill_usage(Report& report, const MachineUsage& machine, const CollectedCommand& collected,
                std::optional<std::uint64_t> launcher_rss) {
  ResourceUsage& usage = report.usage;
  usage.compute_time.time = report.wall.count() / seconds_in(usage.compute_time.unit);
  if (collected.exit.has_status()) {
    usage.cpu_user = collected.usage.cpu_user;
    usage.cpu_system = collected.usage.cpu_system;
    usage.minor_faults = collected.usage.minor_faults;
    usage.major_faults = collected.usage.major_faults;
    usage.voluntary_switches = collected.usage.voluntary_switches;
    usage.involuntary_switches = collected.usage.involuntary_switches;
  } else {
    usage.unknown.push_back({{"cpu_user_s", "cpu_system_s", "cpu_s", "minor_faults", "major_faults",
                              "voluntary_switches", "involuntary_switches"},
                             collected.exit.error});
  }
  if (collected.still_running) {
    usage.still_running.emplace();
    for (const LiveProcess& process : *collected.still_running) {
      usage.still_running->push_back({.pid = process.pid,
                                      .name = process.name,
                                      .cpu = process.cpu_user + process.cpu_system,
                                      .peak_rss_bytes = process.peak_rss_bytes});
    }
  } else {
    usage.unknown.push_back({{"still_running"}, "procfs does not show this process"});
  }
  const std::uint64_t inherited = least_known_peak(launcher_rss);
  if (collected.usage.peak_rss_bytes > inherited) {
    usage.peak_rss_bytes = collected.usage.peak_rss_bytes;
  } else {
    usage.unknown.push_back(
        {{"peak_rss_bytes"},
         fmt::format(
             "below {} bytes it is not distinguishable from the process that started the command",
             inherited)});
  }

  fill_machine(usage, machine);
}

/// The second count of processor time, and whether it agrees with the first.
void fill_task_clock(ResourceUsage& usage, const MachineUsage& machine,
                     const CollectedCommand& collected, const TaskClock& task_clock) {
  usage.cpu_task_clock = task_clock.read();
  if (!usage.cpu_task_clock) {
    usage.unknown.push_back({{"cpu_task_clock_s"}, task_clock.refused()});
    return;
  }
  usage.mechanisms.push_back(
      {{"cpu_task_clock_s"},
       "perf's task clock, inherited by everything that the command started; misses what programs "
       "used that change their user or that their user may not read, and counts interrupts"});
  const CpuCounts counts{
      .waited = collected.usage.cpu_user + collected.usage.cpu_system,
      .clocked = *usage.cpu_task_clock,
      .interrupted = machine.interrupted,
      .switches = collected.usage.voluntary_switches + collected.usage.involuntary_switches,
      .still_running = collected.still_running ? collected.still_running->size() : 0};
  if (auto mismatch = compare(counts)) usage.mismatches.push_back(std::move(*mismatch));
}

/// The groups that gpu_tracker's users know, of one brand; the single GPUs, of all brands, are in
/// `report.host`.
void fill_gpus(Report& report, const Instruments& instruments) {
  instruments.observation().fill_gpus(report.usage);
  if (!report.host.gpus) return;
  report.host.gpus = instruments.observation().gpus().gpus;
  for (const SensorRefusal& refusal : report.refused) {
    if (!refusal.domain || refusal.domain->category() != DomainCategory::gpu) continue;
    if (std::ranges::count(*report.host.gpus, *refusal.domain, &GpuUsage::domain) > 0) continue;
    report.host.gpus->push_back({.domain = *refusal.domain,
                                 .used_by_command_unknown = refusal.reason,
                                 .unknown = refusal.reason});
  }
}

/// The calibration that `wattle calibrate` kept for this machine.
void fill_calibration(std::vector<DomainFigure>& domains) {
  if (domains.empty()) return;
  const auto kept = read_calibration(this_host());
  if (!kept) return;
  const std::string source = source_text(*kept);
  for (DomainFigure& domain : domains) {
    const auto sensor = std::ranges::find(kept->sensors, domain.domain.name(), &KeptSensor::domain);
    if (sensor == kept->sensors.end()) continue;
    // Up to the next tenth: it is a bound.
    domain.calibration = SensorError{std::ceil(sensor->error_percent * 10.0) / 10.0, source};
  }
}

EnergyReport energy_report(const Instruments& instruments, TimePoint begin, TimePoint end,
                           const std::vector<SensorRefusal>& refused) {
  EnergyReport report{.domains = instruments.window().figures(begin, end)};
  fill_calibration(report.domains);
  report.total = total_of(report.domains, refused);
  report.profile = instruments.profile();
  return report;
}

/// Power over time of the domains whose energy is known: as many columns as a page can hold.
PowerCourse course_of(const Instruments& instruments, const Report& report, const RunFrame& frame) {
  const Readings& readings = instruments.window().readings();
  const std::vector<Domain> domains = readings.domains();
  std::vector<CourseSource> sources;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const auto energy = std::ranges::find(report.energy.domains, domains[i], &DomainFigure::domain);
    if (energy == report.energy.domains.end() || !energy->figure.energy) continue;
    sources.push_back(
        {.domain = domains[i], .counter = readings.counter(i), .gauges = readings.gauges(i)});
  }
  const auto interval = std::chrono::duration_cast<std::chrono::nanoseconds>(report.interval);
  return power_course(sources, {.begin = frame.begin,
                                .end = frame.end,
                                .interval = interval,
                                .most_columns = html::most_columns(sources.size())});
}

Overhead own_overhead(std::uint64_t samples, std::uint64_t late) {
  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  return {.cpu = seconds_of(self.ru_utime) + seconds_of(self.ru_stime),
          .samples = samples,
          .late = late};
}

}  // namespace

bool names_gpus(const Survey& found) {
  const auto is_of_gpu = [](const SensorRefusal& refusal) {
    return refusal.domain && refusal.domain->category() == DomainCategory::gpu;
  };
  return std::ranges::any_of(found.sensors, [](const auto& sensor) { return is_gpu(*sensor); }) ||
         std::ranges::any_of(found.refused, is_of_gpu);
}

Report begin_report(const RunOptions& options, const Job& job) {
  Report report;
  report.command = options.command;
  report.interval = options.interval;
  report.usage.max_ram.unit = options.ram_unit;
  report.usage.max_gpu_ram.unit = options.gpu_ram_unit;
  report.usage.compute_time.unit = options.time_unit;
  report.slurm = job.slurm;
  if (job.rank || job.local_rank) {
    report.mpi = Rank{.rank = job.rank,
                      .local_rank = job.local_rank,
                      .size = job.size,
                      .local_size = job.local_size};
  }
  report.host.name = host_name();
  if (job.local_rank.value_or(0) != 0 && !options.every_rank) {
    report.energy.left_out = fmt::format(
        "rank 0 of this machine measures it; this is local rank {} (--every-rank measures in all)",
        *job.local_rank);
  }
  return report;
}

void describe_host(const System& system, Host& host) {
  const std::string boot_id = (system.procfs / "sys/kernel/random/boot_id").string();
  host.boot_id = read_line(boot_id).value_or("");
  host.cpu = read_cpu_info(system).model_name;
}

void fill_report(Report& report, const RunFrame& frame, const Instruments& instruments,
                 const CollectedCommand& collected, const TaskClock& task_clock) {
  report.started_unix_s = to_unix(frame.begin);
  report.ended_unix_s = to_unix(frame.end);
  report.wall = frame.end - frame.begin;
  report.exit = collected.exit;
  if (report.energy.left_out.empty()) {
    report.energy = energy_report(instruments, frame.begin, frame.end, report.refused);
    if (frame.wants_course) report.energy.course = course_of(instruments, report, frame);
  }
  const std::string unavailable = std::move(report.phases.unavailable);
  report.phases = instruments.phases();
  report.phases.unavailable = unavailable;
  report.units = instruments.work_units();
  const MachineUsage machine = instruments.observation().machine().usage();
  fill_usage(report, machine, collected, frame.launcher_rss_bytes);
  fill_task_clock(report.usage, machine, collected, task_clock);
  // Unless it is that of the process that started the command.
  const bool is_commands =
      collected.usage.main_peak_rss_bytes > least_known_peak(frame.launcher_rss_bytes);
  instruments.observation().fill_processes(report.usage,
                                           is_commands ? collected.usage.main_peak_rss_bytes : 0);
  // The result of `collect` is exact, also for processes that were never seen.
  report.usage.mechanisms.push_back(
      {{"cpu_user_s", "cpu_system_s", "peak_rss_bytes"},
       "the kernel's account of every process that was waited for (wait4); misses those that "
       "ended while their parent ignored it"});
  report.usage.mechanisms.push_back(
      {{"minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"},
       "as cpu_s, with the few of wattle's own process that became the command; of those in "
       "still_running the switches of their first threads alone"});
  fill_gpus(report, instruments);
  report.overhead = own_overhead(instruments.observation().reads(),
                                 frame.late + instruments.window().readings().lane_missed());
}

}  // namespace wattle::app
