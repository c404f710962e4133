#include "usage/tracking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/text/text.hpp"
#include "usage/files/usage_units.hpp"
#include "usage/gpu/gpu_groups.hpp"
#include "usage/usage_groups.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// Throws now, not at the start, where there is no such process.
std::uint64_t start_time_of(pid_t pid, const TrackerOptions& options, const TimeSource& clock) {
  return TreeReader(options.system, clock, pid, {.most_kept_files = 0}).root_start_time();
}

UsageFileOptions file_options(const TrackerOptions& options) {
  return {.tracking_file = options.tracking_file,
          .usage_file = options.resource_usage_file,
          .overwrite = options.overwrite,
          .logs = !options.disable_logs};
}

/// Throws for an option out of its range.
TrackerOptions checked(const TrackerOptions& options) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 86400.0;
  const double period_s = Seconds(options.sleep_time).count();
  if (period_s < kShortestS || period_s > kLongestS) {
    throw InvalidArgument(fmt::format("a sleep time of {} s is invalid: it must be from {} to {} s",
                                      period_s, kShortestS, kLongestS));
  }
  if (options.n_expected_cores == 0U) {
    throw InvalidArgument("0 expected cores are invalid: there must be at least 1");
  }
  const auto& brand = options.gpu_brand;
  if (brand && *brand != "nvidia" && *brand != "amd" && *brand != "intel") {
    throw InvalidArgument(fmt::format(
        "\"{}\" is not a valid GPU brand. Valid values are amd, intel, nvidia", printable(*brand)));
  }
  (void)bytes_in(options.ram_unit, "RAM");
  (void)bytes_in(options.gpu_ram_unit, "GPU RAM");
  return options;
}

}  // namespace

Tracking::Tracking(const TrackerOptions& options, const TimeSource& clock,
                   std::size_t usage_file_bytes)
    : options_(checked(options)),
      clock_(clock),
      pid_(options.process_id.value_or(::getpid())),
      start_time_(start_time_of(pid_, options, clock)),
      time_unit_(seconds_in(options.time_unit)),
      is_own_process_(pid_ == ::getpid()),
      gpus_(options, clock),
      machine_(options.system),
      files_(file_options(options_), usage_file_bytes) {}

void Tracking::begin(const TrackerCost& others) {
  gpus_.begin();
  try {
    begin_tree(others);
  } catch (...) {
    gpus_.stop();
    throw;
  }
  files_.keep(true);
  if (files_.has_rows()) {
    files_.begin_rows(tracking_header(units(), machine_.usage(), machine()));
  }
  write_usage();  // a process killed before the first sample leaves a whole record
}

void Tracking::abandon() noexcept {
  gpus_.stop();
  files_.keep(false);
}

void Tracking::begin_tree(const TrackerCost& others) {
  tree_ = std::make_unique<TreeReader>(
      options_.system, clock_, pid_,
      TreeOptions{.pss = options_.force_pss ? PssPolicy::force : PssPolicy::budget,
                  .start_time = start_time_});
  machine_ = MachineMonitor(options_.system);
  last_ = tree_->state();
  leave_out(last_, {.threads = others.threads + gpus_.cost().threads});
  began_ = ended_ = last_.at;
  gpus_.read_processors();
  machine_.sample(began_);
  statistics_.begin(last_);
}

bool Tracking::sample(const TrackerCost& all) {
  if (tree_->state().has_ended) return false;
  sample_all(false, all);
  return !last_.has_ended;
}

void Tracking::end(const TrackerCost& all) {
  if (!tree_->state().has_ended) sample_all(true, all);
  statistics_.end();
  is_over_ = true;
  files_.end();
}

void Tracking::sample_all(bool last, const TrackerCost& cost) {
  const TreeState before = last_;
  last_ = last ? tree_->read_all() : tree_->read();
  leave_out(last_, cost);
  cost_ = cost.cpu;
  // The kernel is asked for threads only now and then, and trackers come and go.
  if (is_own_process_ && !last_.is_complete) last_.main.threads = before.main.threads;
  if (last_.has_ended) last_.at = clock_.now();
  ended_ = last_.at;
  machine_.sample(ended_);
  const auto kinship_of = [&](pid_t pid) { return tree_->kinship_of(pid); };
  if (last || last_.has_ended) {
    gpus_.end(kinship_of);
  } else {
    gpus_.sample(kinship_of);
  }
  statistics_.add(last_);
  ++ticks_;
  if (files_.has_rows()) {
    const GpuMonitor::Now gpus = gpus_.now();
    files_.add_row(tracking_row(units(), machine(), {before, last_, machine_, gpus}));
  }
  write_usage();
}

/// Trackers of this process are no part of what it does.
void Tracking::leave_out(TreeState& state, const TrackerCost& cost) const noexcept {
  if (!is_own_process_) return;
  state.main.cpu = std::max(state.main.cpu - cost.cpu, nanoseconds(0));
  state.main.threads -= std::min(cost.threads, state.main.threads);
}

/// User and system time in their ratio: the kernel counts no thread's parts apart.
void Tracking::leave_out_cost(ResourceUsage& usage) const noexcept {
  if (!is_own_process_ || !usage.cpu_user || !usage.cpu_system) return;
  const Seconds all = *usage.cpu_user + *usage.cpu_system;
  const double left = all > cost_ ? 1.0 - cost_ / all : 0.0;
  *usage.cpu_user *= left;
  *usage.cpu_system *= left;
  if (!usage.still_running) return;
  for (auto& process : *usage.still_running) {
    if (process.pid == pid_) process.cpu = std::max(process.cpu - cost_, Seconds(0));
  }
}

ResourceUsage Tracking::usage() const {
  ResourceUsage usage;
  usage.max_ram.unit = options_.ram_unit;
  usage.max_gpu_ram.unit = options_.gpu_ram_unit;
  usage.compute_time = {.unit = options_.time_unit,
                        .time = Seconds(ended_ - began_).count() / time_unit_};
  fill_machine(usage, machine_.usage());
  if (options_.n_expected_cores) usage.cpu_utilization.n_expected_cores = options_.n_expected_cores;
  statistics_.fill(usage, tree_->pss_gaps(), tree_->peaks());
  fill_gpu_groups(usage, gpus_.usage(began_, ended_), gpus_.on_machine());
  fill_tree(usage, *tree_);
  leave_out_cost(usage);
  if (is_over_) usage.energy = gpus_.energy(began_, ended_);
  usage.tracker_cpu = own_cpu_;
  return usage;
}

TrackingUnits Tracking::units() const {
  return {.ram = options_.ram_unit, .gpu_ram = options_.gpu_ram_unit, .time = options_.time_unit};
}

TrackingMachine Tracking::machine() const {
  return {.expected_cores = options_.n_expected_cores,
          .gpu_memory_bytes = gpus_.memory_total_bytes(),
          .gpus = gpus_.on_machine(),
          .counted_gpus = gpus_.counted()};
}

void Tracking::write_usage() {
  if (files_.has_usage()) files_.write_usage(usage(), ticks_);
}

}  // namespace wattle
