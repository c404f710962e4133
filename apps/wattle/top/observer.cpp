#include "top/observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "output/energy_words.hpp"
#include "report/estimate_words.hpp"
#include "report/share.hpp"
#include "sampling/energy_figure.hpp"
#include "sensors/domain_traits.hpp"
#include "sensors/proc_tables.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "usage/process/procfs.hpp"
#include "usage/tree/process_tree.hpp"

namespace wattle::app {
namespace {

constexpr std::chrono::milliseconds kPatience(100);
constexpr std::chrono::milliseconds kFirstPatience(500);

/// Parts of a package are left out: they are in it.
bool is_shown(const Domain& domain) { return !parent_of(domain); }

ReadingsOptions readings_options(const Survey& found) {
  std::vector<Domain> domains = domains_of(found);
  std::erase_if(domains, [](const Domain& domain) { return !is_shown(domain); });
  return {.metrics = {Metric::power_limit, Metric::utilization, Metric::memory_used,
                      Metric::memory_total, Metric::temperature},
          // Only the newest value is shown, and every observation asks for it.
          .metric_period = std::chrono::seconds(1),
          .lists_processes = true,
          .domains = std::move(domains),
          .keeps_going = true,
          .prompt_history_bytes = std::size_t{1} << 20U};
}

/// The options need the sensors that the readings take.
Readings make_readings(Survey& found) {
  const ReadingsOptions options = readings_options(found);
  return {std::move(found.sensors), machine_clock(), options};
}

/// One line for each cause: "not shown: package_0, dram_0: energy_uj is readable by root only".
std::vector<PrintableText> notes_of(std::vector<SensorRefusal> refused) {
  (void)take_absent(refused);
  std::erase_if(refused, [](const SensorRefusal& refusal) {
    if (refusal.domain) return !is_shown(*refusal.domain);
    return refusal.scope != RefusalScope::interface;
  });
  std::vector<PrintableText> notes;
  for (const SharedCause& cause : by_cause(refused)) {
    const std::string text = cause_text(cause);
    std::string_view rest = text;
    std::string note = fmt::format("not shown: {}", take_line(rest));
    if (!cause.refusal.remedy.empty()) note += " (fix: wattle doctor)";
    notes.emplace_back(note);
  }
  return notes;
}

std::string why_no_cpu_energy(const std::vector<SensorRefusal>& refused) {
  for (const SensorRefusal& refusal : refused) {
    if (refusal.shows.has(DomainCategory::cpu)) return refusal.reason;
  }
  return "no sensor was found";
}

}  // namespace

TopObserver::TopObserver(const TopOptions& options, Survey found, DomainKinds kinds)
    : system_(options.system),
      readings_(make_readings(found)),
      notes_(notes_of(found.refused)),
      first_(readings_.no_capture()),
      last_(readings_.no_capture()),
      processes_(options.system),
      load_reader_(options.system),
      machine_(identity_of(options.system)),
      baseline_(read_baseline(machine_.host)),
      estimates_(options.estimate),
      sees_machine_pids_(!is_own_procfs(system_) || sees_machine_pids()),
      sees_all_files_(sees_files_of_all(system_.procfs)) {
  for (const Domain& domain : readings_.domains()) {
    if (is_shared(domain)) shared_.push_back(domain.name());
  }
  std::ranges::sort(shared_);
  if (shared_.empty() && kinds.has(DomainCategory::cpu)) {
    no_energy_ = why_no_cpu_energy(found.refused);
    if (estimates_) {
      estimator_.emplace(EstimatorOptions{.system = system_});
      estimator_->start();
    } else {
      notes_.emplace_back(is_said(no_energy_) ? fmt::format("no energy of CPUs: {}", kEstimateHint)
                                              : fmt::format("no energy of CPUs: {}; {}", no_energy_,
                                                            kEstimateHint));
    }
  }
  readings_.wait_for_first(machine_clock().now() + kFirstPatience);
  read(last_);
  last_at_ = machine_clock().now();
  last_load_ = load_reader_.read();
  (void)processes_.read();
  start_session(last_at_);
}

bool TopObserver::is_said(std::string_view reason) const {
  return std::ranges::any_of(
      notes_, [&](const PrintableText& note) { return note.find(reason) != std::string::npos; });
}

void TopObserver::start_session(TimePoint at) {
  first_ = last_;
  begin_ = at;
  wants_reset_ = false;
}

void TopObserver::read(Capture& capture) {
  readings_.read(capture);
  (void)readings_.read_lanes(capture, machine_clock().now() + kPatience);
}

TopObservation TopObserver::observe() {
  if (wants_reset_) start_session(last_at_);
  Capture now = readings_.no_capture();
  const TimePoint at = machine_clock().now();
  read(now);
  const Seconds length = at - last_at_;
  TopObservation seen{.time_unix_s = to_unix(at),
                      .elapsed = at - begin_,
                      .length = length,
                      .host = machine_.host,
                      .notes = notes_};
  const Capture before = std::exchange(last_, std::move(now));
  const std::vector<Domain> domains = readings_.domains();
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const auto window = [&](const Capture& first, TimePoint begin) {
      return EnergyWindow{.begin = begin,
                          .end = at,
                          .first = first.domains[i].counter,
                          .last = last_.domains[i].counter};
    };
    const EnergyFigure period = readings_.energy(i, window(before, last_at_));
    TopDevice device{.name = domains[i].name(),
                     .is_counted = counts_in_total(domains[i].kind()),
                     .is_gpu = domains[i].category() == DomainCategory::gpu};
    device.power = uncertain_power(period.measured(), length);
    device.power_common_w = common_power(period.measured(), length);
    device.energy = readings_.energy(i, window(first_, begin_)).measured();
    if (!last_.domains[i].has_answered) device.energy.flags.set(Flag::late);
    if (!device.power) device.reason = why_unknown(period.flags);
    const auto gpu =
        std::ranges::find(readings_.devices(), domains[i], &Readings::ObservedGpu::domain);
    if (gpu != readings_.devices().end()) fill_gpu(device, *gpu);
    seen.devices.push_back(std::move(device));
  }
  last_at_ = at;
  add_machine(seen);
  add_idle(seen);
  add_estimate(seen);
  return seen;
}

