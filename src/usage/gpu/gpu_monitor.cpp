#include "usage/gpu/gpu_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/files/file.hpp"
#include "base/numbers/known_sum.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;
using Kinships = std::map<pid_t, Kinship>;

template <class T>
void raise(std::optional<T>& peak, const std::optional<T>& value) {
  if (value) peak = std::max(peak.value_or(*value), *value);
}

std::optional<std::uint64_t> bytes_shown(const std::optional<double>& value) {
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

/// The memory of the command's processes on one GPU.
struct Holders {
  KnownSum<std::uint64_t> main;
  KnownSum<std::uint64_t> descendants;
  bool any = false;
  bool any_stranger = false;
  bool all_known = true;  ///< whether they are the command's
};

/// Whose each process of a list is. A driver can list one that has just ended: of it the list
/// `before` is asked.
Kinships kinships_of(const std::vector<DeviceProcess>& processes,
                     const GpuMonitor::KinshipOf& kinship_of, const Kinships& before) {
  Kinships kinships;
  for (const DeviceProcess& process : processes) {
    Kinship kinship = kinship_of(process.pid);
    const auto known = before.find(process.pid);
    if (kinship == Kinship::unknown && known != before.end()) kinship = known->second;
    kinships.emplace(process.pid, kinship);
  }
  return kinships;
}

Holders holders_of(const std::vector<DeviceProcess>& processes, const Kinships& kinships) {
  Holders holders;
  holders.main.add(0);
  holders.descendants.add(0);
  for (const DeviceProcess& process : processes) {
    switch (kinships.at(process.pid)) {
      case Kinship::main:
        holders.any = true;
        holders.main.add(process.memory_bytes);
        break;
      case Kinship::descendant:
        holders.any = true;
        holders.descendants.add(process.memory_bytes);
        break;
      case Kinship::unknown:  // what it holds may be the command's
        holders.all_known = false;
        holders.main.add(std::nullopt);
        holders.descendants.add(std::nullopt);
        break;
      case Kinship::stranger:
        holders.any_stranger = true;
        break;
    }
  }
  return holders;
}

/// True if NVIDIA's Multi-Process Service works on the GPU: some drivers list its server in place
/// of the processes that it works for. The kernel shows 15 letters of a name.
bool has_mps_server(const Kinships& kinships) {
  return std::ranges::any_of(kinships, [](const auto& process) {
    const auto& [pid, kinship] = process;
    return kinship == Kinship::stranger &&
           read_line(fmt::format("/proc/{}/comm", pid)) == "nvidia-cuda-mps";
  });
}

/// Null where the device has none.
const History* utilization_of(const Readings::ObservedGpu& device) {
  const auto gauge = std::ranges::find_if(device.gauges, [](const History* history) {
    return history->channel().metric == Metric::utilization;
  });
  return gauge != device.gauges.end() ? *gauge : nullptr;
}

/// The mean over the time that is known; 0 without any.
double percent_of(const History& gauge, const GaugeWindow& window) {
  return window.known > nanoseconds(0) ? gauge.channel().scale() * window.mean_raw() : 0.0;
}

}  // namespace

std::string_view why_users_are_missing(const Domain& gpu, bool sees_files) noexcept {
  if (sees_files || gpu.kind() == DomainKind::nvidia_gpu) return {};
  return "only root sees all processes that use it";
}

ReadingsOptions GpuMonitor::sampling(std::chrono::nanoseconds interval) {
  constexpr std::chrono::nanoseconds kTenth = std::chrono::milliseconds(100);
  // A list is more work for a driver than a value, and each counts for at least a second.
  constexpr std::chrono::nanoseconds kLongestList = std::chrono::seconds(1);
  return {.period = std::min(interval, kTenth),
          .metrics = {Metric::utilization, Metric::memory_used, Metric::memory_total,
                      Metric::temperature, Metric::clock_sm},
          .lists_processes = true,
          .list_period = std::clamp(interval, kTenth, kLongestList)};
}

/// Empty where it is known whether the command used the GPU.
std::string GpuMonitor::why_not_known(const GpuUse& gpu, TimePoint began, TimePoint ended) const {
  if (gpu.was_used) return {};
  if (!machine_pids_) return "this is a container with process numbers of its own";
  if (!gpu.listed_at) return "the driver listed no processes while the command ran";
  return why_others_not_known(gpu, began, ended);
}

/// Empty where it is known whether somebody else used the GPU.
std::string GpuMonitor::why_others_not_known(const GpuUse& gpu, TimePoint began, TimePoint ended) {
  if (gpu.has_mps_server) return "an MPS server uses it, and the driver does not list for whom";
  if (!gpu.all_known) return "it has a process that may or may not be the command's";
  // Between two lists a process can come and go. Most use a GPU for longer than it takes to start.
  constexpr std::chrono::seconds kLongest(3);
  const auto unlisted = std::max(gpu.unlisted, ended - gpu.listed_at.value_or(began));
  if (unlisted > kLongest) return "the driver did not list its processes often enough";
  return {};
}

