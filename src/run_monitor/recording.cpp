#include "run_monitor/recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <thread>
#include <utility>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "run_monitor/tables/time_text.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/refusals.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The time that the last row waits for a GPU that does not answer, so that it is not that which
/// the end waits for.
constexpr nanoseconds kLastPatience = milliseconds(40);

ReadingsOptions reading_options(nanoseconds interval) {
  return {.period = interval,
          .metrics = {Metric::utilization, Metric::memory_utilization, Metric::memory_used,
                      Metric::memory_total, Metric::temperature, Metric::clock_sm,
                      Metric::clock_memory},
          .only_when_asked = true};
}

std::set<Domain> domains_with_gauges(const std::vector<std::unique_ptr<Sensor>>& sensors) {
  std::set<Domain> domains;
  for (const auto& sensor : sensors) {
    for (const Channel& channel : sensor->channels()) {
      if (channel.gives_energy() && !channel.counts_energy()) domains.insert(channel.domain);
    }
  }
  return domains;
}

std::string cells_of(const Domain& domain, const DeviceInfo* info) {
  return device_cells(domain.name(), domain.index(), info != nullptr ? info->id : "");
}

/// Two monitors in one folder would mix their rows, which readers identify by their places alone.
/// A folder that does not exist, or whose file system has no locks, is not held.
Fd hold_folder(const std::filesystem::path& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw InvalidArgument(
        fmt::format("cannot monitor into {}: another monitor writes to this folder; choose another",
                    printable(folder.string())));
  }
  return fd;
}

bool has_values(const MachineState& machine) noexcept {
  return machine.cpu || machine.memory || machine.cpu_pressure || machine.memory_pressure ||
         machine.io_pressure || machine.disk || machine.network;
}

}  // namespace

Recording::Recording(Survey found, const TimeSource& clock, const std::filesystem::path& folder,
                     const HardwareMonitorOptions& options)
    : clock_(clock),
      machine_(options.system),
      gauged_(domains_with_gauges(found.sensors)),
      readings_(std::move(found.sensors), clock, reading_options(options.interval)),
      shown_(readings_.no_capture()) {
  const nanoseconds interval = options.interval;
  // No counter may wrap around unseen between two rows.
  ticks_per_row_ = (interval - nanoseconds(1)) / readings_.keeper_period() + 1;
  period_ = interval / ticks_per_row_;
  name_devices();
  name_missing(found.refused, options.gpus);
  open_files(folder, options.overwrite);
  folder_ = hold_folder(folder);
  if (options.overwrite) clear_files();
}

void Recording::name_devices() {
  const std::vector<Readings::ObservedGpu>& devices = readings_.devices();
  for (const Readings::ObservedGpu& device : devices) {
    gpus_.push_back({.cells = cells_of(device.domain, device.info),
                     .is_nvidia = device.domain.kind() == DomainKind::nvidia_gpu,
                     .index = device.domain.index()});
  }
  for (const Domain& domain : readings_.domains()) {
    const auto device = std::ranges::find(devices, domain, &Readings::ObservedGpu::domain);
    energies_.push_back(
        {.cells = cells_of(domain, device != devices.end() ? device->info : nullptr),
         .has_gauge = gauged_.contains(domain)});
  }
}

void Recording::name_missing(const std::vector<SensorRefusal>& refused, const GpuSelection& gpus) {
  const std::vector<Domain> measured = readings_.domains();
  const auto add = [&](std::string_view name, std::string_view reason) {
    if (!name.empty()) missing_.try_emplace(std::string(name), reason);
  };
  if (gpus.is_none()) add("gpu", "GPUs are left out");
  for (const SensorRefusal& refusal : refused) {
    if (refusal.absent) continue;
    const auto& domain = refusal.domain;
    if (domain && std::ranges::find(measured, *domain) == measured.end() &&
        counts_in_total(domain->kind())) {
      add(domain->name(), refusal.reason);
    }
    if (domain) continue;
    for (const DomainKind kind : refusal.hidden.kinds) {
      add(traits_of(kind).in_total, refusal.reason);
    }
    if (hides_gpus(refusal)) add("gpu", refusal.reason);
    if (refusal.scope == RefusalScope::interface && refusal.shows.has(DomainCategory::cpu)) {
      add("cpu", refusal.reason);
      if (refusal.shows.contains(DomainKind::dram)) add("dram", refusal.reason);
    }
  }
}