void TopObserver::fill_gpu(TopDevice& device, const Readings::ObservedGpu& gpu) {
  if (gpu.info != nullptr) device.model = gpu.info->model;
  device.utilization_percent = readings_.latest(gpu, Metric::utilization);
  device.memory_used_bytes = readings_.latest(gpu, Metric::memory_used);
  device.memory_total_bytes = readings_.latest(gpu, Metric::memory_total);
  device.temperature_celsius = readings_.latest(gpu, Metric::temperature);
  device.limit_w = readings_.latest(gpu, Metric::power_limit);
  fill_users(device, gpu);
}

/// A list that may lack users divides nothing, but memory in it is known.
void TopObserver::fill_users(TopDevice& device, const Readings::ObservedGpu& gpu) {
  if (!sees_machine_pids_) {
    device.users_unknown = "this is a container with process numbers of its own";
    return;
  }
  const auto list = readings_.processes(gpu);
  device.users = gpu_users_[gpu.domain].take(list, machine_clock().now());
  if (!device.users) {
    device.users_unknown = list ? "the driver does not list its processes"
                                : "the driver has not listed its processes yet";
  } else {
    device.users_unknown = why_users_are_missing(gpu.domain, sees_all_files_);
  }
}

void TopObserver::add_machine(TopObservation& seen) {
  const auto load = load_reader_.read();
  if (load && last_load_) {
    if (const auto between = load_between(*last_load_, *load, {})) {
      seen.busy = between->busy;
      seen.threads = between->threads;
    }
  }
  last_load_ = load;
  seen.processes = processes_.read();
  if (const auto text = read_file((system_.procfs / "meminfo").string())) {
    if (const auto memory = parse_memory(*text)) {
      seen.memory_used_bytes = memory->used_bytes;
      seen.memory_total_bytes = memory->total_bytes;
    }
  }
}

void TopObserver::add_idle(TopObservation& seen) {
  if (shared_.empty()) return;
  if (!baseline_.baseline) {
    seen.idle_note = fmt::format("no shares of power: {}", baseline_.unknown);
    return;
  }
  const std::string why = why_not_usable(*baseline_.baseline, machine_, shared_, seen.time_unix_s);
  if (!why.empty()) {
    seen.idle_note = fmt::format("no shares of power: {}", why);
    return;
  }
  seen.idle = baseline_.baseline->power();
  seen.idle_note = baseline_text(*baseline_.baseline);
}

void TopObserver::add_estimate(TopObservation& seen) {
  if (!estimator_) return;
  estimator_->stop();
  const EnergyEstimate estimate = estimator_->estimate(seen.busy);
  estimator_->start();
  if (!estimate.machine) {
    seen.notes.emplace_back(fmt::format("no estimate: {}", estimate.unknown));
    return;
  }
  seen.estimate = TopEstimate{.machine = *estimate.machine,
                              .busy = estimate.own.value_or(EnergyRange{}),
                              .basis = estimate.basis};
  if (!is_said(no_energy_)) {
    seen.notes.emplace_back(fmt::format("no energy of CPUs: {}", no_energy_));
  }
  seen.notes.emplace_back(fmt::format("estimated from {}", estimate.basis));
}

}  // namespace wattle::app