void GpuMonitor::add_busy_time(GpuUse& gpu, const ProcessList& list) {
  if (!list.busy_time) {
    gpu.first_busy.reset();
    gpu.busy.reset();
    return;
  }
  if (!gpu.first_busy) gpu.first_busy = list.busy_time;
  gpu.busy = BusyTime{.busy = list.busy_time->busy - gpu.first_busy->busy,
                      .known = list.busy_time->known - gpu.first_busy->known};
}

/// Times are since a process opened the GPU: of others in the first list the part before is left
/// out.
void GpuMonitor::add_engine_times(GpuUse& gpu, const std::vector<DeviceProcess>& processes,
                                  bool is_first_list) {
  if (is_first_list) gpu.engine_use = EngineUse{};
  std::map<pid_t, nanoseconds> times;
  for (const DeviceProcess& process : processes) {
    if (!process.engine_time) {
      gpu.engine_use.reset();
      return;
    }
    times.emplace(process.pid, *process.engine_time);
    const Kinship kinship = gpu.kinships.at(process.pid);
    const bool is_commands = kinship == Kinship::main || kinship == Kinship::descendant;
    const auto before = gpu.engine_times.find(process.pid);
    const nanoseconds since = before != gpu.engine_times.end() ? before->second
                              : is_first_list && !is_commands  ? *process.engine_time
                                                               : nanoseconds(0);
    if (!gpu.engine_use) continue;
    auto& sum = is_commands ? gpu.engine_use->command : gpu.engine_use->others;
    sum += std::max(*process.engine_time - since, nanoseconds(0));
  }
  gpu.engine_times = std::move(times);
}

GpuMonitor::GpuMonitor(const Readings& readings, SummedGpus choice, std::optional<bool> sees_files)
    : readings_(readings),
      machine_pids_(!readings_.devices().empty() && sees_machine_pids()),
      sees_files_(sees_files ? *sees_files : readings_.devices().empty() || sees_files_of_all()),
      choice_(std::move(choice)),
      gpus_(readings_.devices().size()) {}

void GpuMonitor::sample(const KinshipOf& kinship_of, TimePoint began) {
  KnownSum<std::uint64_t> used;
  KnownSum<double> busy;
  KnownSum<std::uint64_t> main;
  KnownSum<std::uint64_t> descendants;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const Readings::ObservedGpu& device = readings_.devices()[i];
    GpuUse& gpu = gpus_[i];
    sample_gpu(device, gpu, began);
    sample_processes(device, gpu, kinship_of, began);
    if (!choice_.included[i]) continue;
    used.add(gpu.used_bytes);
    if (choice_.counted[i]) busy.add(gpu.percent);
    main.add(gpu.main_bytes);
    descendants.add(gpu.descendants_bytes);
  }
  raise(sums_.peak_memory_used_bytes, used.value());
  raise(sums_.max_sum_percent, busy.value());
  now_ = {.used_bytes = used.value(),
          .main_bytes = main.value(),
          .descendants_bytes = descendants.value(),
          .sum_percent = busy.value()};
  raise(sums_.peak_main_bytes, main.value());
  raise(sums_.peak_descendants_bytes, descendants.value());
  raise(sums_.peak_combined_bytes, known_sum(main.value(), descendants.value()));
}

void GpuMonitor::sample_gpu(const Readings::ObservedGpu& device, GpuUse& gpu,
                            TimePoint began) const {
  if (const auto total = bytes_shown(readings_.latest(device, Metric::memory_total))) {
    gpu.total_bytes = total;
  }
  gpu.used_bytes = bytes_shown(readings_.latest(device, Metric::memory_used));
  raise(gpu.peak_bytes, gpu.used_bytes);
  gpu.percent = readings_.latest(device, Metric::utilization);
  raise(gpu.max_percent, gpu.percent);
  if (const History* const gauge = utilization_of(device)) gpu.utilization.advance(*gauge, began);
  raise(gpu.max_celsius, readings_.latest(device, Metric::temperature));
}

void GpuMonitor::sample_processes(const Readings::ObservedGpu& device, GpuUse& gpu,
                                  const KinshipOf& kinship_of, TimePoint began) {
  const std::optional<ProcessList> list = readings_.processes(device);
  if (!list || list->number == gpu.lists_seen || list->at < began) return;
  gpu.lists_seen = list->number;
  add_busy_time(gpu, *list);
  if (!machine_pids_ || !list->processes) return;
  const bool is_first = !gpu.listed_at;
  gpu.unlisted = std::max(gpu.unlisted, list->at - gpu.listed_at.value_or(began));
  gpu.listed_at = list->at;
  gpu.kinships = kinships_of(*list->processes, kinship_of, gpu.kinships);
  const Holders holders = holders_of(*list->processes, gpu.kinships);
  add_engine_times(gpu, *list->processes, is_first);
  gpu.has_mps_server = gpu.has_mps_server || has_mps_server(gpu.kinships);
  gpu.was_used = gpu.was_used || holders.any;
  gpu.was_used_by_others = gpu.was_used_by_others || holders.any_stranger;
  gpu.all_known = gpu.all_known && holders.all_known;
  gpu.main_bytes = holders.main.value();
  gpu.descendants_bytes = holders.descendants.value();
}

