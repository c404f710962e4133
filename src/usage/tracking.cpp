#include "usage/tracking.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <system_error>

#include "base/log.hpp"
#include "base/state_folder.hpp"
#include "base/text.hpp"
#include "usage/cpu_ledger.hpp"
#include "usage/gpu_groups.hpp"
#include "usage/tracking_file.hpp"
#include "usage/usage_file.hpp"
#include "usage/usage_groups.hpp"
#include "usage/usage_units.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

TrackingCell divided(const TrackingCell& value, std::optional<unsigned> by) {
  return value && by && *by > 0 ? TrackingCell(*value / *by) : std::nullopt;
}

/// Throws now, not at the start, where there is no such process.
std::uint64_t start_time_of(pid_t pid, const TrackerOptions& options, const Clock& clock) {
  return TreeReader(options.system, clock, pid, {.most_kept_files = 0}).root_start_time();
}

OutputFile output_file(const std::optional<std::filesystem::path>& path, bool overwrite,
                       std::string_view what) {
  return path ? OutputFile(*path, overwrite, what) : OutputFile();
}

/// Absent: one of its own in the state folder; empty: none.
OutputFile usage_file(const TrackerOptions& options) {
  const auto& path = options.resource_usage_file;
  if (path)
    return path->empty() ? OutputFile() : output_file(path, options.overwrite, "usage file");
  try {
    return {new_state_file("usage", ".jsonl"), false, "usage file"};
  } catch (const Error& error) {
    static std::atomic<bool> told{false};
    if (!options.disable_logs && !told.exchange(true)) {
      log(fmt::format("no usage file is kept for the case of a crash: {}", error.what()));
    }
    return {};
  }
}

[[noreturn]] void refuse_one_file_for_both(const std::filesystem::path& path) {
  throw InvalidArgument(
      fmt::format("the tracking file and the usage file are both {}", printable(path.string())));
}

/// Throws for an option out of its range.
TrackerOptions checked(const TrackerOptions& options) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 86400.0;
  const double period_s = options.sleep_time.count();
  if (std::isnan(period_s) || period_s < kShortestS || period_s > kLongestS) {
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
  if (options.gpu_uuids && options.gpu_uuids->empty()) {
    throw InvalidArgument(
        "the set of GPU UUIDs is empty: name at least one, or leave it out for all");
  }
  if (options.tracking_file && options.tracking_file == options.resource_usage_file) {
    refuse_one_file_for_both(*options.tracking_file);
  }
  return options;
}

}  // namespace

Tracking::Tracking(const TrackerOptions& options, const Clock& clock, std::size_t usage_file_bytes)
    : options_(checked(options)),
      clock_(clock),
      pid_(options.process_id.value_or(::getpid())),
      start_time_(start_time_of(pid_, options, clock)),
      ram_factor_(memory_factor(options.ram_unit, "RAM")),
      gpu_ram_factor_(memory_factor(options.gpu_ram_unit, "GPU RAM")),
      time_factor_(time_factor(options.time_unit)),
      is_own_process_(pid_ == ::getpid()),
      gpus_(options, clock),
      machine_(options.system),
      rows_(options_.tracking_file
                ? open_tracking_table(*options_.tracking_file, options_.overwrite)
                : nullptr),
      usage_file_(usage_file(options_)),
      usage_file_bytes_(usage_file_bytes),
      most_usage_bytes_(usage_file_bytes) {
  if (rows_ && rows_->is(usage_file_)) refuse_one_file_for_both(*options_.tracking_file);
  if (rows_) rows_->clear();
  usage_file_.clear();
}

/// Otherwise those that were made go with this object: none is in the way of a second try.
void Tracking::keep_files(bool wanted) noexcept {
  if (rows_) rows_->keep(wanted);
  usage_file_.keep(wanted);
}

void Tracking::begin(const TrackerCost& others) {
  gpus_.begin();
  try {
    begin_tree(others);
  } catch (...) {
    gpus_.stop();
    throw;
  }
  keep_files(true);
  if (rows_) write_header();
  if (usage_file_) write_usage();  // whoever is killed before the first look leaves a whole record
}

