#include "usage/usage_observation.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "sampling/read_on.hpp"
#include "sensors/refusals.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/gpu/gpu_usage.hpp"
#include "usage/usage_groups.hpp"
#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;

UsageObservation::UsageObservation(std::vector<std::unique_ptr<Sensor>> sensors,
                                   const TimeSource& clock, UsageObservationOptions options)
    : clock_(clock),
      options_(std::move(options)),
      is_own_process_(options_.root == ::getpid()),
      sensors_(std::move(sensors)),
      files_(std::move(options_.files)) {
  if (options_.has_own_cost) own_cpu_ = nanoseconds(0);
}

void UsageObservation::open() {
  if (readings_) return;  // a start that failed: the threads stay stopped
  lists_since_ = clock_.now();
  readings_ = std::make_unique<Readings>(std::move(sensors_), clock_, options_.readings);
  window_ = std::make_unique<MeasuredWindow>(*readings_, options_.is_of_command);
  SummedGpus summed = summed_gpus();
  included_gpus_ = static_cast<unsigned>(std::ranges::count(summed.included, true));
  gpus_ = std::make_unique<GpuMonitor>(*readings_, std::move(summed));
  readings_->read();  // the power before the start, if that is not long from now
}

SummedGpus UsageObservation::summed_gpus() const {
  SummedGpus summed;
  const ObservedGpus& gpus = options_.gpus;
  for (const Readings::ObservedGpu& device : readings_->devices()) {
    const bool is_member = gpus.members.contains(device.domain);
    summed.included.push_back(is_member);
    summed.counted.push_back(is_member && (!gpus.counted || gpus.counted->contains(device.domain)));
  }
  return summed;
}

void UsageObservation::begin(const TrackerCost& others) {
  open();
  (void)window_->read_lanes(clock_.now() + kDriverPatience);
  if (readings_->lane_threads() > 0) readings_->read();  // the lanes took their time
  looked_at_gpus_ = clock_.now();  // what they show now is from before the start
  try {
    begin_tree(others);
  } catch (...) {
    readings_->stop();
    throw;
  }
  machine_.emplace(options_.system);
  if (files_) begin_files();
  window_->read(false);  // the counters last, as near to the start as possible
  read_at_ = clock_.now();
  machine_->sample(read_at_);
  ++reads_;
  began_ = ended_ = wrote_usage_ = clock_.now();
  if (options_.tree.is_launcher) lists_since_ = began_;
  is_running_ = true;
  // A process that is killed before the first sample leaves a whole record.
  if (options_.usage_period == nanoseconds(0)) write_usage();
}

void UsageObservation::begin_tree(const TrackerCost& others) {
  try {
    tree_ = std::make_unique<TreeReader>(options_.processes, clock_, options_.root, options_.tree);
  } catch (const InvalidArgument& error) {
    if (options_.needs_tree) throw;
    no_tree_ = error.what();
    return;
  }
  state_ = tree_->state();
  leave_out(state_, {.threads = others.threads + device_cost().threads});
  row_begin_ = state_;
  // The memory of a launcher is not that of the command.
  statistics_.begin(state_, !options_.tree.is_launcher);
  if (options_.tree.is_launcher) tree_->forget_peaks();
}

void UsageObservation::begin_files() {
  files_->keep(true);
  if (!files_->has_rows()) return;
  machine_->sample(clock_.now());  // its capacity is in the header
  files_->begin_rows(tracking_header(options_.units, machine_->usage(), tracked_machine()));
}

void UsageObservation::abandon() noexcept {
  is_running_ = false;
  if (readings_) readings_->stop();
  if (files_) files_->keep(false);
}

bool UsageObservation::sample(const TrackerCost& all) {
  if (state_.has_ended) return false;
  read(false, all);
  if (state_.has_ended) {
    // It ended after the counters were read: what it spent until then counts.
    ended_ = clock_.now();
    read_counters();
    stop_devices();
  }
  write_files();
  return !state_.has_ended;
}

void UsageObservation::end(const TrackerCost& all) {
  if (!state_.has_ended) {
    end_processes(all);
    stop_devices();
    write_files();
  } else {
    is_running_ = false;
    statistics_.end();
  }
  is_over_ = true;
  end_files();
}