void Recording::open_files(const std::filesystem::path& folder, bool overwrite) {
  const MachineState machine = machine_.read();
  if (std::ranges::any_of(gpus_, &RecordedGpu::is_nvidia)) {
    gpu_file_.emplace(folder, gpu_file(), overwrite);
    dmon_file_.emplace(folder, dmon_file(), overwrite);
  }
  if (machine.cpu) cpu_file_.emplace(folder, cpu_file());
  if (!gpus_.empty() || !energies_.empty() || has_values(machine)) {
    samples_file_.emplace(folder, samples_file());
  }
}

/// After all of them were opened: where one holds something else, none has lost anything.
void Recording::clear_files() {
  for (std::optional<RowFile>* file : {&gpu_file_, &dmon_file_, &cpu_file_, &samples_file_}) {
    if (*file) (*file)->clear();
  }
}

void Recording::begin() noexcept {
  ticks_ = -1;
  tick(false);
}

void Recording::tick(bool last) noexcept {
  try {
    if (++ticks_ % ticks_per_row_ == 0 || last) {
      write(last ? kLastPatience : kDriverPatience, last);
    } else {
      readings_.read();
    }
  } catch (const std::exception& error) {  // no memory: the next time may go better
    if (!std::exchange(has_failed_, true)) log(error.what());
  }
}

double Recording::row_time(TimePoint now) noexcept {
  // Readers identify GPUs by their place among the rows of one time. The last row can come right
  // after another one.
  constexpr double kMuchMs = 10.0;  // more than that the wall clock was set back
  double row_ms = std::floor(to_unix(now) * 1e3);
  if (row_ms <= last_row_ms_ && row_ms > last_row_ms_ - kMuchMs) row_ms = last_row_ms_ + 1.0;
  last_row_ms_ = row_ms;
  constexpr double kMiddle = 0.5;  // so that rounding does not lead to another millisecond
  return (row_ms + kMiddle) / 1e3;
}

void Recording::write(nanoseconds patience, bool last) {
  const TimePoint now = clock_.now();
  // Deadlines of lanes are the machine's, whatever clock the rows have.
  (void)readings_.read_lanes(shown_, std::chrono::steady_clock::now() + patience);
  readings_.read(shown_);
  const MachineState machine = machine_.read();
  const double unix_s = row_time(now);
  const std::string utc_time = utc_text(unix_s);
  samples_.begin(utc_time);
  if (ticks_ == 0) {
    samples_.add("monitor,,,", "interval_s", Seconds(period_ * ticks_per_row_).count());
    for (const auto& [name, reason] : missing_) {
      samples_.add(name + ",,,", "not_measured: " + cell_text(reason), 1.0);
    }
  }
  if (!gpus_.empty()) add_gpus(now, local_text(unix_s));
  add_cpu(machine, last, utc_time);
  samples_.add(machine);
  add_energies(now);
  const auto room = last ? LineFile::Room::reserved : LineFile::Room::free;
  const auto add = [room](std::optional<RowFile>& file, std::string_view rows,
                          std::string_view unknown = {}) {
    if (file) file->add(rows, unknown, room);
  };
  add(gpu_file_, gpu_rows_, unknown_gpu_rows_);
  add(dmon_file_, dmon_rows_, unknown_dmon_rows_);
  add(cpu_file_, cpu_row_);
  add(samples_file_, samples_.text());
}

GpuValues Recording::read_gpu(const Readings::ObservedGpu& device, TimePoint since) const noexcept {
  const auto value = [&](Metric metric) { return readings_.latest(device, metric, since); };
  // nvidia-smi's power.draw is the mean over a second if the GPU reports one.
  const auto average = value(Metric::power_average);
  return {.utilization_percent = value(Metric::utilization),
          .memory_utilization_percent = value(Metric::memory_utilization),
          .memory_used_bytes = value(Metric::memory_used),
          .memory_total_bytes = value(Metric::memory_total),
          .power_w = average ? average : value(Metric::power_instant),
          .temperature_celsius = value(Metric::temperature),
          .clock_sm_hz = value(Metric::clock_sm),
          .clock_memory_hz = value(Metric::clock_memory)};
}

void Recording::add_gpus(TimePoint since, const std::string& local_time) {
  for (std::string* rows : {&gpu_rows_, &dmon_rows_, &unknown_gpu_rows_, &unknown_dmon_rows_}) {
    rows->clear();
  }
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const RecordedGpu& gpu = gpus_[i];
    const GpuValues values = read_gpu(readings_.devices()[i], since);
    samples_.add(gpu.cells, values);
    if (!gpu.is_nvidia) continue;
    append_gpu_row(gpu_rows_, local_time, values);
    append_dmon_row(dmon_rows_, gpu.index, values);
    append_gpu_row(unknown_gpu_rows_, local_time, {});
    append_dmon_row(unknown_dmon_rows_, gpu.index, {});
  }
}

