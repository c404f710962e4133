#include "usage/tracking.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/appending.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "usage/cpu_ledger.hpp"
#include "usage/gpu_groups.hpp"
#include "usage/usage_file.hpp"
#include "usage/usage_groups.hpp"
#include "usage/usage_units.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// A usage file that has grown larger begins anew with its last line.
constexpr std::size_t kUsageFileBytes = std::size_t{16} << 20U;

bool is_gpu(const std::unique_ptr<Sensor>& sensor) {
  return sensor->device() != nullptr && sensor->device()->kind == DeviceKind::gpu;
}

Cell divided(const Cell& value, std::optional<unsigned> by) {
  return value && by && *by > 0 ? Cell(*value / *by) : std::nullopt;
}

}  // namespace

Tracking::Tracking(const TrackerOptions& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      pid_(options.process_id.value_or(::getpid())),
      ram_factor_(memory_factor(options.ram_unit, "RAM")),
      gpu_ram_factor_(memory_factor(options.gpu_ram_unit, "GPU RAM")),
      time_factor_(time_factor(options.time_unit)),
      is_own_process_(pid_ == ::getpid()),
      machine_(options.system),
      tracking_path_(options.tracking_file.value_or("")),
      usage_path_(options.resource_usage_file.value_or("")) {
  check();
  // Says now, not at the start, that there is no such process.
  (void)TreeReader(options_.system, clock_, pid_, {.most_kept_files = 0});
  find_gpus();
  machine_.sample(clock_.now());
  if (options_.tracking_file) {
    tracking_file_ = make_file(tracking_path_, options_.overwrite, "tracking file");
    write_header();
  }
  if (options_.resource_usage_file) {
    usage_file_ = make_file(usage_path_, options_.overwrite, "usage file");
    is_usage_regular_ = std::filesystem::is_regular_file(usage_path_);
  }
  if (failure_) throw WriteError(failure_->path, failure_->error_number);
}

void Tracking::check() const {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 86400.0;
  const double period_s = options_.sleep_time.count();
  if (std::isnan(period_s) || period_s < kShortestS || period_s > kLongestS) {
    throw InvalidArgument(fmt::format("a sleep time of {} s is invalid: it must be from {} to {} s",
                                      period_s, kShortestS, kLongestS));
  }
  if (options_.n_expected_cores == 0U) {
    throw InvalidArgument("0 expected cores are invalid: there must be at least 1");
  }
  const auto& brand = options_.gpu_brand;
  if (brand && *brand != "nvidia" && *brand != "amd") {
    throw InvalidArgument(fmt::format(
        "\"{}\" is not a valid GPU brand. Valid values are amd, nvidia", printable(*brand)));
  }
  if (options_.gpu_uuids && options_.gpu_uuids->empty()) {
    throw InvalidArgument(
        "the set of GPU UUIDs is empty: name at least one, or leave it out for all");
  }
  if (options_.tracking_file && options_.tracking_file == options_.resource_usage_file) {
    throw InvalidArgument(fmt::format("the tracking file and the usage file are both {}",
                                      printable(tracking_path_.string())));
  }
}

void Tracking::find_gpus() {
  Survey found = survey(options_.system, clock_, Asked::all);
  std::erase_if(found.sensors, [&](const auto& sensor) {
    if (!is_gpu(sensor)) return true;
    const DomainKind kind = sensor->channels().front().domain.kind();
    const auto& brand = options_.gpu_brand;
    return brand && kind != (*brand == "nvidia" ? DomainKind::nvidia_gpu : DomainKind::amd_gpu);
  });
  knows_all_gpus_ = knows_all_gpus(found.refused);
  sampler_ = std::make_unique<Sampler>(
      std::move(found.sensors), clock_,
      SamplerOptions{.period = std::max<nanoseconds>(
                         std::chrono::duration_cast<nanoseconds>(options_.sleep_time),
                         std::chrono::milliseconds(100)),
                     .metrics = GpuMonitor::metrics(),
                     .lists_processes = true});
  std::optional<std::vector<bool>> counted;
  if (options_.gpu_uuids) {
    std::set<std::string> valid;
    counted.emplace();
    for (const Sampler::Device& device : sampler_->devices()) {
      const std::string id = device.info != nullptr ? device.info->id : "";
      if (!id.empty()) valid.insert(id);
      counted->push_back(options_.gpu_uuids->contains(id));
    }
    for (const std::string& uuid : *options_.gpu_uuids) {
      if (valid.contains(uuid)) continue;
      throw InvalidArgument(
          fmt::format("there is no GPU with the UUID \"{}\". {}", printable(uuid),
                      valid.empty() ? "There is none here that can be read"
                                    : fmt::format("Valid values are {}", fmt::join(valid, ", "))));
    }
  }
  gpus_ = std::make_unique<GpuMonitor>(*sampler_, std::move(counted));
}

void Tracking::begin(const TrackerCost& cost) {
  tree_ = std::make_unique<TreeReader>(
      options_.system, clock_, pid_,
      TreeOptions{.pss = options_.force_pss ? PssPolicy::force : PssPolicy::budget});
  machine_ = MachineMonitor(options_.system);
  last_ = tree_->state();
  leave_out(last_, cost);
  began_ = ended_ = last_.at;
  machine_.sample(began_);
  statistics_.begin(last_);
}

bool Tracking::look(const TrackerCost& cost) {
  if (tree_->state().has_ended) return false;
  look_at_all(false, cost);
  return !last_.has_ended;
}

void Tracking::end(const TrackerCost& cost) {
  if (!tree_->state().has_ended) look_at_all(true, cost);
  statistics_.end();
  if (usage_file_ && !failure_) {
    usage_file_.reset();
    // A pipe, or /dev/null, is not ours to remove.
    if (is_usage_regular_) ::unlink(usage_path_.c_str());
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
  gpus_->sample([&](pid_t pid) { return tree_->kinship_of(pid); }, began_);
  statistics_.add(last_);
  ++ticks_;
  if (tracking_file_) write_row(before, last_);
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
  statistics_.fill(usage, tree_->pss_gaps());
  const GpusUsage gpus = gpus_->usage(began_, ended_);
  fill_gpu_groups(
      usage, gpus,
      knows_all_gpus_ ? std::optional(static_cast<unsigned>(gpus.gpus.size())) : std::nullopt);
  fill_tree(usage, *tree_);
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
  const auto devices = static_cast<double>(sampler_->devices().size());
  const auto cores = known.cpu_utilization.system_core_count;
  const auto expected = options_.n_expected_cores ? options_.n_expected_cores : cores;
  Cell gpu_capacity = 0.0;
  for (const Sampler::Device& device : sampler_->devices()) {
    const auto total = sampler_->latest(device, Metric::memory_total);
    gpu_capacity =
        gpu_capacity && total ? Cell(*gpu_capacity + *total * gpu_ram_factor_) : std::nullopt;
  }
  const Cell counted = gpus_->counted();
  const auto cell = [](std::optional<unsigned> number) {
    return number ? Cell(*number) : std::nullopt;
  };
  std::string text = fmt::format("{}\n{},{},{},", static_columns(), options_.ram_unit,
                                 options_.gpu_ram_unit, options_.time_unit);
  text += csv_line({known.max_ram.system_capacity, gpu_capacity, cell(cores), cell(expected),
                    knows_all_gpus_ ? Cell(devices) : std::nullopt, counted});
  text += fmt::format("{}\n", sample_columns());
  write(tracking_file_, tracking_path_, text);
}

void Tracking::write_row(const TreeState& before, const TreeState& state) {
  const MachineUsage machine = machine_.usage();
  const GroupState& main = state.main;
  const GroupState& rest = state.descendants;
  const auto ram = [&](std::uint64_t bytes) {
    return Cell(static_cast<double>(bytes) * ram_factor_);
  };
  const auto gpu_ram = [&](const std::optional<std::uint64_t>& bytes) {
    return bytes ? Cell(static_cast<double>(*bytes) * gpu_ram_factor_) : std::nullopt;
  };
  const auto busy = [&](nanoseconds from, nanoseconds to) {
    return percent(to - from, state.at - before.at);
  };
  const GpuMonitor::Now& gpus = gpus_->now();
  const unsigned counted = gpus_->counted();
  const auto cores = options_.n_expected_cores ? options_.n_expected_cores : machine.processors;
  const auto system_memory = machine_.last_memory_used_bytes();
  const auto system_share = machine_.last_cpu_percent();
  const Cell main_busy = busy(before.main.cpu, main.cpu);
  const Cell rest_busy = busy(before.descendants.cpu, rest.cpu);
  const Cell both_busy = main_busy && rest_busy ? Cell(*main_busy + *rest_busy) : std::nullopt;
  const auto both_gpu = gpus.main_bytes && gpus.descendants_bytes
                            ? std::optional(*gpus.main_bytes + *gpus.descendants_bytes)
                            : std::nullopt;
  write(tracking_file_, tracking_path_,
        csv_line({ram(main.rss_bytes),
                  ram(rest.pss_bytes),
                  ram(main.pss_bytes + rest.pss_bytes),
                  system_memory ? Cell(*system_memory * ram_factor_) : std::nullopt,
                  gpu_ram(gpus.main_bytes),
                  gpu_ram(gpus.descendants_bytes),
                  gpu_ram(both_gpu),
                  gpu_ram(gpus.used_bytes),
                  gpus.sum_percent,
                  divided(gpus.sum_percent, counted),
                  static_cast<double>(main.threads),
                  static_cast<double>(rest.threads),
                  static_cast<double>(main.threads + rest.threads),
                  system_share && machine.processors ? Cell(*system_share * *machine.processors)
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
  if (is_usage_regular_ && usage_bytes_ > kUsageFileBytes) {
    // The new file takes the old one's place only when it holds a whole line.
    const std::filesystem::path next = usage_path_.string() + ".next";
    Fd fd = make_file(next, true, "usage file");
    write(fd, next, line);
    if (failure_ || ::rename(next.c_str(), usage_path_.c_str()) != 0) return;
    usage_file_ = std::move(fd);
    usage_bytes_ = line.size();
    return;
  }
  write(usage_file_, usage_path_, line);
  usage_bytes_ += line.size();
}

/// The first failure ends the writing of that file, not the tracking.
void Tracking::write(Fd& fd, const std::filesystem::path& path, const std::string& text) {
  const int error = [&] {
    const NoWriteSignals guard;
    return write_all(fd.get(), text);
  }();
  if (error == 0) return;
  fd = Fd();
  if (!failure_) failure_ = Failure{.path = path.string(), .error_number = error};
  if (may_log()) log(WriteError(path.string(), error).what());
}

}  // namespace wattle