void Tracking::abandon() noexcept {
  gpus_.stop();
  keep_files(false);
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

bool Tracking::look(const TrackerCost& all) {
  if (tree_->state().has_ended) return false;
  look_at_all(false, all);
  return !last_.has_ended;
}

void Tracking::end(const TrackerCost& all) {
  if (!tree_->state().has_ended) look_at_all(true, all);
  statistics_.end();
  is_over_ = true;
  if (!usage_file_) return;
  if (!failure_) {
    usage_file_.remove();
  } else {
    tell(fmt::format("the usage file {} is kept", printable(usage_file_.path())));
  }
}

void Tracking::look_at_all(bool last, const TrackerCost& cost) {
  const TreeState before = last_;
  last_ = last ? tree_->read_all() : tree_->read();
  leave_out(last_, cost);
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
  if (rows_) write_row(before, last_);
  if (usage_file_) write_usage();
}

/// Trackers of this process are no part of what it does.
void Tracking::leave_out(TreeState& state, const TrackerCost& cost) const noexcept {
  if (!is_own_process_) return;
  state.main.cpu = std::max(state.main.cpu - cost.cpu, nanoseconds(0));
  state.main.threads -= std::min(cost.threads, state.main.threads);
}

ResourceUsage Tracking::usage() const {
  ResourceUsage usage;
  usage.max_ram.unit = options_.ram_unit;
  usage.max_gpu_ram.unit = options_.gpu_ram_unit;
  usage.compute_time = {.unit = options_.time_unit,
                        .time = Seconds(ended_ - began_).count() * time_factor_};
  fill_machine(usage, machine_.usage());
  if (options_.n_expected_cores) usage.cpu_utilization.n_expected_cores = options_.n_expected_cores;
  statistics_.fill(usage, tree_->pss_gaps(), tree_->peaks());
  fill_gpu_groups(usage, gpus_.usage(began_, ended_), gpus_.on_machine());
  fill_tree(usage, *tree_);
  if (is_over_) usage.energy = gpus_.energy(began_, ended_);
  usage.tracker_cpu = own_cpu_;
  return usage;
}

void Tracking::write_header() {
  const ResourceUsage known = [&] {
    ResourceUsage usage;
    usage.max_ram.unit = options_.ram_unit;
    usage.max_gpu_ram.unit = options_.gpu_ram_unit;
    fill_machine(usage, machine_.usage());
    return usage;
  }();
  const auto cores = known.cpu_utilization.system_core_count;
  const auto expected = options_.n_expected_cores ? options_.n_expected_cores : cores;
  const auto gpu_bytes = gpus_.memory_total_bytes();
  const auto cell = [](std::optional<unsigned> number) {
    return number ? TrackingCell(*number) : std::nullopt;
  };
  check_rows(rows_->begin(
      {.ram_unit = options_.ram_unit,
       .gpu_ram_unit = options_.gpu_ram_unit,
       .time_unit = options_.time_unit,
       .capacities = {known.max_ram.system_capacity,
                      gpu_bytes ? TrackingCell(*gpu_bytes * gpu_ram_factor_) : std::nullopt,
                      cell(cores), cell(expected), cell(gpus_.on_machine()),
                      TrackingCell(gpus_.counted())}}));
}

void Tracking::check_rows(int error) {
  if (error != 0) note_failure(rows_->path(), error);
}

void Tracking::write_row(const TreeState& before, const TreeState& state) {
  const MachineUsage machine = machine_.usage();
  const GroupState& main = state.main;
  const GroupState& rest = state.descendants;
  const auto ram = [&](std::uint64_t bytes) {
    return TrackingCell(static_cast<double>(bytes) * ram_factor_);
  };
  const auto gpu_ram = [&](const std::optional<std::uint64_t>& bytes) {
    return bytes ? TrackingCell(static_cast<double>(*bytes) * gpu_ram_factor_) : std::nullopt;
  };
  const auto busy = [&](nanoseconds from, nanoseconds to) {
    return percent(to - from, state.at - before.at);
  };
  const GpuMonitor::Now gpus = gpus_.now();
  const unsigned counted = gpus_.counted();
  const auto cores = options_.n_expected_cores ? options_.n_expected_cores : machine.processors;
  const auto system_memory = machine_.last_memory_used_bytes();
  const auto system_share = machine_.last_cpu_percent();
  const TrackingCell main_busy = busy(before.main.cpu, main.cpu);
  const TrackingCell rest_busy = busy(before.descendants.cpu, rest.cpu);
  const TrackingCell both_busy =
      main_busy && rest_busy ? TrackingCell(*main_busy + *rest_busy) : std::nullopt;
  std::optional<std::uint64_t> both_gpu;
  if (gpus.main_bytes && gpus.descendants_bytes) {
    both_gpu = *gpus.main_bytes + *gpus.descendants_bytes;
  }
  check_rows(rows_->add({ram(main.rss_bytes),
                         ram(rest.pss_bytes),
                         ram(state.combined.pss_bytes),
                         system_memory ? TrackingCell(*system_memory * ram_factor_) : std::nullopt,
                         gpu_ram(gpus.main_bytes),
                         gpu_ram(gpus.descendants_bytes),
                         gpu_ram(both_gpu),
                         gpu_ram(gpus.used_bytes),
                         gpus.sum_percent,
                         divided(gpus.sum_percent, counted),
                         static_cast<double>(main.threads),
                         static_cast<double>(rest.threads),
                         static_cast<double>(main.threads + rest.threads),
                         system_share && machine.processors
                             ? TrackingCell(*system_share * *machine.processors)
                             : std::nullopt,
                         system_share,
                         main_busy,
                         divided(main_busy, cores),
                         rest_busy,
                         divided(rest_busy, cores),
                         both_busy,
                         divided(both_busy, cores),
                         to_unix(state.at)}));
}

void Tracking::write_usage() {
  const std::string line = usage_line(usage(), ticks_);
  // Who is killed in the middle of a write leaves the records before: the first has none before it.
  if (usage_file_.bytes() == 0 && usage_file_.begin_anew(line) == 0) return;
  if (usage_file_.bytes() > most_usage_bytes_) {
    const int error = usage_file_.begin_anew(line);
    if (error == 0) return;
    most_usage_bytes_ += usage_file_bytes_;
    tell(fmt::format("cannot begin the usage file {} anew, which has grown large: {}; it goes on",
                     printable(usage_file_.path()), std::generic_category().message(error)));
  }
  if (const int error = usage_file_.append(line); error != 0) {
    note_failure(usage_file_.path(), error);
  }
}

void Tracking::note_failure(const std::string& path, int error) {
  if (!failure_) failure_ = Failure{.path = path, .error_number = error};
  tell(WriteError(path, error).what());
}

void Tracking::tell(const std::string& message) const {
  if (!options_.disable_logs) log(message);
}

}  // namespace wattle