void Recording::add_cpu(const MachineState& machine, bool last, const std::string& utc_time) {
  cpu_row_.clear();
  std::optional<CpuTimes> times = machine.cpu;
  if (!times) return;
  if (!last_cpu_) {
    last_cpu_ = times;
    if (!last) return;
  }
  auto shares = cpu_shares(*last_cpu_, *times);
  // The kernel counts in 10 ms. A run that is shorter waits for that, so that it has a row.
  for (int i = 0; last && !shares && !has_cpu_row_ && i < 12; ++i) {
    std::this_thread::sleep_for(milliseconds(2));
    times = machine_.read_cpu();
    if (times) shares = cpu_shares(*last_cpu_, *times);
  }
  if (!shares) return;
  last_cpu_ = times;
  has_cpu_row_ = true;
  append_cpu_row(cpu_row_, utc_time, *shares);
  samples_.add(*shares);
}

void Recording::add_energies(TimePoint now) {
  // This number of rows is one window: its gauge readings are used one by one (see gauge_energy).
  constexpr int kRows = 900;
  for (std::size_t i = 0; i < energies_.size(); ++i) {
    RecordedEnergy& energy = energies_[i];
    const std::optional<Boundary> last = shown_.domains[i].counter;
    const std::optional<Boundary> before = std::exchange(energy.last, last);
    const TimePoint end = last ? last->at : now;
    const TimePoint reported_until = std::exchange(energy.reported_until, end);
    if (!energy.begin) {  // the first row
      energy.begin = end;
      energy.first = last;
      continue;
    }
    if (end <= reported_until) continue;
    if (!energy.has_gauge) {
      const MeanPower mean = readings_.mean_power(
          i, {.begin = reported_until, .end = end, .first = before, .last = last});
      samples_.add(energy.cells, "power_w",
                   mean.power ? std::optional(mean.power->si()) : std::nullopt);
    }
    WindowSum sum = energy.ended;
    sum.add(readings_.energy(
        i, {.begin = *energy.begin, .end = end, .first = energy.first, .last = last}));
    add_energy(energy, sum);
    if (++energy.rows < kRows) continue;
    energy.ended = sum;
    energy.begin = end;
    energy.first = last;
    energy.rows = 0;
  }
}

void Recording::add_energy(RecordedEnergy& energy, const WindowSum& windows) {
  const EnergyFigure sum = windows.result();
  if (sum.energy) {
    samples_.add(energy.cells, "energy_j", sum.energy->si());
    samples_.add(energy.cells, "energy_uncertainty_j", sum.uncertainty.si());
    samples_.add(energy.cells, "energy_common_j", sum.common.si());
  }
  if (sum.unknown > Seconds(0)) {
    samples_.add(energy.cells, "energy_unknown_s", sum.unknown.count());
  }
  if (windows.integrated() > Seconds(0)) {
    samples_.add(energy.cells, "energy_integrated_s", windows.integrated().count());
  }
  // Only what has changed: most have no flag throughout.
  for (std::size_t i = 0; i < kFlagNames.size(); ++i) {
    const auto flag = static_cast<Flag>(i);
    if (sum.flags.has(flag) == energy.reported_flags.has(flag)) continue;
    samples_.add(energy.cells, std::string("energy_flag_") + std::string(kFlagNames.at(i)),
                 sum.flags.has(flag) ? 1.0 : 0.0);
  }
  energy.reported_flags = sum.flags;
}

HardwareFiles Recording::files() const {
  HardwareFiles files;
  const auto take = [&](const std::optional<RowFile>& file,
                        std::optional<std::filesystem::path>& path, std::uint64_t& begin) {
    if (!file) return;
    path = file->path();
    begin = file->begin();
    files.lost_rows += file->lost();
  };
  take(gpu_file_, files.gpu_csv, files.gpu_csv_begin);
  take(cpu_file_, files.cpu_csv, files.cpu_csv_begin);
  take(dmon_file_, files.dmon_csv, files.dmon_csv_begin);
  take(samples_file_, files.samples_csv, files.samples_csv_begin);
  return files;
}

}  // namespace wattle