/// By the driver's samples, which have no gaps, and by the values that were read since the last of
/// them; by these alone where there are no samples.
GpuMonitor::MeanUtilization GpuMonitor::mean_utilization(const Readings::ObservedGpu& device,
                                                         const GpuUse& gpu, TimePoint began,
                                                         TimePoint ended) {
  const History* const gauge = utilization_of(device);
  if (gauge == nullptr) return {};
  const GaugeWindow window = gpu.utilization.until(*gauge, began, ended);
  if (window.known <= std::chrono::nanoseconds(0)) return {};
  // With less than that the rest could be anything; a late reading does not matter.
  constexpr double kLeastShare = 0.9;
  const Seconds known = window.known;
  const Seconds all = ended - began;
  if (known < kLeastShare * all) {
    return {.percent = std::nullopt,
            .gap = fmt::format("the driver reported its utilization in only {:.3g} s of {:.3g} s",
                               known.count(), all.count())};
  }
  const std::optional<BusyTime>& busy = gpu.busy;
  if (!busy || busy->known <= nanoseconds(0)) {
    return {.percent = percent_of(*gauge, window), .gap = ""};
  }
  const nanoseconds unsampled = std::max<nanoseconds>(ended - began - busy->known, nanoseconds(0));
  const GaugeWindow rest = gauge->gauge_window(ended - unsampled, ended);
  const Seconds rest_busy = percent_of(*gauge, rest) / 100.0 * Seconds(rest.known);
  const Seconds counted = busy->known + rest.known;
  // Drivers show whole percents: more digits than these are rounding errors.
  const double ten_thousandths = 1e6 * ((Seconds(busy->busy) + rest_busy) / counted);
  return {.percent = std::round(ten_thousandths) / 1e4, .gap = ""};
}

GpuUsage GpuMonitor::usage_of(const Readings::ObservedGpu& device, const GpuUse& gpu,
                              const MeanUtilization& mean, TimePoint began, TimePoint ended) const {
  GpuUsage usage{.domain = device.domain,
                 .info = device.info != nullptr ? *device.info : DeviceInfo{},
                 .memory_total_bytes = gpu.total_bytes,
                 .peak_memory_used_bytes = gpu.peak_bytes,
                 .max_utilization_percent = gpu.max_percent,
                 .max_temperature_celsius = gpu.max_celsius};
  usage.mean_utilization_percent = mean.percent;
  // The largest of a part of the time would pass for that of all.
  if (!mean.percent) {
    usage.max_utilization_percent.reset();
  } else {
    raise(usage.max_utilization_percent, mean.percent);
  }
  const std::string_view unseen = why_users_are_missing(device.domain, sees_files_);
  usage.used_by_command_unknown = why_not_known(gpu, began, ended);
  if (usage.used_by_command_unknown.empty()) {
    usage.used_by_command = gpu.was_used;
    usage.used_by_others_unknown = why_others_not_known(gpu, began, ended);
    if (usage.used_by_others_unknown.empty()) usage.used_by_others_unknown = unseen;
    if (usage.used_by_others_unknown.empty()) usage.used_by_others = gpu.was_used_by_others;
  }
  if (gpu.engine_use && unseen.empty()) {
    usage.command_engine_time = gpu.engine_use->command;
    usage.others_engine_time = gpu.engine_use->others;
  }
  if (!usage.memory_total_bytes || !usage.peak_memory_used_bytes ||
      !usage.mean_utilization_percent || !usage.max_temperature_celsius) {
    usage.unknown = mean.gap.empty()
                        ? "the driver does not report it, or did not while the command ran"
                        : mean.gap;
  }
  return usage;
}

std::optional<double> GpuMonitor::memory_total_bytes() const noexcept {
  KnownSum<double> sum;
  sum.add(0.0);
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    if (!choice_.included[i]) continue;
    sum.add(readings_.latest(readings_.devices()[i], Metric::memory_total));
  }
  return sum.value();
}

GpusUsage GpuMonitor::usage(TimePoint began, TimePoint ended) const {
  GpusUsage usage = sums_;
  KnownSum<std::uint64_t> total;
  KnownSum<double> mean_sum;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const Readings::ObservedGpu& device = readings_.devices()[i];
    const MeanUtilization mean = mean_utilization(device, gpus_[i], began, ended);
    usage.gpus.push_back(usage_of(device, gpus_[i], mean, began, ended));
    if (!choice_.included[i]) continue;
    ++usage.included;
    total.add(gpus_[i].total_bytes);
    if (!choice_.counted[i]) continue;
    mean_sum.add(mean.percent);
    if (usage.utilization_gap.empty()) usage.utilization_gap = mean.gap;
  }
  usage.counted = counted();
  usage.memory_total_bytes = total.value();
  usage.mean_sum_percent = mean_sum.value();
  if (usage.mean_sum_percent) {
    raise(usage.max_sum_percent, usage.mean_sum_percent);
  } else {
    usage.max_sum_percent.reset();
  }
  return usage;
}

}  // namespace wattle