void UsageObservation::read(bool ends_interval, const TrackerCost& all) {
  window_->read(ends_interval);
  read_at_ = clock_.now();
  machine_->sample(read_at_);
  ++reads_;
  if (is_running_) {
    ended_ = read_at_;
    if (tree_) sample_tree(false, all);
  }
  if (read_at_ - looked_at_gpus_ < options_.gpu_period) return;
  sample_gpus();
  looked_at_gpus_ = read_at_;
}

void UsageObservation::sample_tree(bool all, const TrackerCost& cost) {
  const std::uint64_t threads = state_.main.threads;
  state_ = all ? tree_->read_all() : tree_->read();
  leave_out(state_, cost);
  cost_ = cost.cpu;
  // The kernel is asked for threads only now and then, and observers come and go.
  if (is_own_process_ && !state_.is_complete) state_.main.threads = threads;
  statistics_.add(state_);
}

void UsageObservation::sample_gpus() {
  const auto kinship_of = [&](pid_t pid) {
    return tree_ ? tree_->kinship_of(pid) : Kinship::unknown;
  };
  gpus_->sample(kinship_of, lists_since_);
}

void UsageObservation::end_processes(const TrackerCost& all) {
  const TimePoint now = clock_.now();
  is_running_ = false;
  read(false, all);  // the counters first, as near to the end as possible
  ended_ = now;
  read_on(*readings_, longest_of_reading_on());
  // A command that has ended was not waited for yet: its times are still in /proc.
  if (tree_) sample_tree(true, all);
  statistics_.end();
}

/// None but of a command.
nanoseconds UsageObservation::longest_of_reading_on() const noexcept {
  return options_.is_of_command ? longest_reading_on(ended_ - began_) : nanoseconds(0);
}

void UsageObservation::end_devices(TimePoint deadline, Lanes lanes) {
  (void)window_->read_lanes(deadline, lanes);
  sample_gpus();
  read_lanes_on(*readings_, ended_, longest_of_reading_on());
}

void UsageObservation::stop_devices() {
  constexpr std::chrono::milliseconds kPatience(20);  // a stop takes 50 ms at most
  end_devices(clock_.now() + kPatience, Lanes::all);
  readings_->stop();
}

void UsageObservation::end_files() {
  if (files_) files_->end();
}

/// Observers of this process are no part of what it does.
void UsageObservation::leave_out(TreeState& state, const TrackerCost& cost) const noexcept {
  if (!is_own_process_) return;
  state.main.cpu = std::max(state.main.cpu - cost.cpu, nanoseconds(0));
  state.main.threads -= std::min(cost.threads, state.main.threads);
}

/// User and system time in their ratio: the kernel counts no thread's parts apart.
void UsageObservation::leave_out_cost(ResourceUsage& usage) const noexcept {
  if (!is_own_process_ || !usage.cpu_user || !usage.cpu_system) return;
  const Seconds all = *usage.cpu_user + *usage.cpu_system;
  const double left = all > cost_ ? 1.0 - cost_ / all : 0.0;
  *usage.cpu_user *= left;
  *usage.cpu_system *= left;
  if (!usage.still_running) return;
  for (auto& process : *usage.still_running) {
    if (process.pid == root()) process.cpu = std::max(process.cpu - cost_, Seconds(0));
  }
}

TrackerCost UsageObservation::device_cost() const noexcept {
  if (!readings_) return {};
  return {.cpu = readings_->lane_cpu(), .threads = readings_->lane_threads()};
}

unsigned UsageObservation::refused_gpus() const noexcept {
  return static_cast<unsigned>(options_.gpus.members.size()) - included_gpus_;
}

/// Sums are of all or unknown, as in `usage`.
GpuMonitor::Now UsageObservation::gpus_now() const noexcept {
  GpuMonitor::Now now = gpus_->now();
  if (refused_gpus() == 0) return now;
  const auto percent = now.sum_percent;
  now = {};
  if (options_.gpus.counted) now.sum_percent = percent;
  return now;
}

TrackingMachine UsageObservation::tracked_machine() const noexcept {
  const ObservedGpus& gpus = options_.gpus;
  const bool has_unknown =
      refused_gpus() > 0 || !gpus.unknown.empty() || (included_gpus_ == 0 && gpus.on_machine != 0U);
  return {.expected_cores = options_.expected_cores,
          .gpu_memory_bytes = has_unknown ? std::nullopt : gpus_->memory_total_bytes(),
          .gpus = gpus.on_machine,
          .counted_gpus = gpus_->counted()};
}

TrackedEnergy UsageObservation::energy() const {
  TrackedEnergy energy{.domains = {}, .refused = missing_of(options_.refused)};
  for (const DomainFigure& found : window_->figures(began_, ended_)) {
    const auto& outer = found.contained_in;
    energy.domains.push_back({.domain = found.domain.name(),
                              .energy = found.figure.best(),
                              .source = found.source,
                              .contained_in = outer ? outer->name() : ""});
  }
  return energy;
}

GpusUsage UsageObservation::gpus() const {
  GpusUsage usage = gpus_->usage(began_, ended_);
  usage.refused = refused_gpus();
  usage.wants_refused = !options_.gpus.counted;
  return usage;
}

void UsageObservation::fill_gpus(ResourceUsage& usage) const {
  if (options_.gpus.unknown.empty()) {
    fill_gpu_groups(usage, gpus(), options_.gpus.on_machine);
  } else {
    usage.unknown.push_back({{"max_gpu_ram", "gpu_utilization"}, options_.gpus.unknown});
  }
}

void UsageObservation::fill_processes(ResourceUsage& usage, std::uint64_t main_peak_bytes) const {
  if (!tree_) {
    usage.unknown.push_back(
        {{"max_ram.main", "max_ram.descendants", "max_ram.combined", "cpu_utilization.main",
          "cpu_utilization.descendants", "cpu_utilization.combined", "peak_pss_bytes", "processes",
          "io_read_bytes", "io_written_bytes", "storage_read_bytes", "storage_written_bytes"},
         no_tree_});
    return;
  }
  PeakMemory peaks = tree_->peaks();
  if (tree_->was_alone()) {
    peaks.update(main_peak_bytes, true);
  } else {
    peaks.other_bytes = main_peak_bytes;
  }
  statistics_.fill(usage, tree_->pss_gaps(), peaks);
  usage.processes = tree_->processes_seen();
  fill_mechanisms(usage, *tree_);
  fill_io(usage, *tree_);
}

ResourceUsage UsageObservation::usage() const {
  ResourceUsage usage;
  usage.max_ram.unit = options_.units.ram;
  usage.max_gpu_ram.unit = options_.units.gpu_ram;
  usage.compute_time = {.unit = options_.units.time,
                        .time = Seconds(ended_ - began_).count() / seconds_in(options_.units.time)};
  fill_machine(usage, machine_->usage());
  if (options_.expected_cores) usage.cpu_utilization.n_expected_cores = options_.expected_cores;
  statistics_.fill(usage, tree_->pss_gaps(), tree_->peaks());
  fill_gpus(usage);
  fill_tree(usage, *tree_);
  leave_out_cost(usage);
  if (is_over_) usage.energy = energy();
  usage.tracker_cpu = own_cpu_;
  return usage;
}

void UsageObservation::write_files() {
  if (!files_ || !tree_) return;
  ++rows_;
  const TreeState before = std::exchange(row_begin_, state_);
  if (files_->has_rows()) {
    const GpuMonitor::Now gpus = gpus_now();
    files_->add_row(
        tracking_row(options_.units, tracked_machine(), {before, state_, *machine_, gpus}));
  }
  write_usage();
}

void UsageObservation::write_usage() {
  if (!files_ || !files_->has_usage() || !tree_) return;
  // To make a record takes longer than to take a sample.
  const nanoseconds period = options_.usage_period;
  if (period > nanoseconds(0)) {
    if (!is_running_ || ended_ - wrote_usage_ < period) return;
    wrote_usage_ = ended_;
  }
  files_->write_usage(usage(), rows_);
}

}  // namespace wattle
