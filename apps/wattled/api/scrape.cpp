#include "api/scrape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include "api/public_cpu.hpp"
#include "base/cpu_time.hpp"
#include "base/files/file.hpp"
#include "usage/process/process.hpp"

namespace wattle::daemon {
namespace {

constexpr double kMicro = 1e-6;
constexpr double kPercent = 1e-2;

/// The field for a gauge's value; null: the metrics do not have it.
std::optional<double>* place_in(DomainMetrics& metrics, const Channel& channel) {
  if (channel.scope != wattle::Scope::device) return nullptr;
  switch (channel.metric) {
    case Metric::energy:
      return &metrics.energy_j;
    case Metric::power_instant:
    case Metric::power_average:
      return &metrics.power_w;
    case Metric::power_limit:
      return &metrics.power_limit_w;
    case Metric::utilization:
      return &metrics.utilization_ratio;
    case Metric::memory_used:
      return &metrics.memory_used_bytes;
    case Metric::memory_total:
      return &metrics.memory_total_bytes;
    case Metric::temperature:
      return &metrics.temperature_celsius;
    case Metric::clock_sm:
      return &metrics.clock_hz;
    case Metric::clock_memory:
      return &metrics.memory_clock_hz;
    default:
      return nullptr;
  }
}

bool is_known(const Reading& reading) {
  return reading.status == ReadStatus::ok || reading.status == ReadStatus::stale;
}

bool is_additive(const Domain& domain) { return !traits_of(domain).in_total.empty(); }

/// Without values.
DomainMetrics metrics_of(const Sensor& sensor, const Channel& channel) {
  DomainMetrics metrics{.domain = channel.domain.name(),
                        .vendor = std::string(traits_of(channel.domain).vendor),
                        .source = channel.source,
                        .additive = is_additive(channel.domain)};
  if (const DeviceInfo* const info = sensor.device()) {
    metrics.device = info->id;
    metrics.info = {.model = info->model,
                    .uuid = info->id == info->pci_address ? "" : info->id,
                    .pci_address = info->pci_address,
                    .driver = info->driver};
  }
  return metrics;
}

/// One for each domain of the sensor.
std::vector<DomainMetrics> of_device(const Sensor& sensor, const DeviceAnswer& answer) {
  const auto channels = sensor.channels();
  std::vector<DomainMetrics> all;
  const auto of = [&](const Channel& channel) -> DomainMetrics& {
    const std::string name = channel.domain.name();
    const auto found = std::ranges::find(all, name, &DomainMetrics::domain);
    return found != all.end() ? *found : all.emplace_back(metrics_of(sensor, channel));
  };
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const Channel& channel = channels[i];
    DomainMetrics& metrics = of(channel);
    std::optional<double>* const place = place_in(metrics, channel);
    if (place == nullptr || *place || i >= answer.readings.size()) continue;
    const Reading& reading = answer.readings[i];
    if (!is_known(reading)) continue;
    const bool is_share = channel.metric == Metric::utilization;
    *place = channel.scale() * static_cast<double>(reading.raw) * (is_share ? kPercent : 1.0);
    if (is_power(channel.metric)) metrics.coverage_ratio = channel.gauge.coverage;
    metrics.up = true;
    metrics.last_success_unix_s = to_unix(reading.at);
  }
  if (const auto fault = fault_of(answer, sensor, GpuQuestion::all)) {
    for (DomainMetrics& metrics : all) metrics.reason = fault->message;
  }
  return all;
}

bool is_gone(const DeviceAnswer& answer) {
  return std::ranges::any_of(
      answer.readings, [](const Reading& reading) { return reading.status == ReadStatus::gone; });
}

/// Why a meter shows nothing; it is not a GPU.
std::string_view why_silent(const DeviceAnswer& answer) {
  if (answer.readings.empty()) return "its driver did not answer in time";
  return is_gone(answer) ? "the device is gone" : "it shows no value";
}

}  // namespace

OwnCost own_cost() {
  OwnCost own;
  if (const auto used = cpu_time(CLOCK_PROCESS_CPUTIME_ID)) own.cpu_s = Seconds(*used).count();
  const auto memory = parse_statm(read_file("/proc/self/statm").value_or(""));
  if (memory) own.resident_bytes = static_cast<double>(memory->rss_bytes);
  return own;
}

DomainMetrics Scrape::of_counter(const CpuView& view, const Channel& channel,
                                 const CounterState& state) {
  DomainMetrics metrics{
      .domain = channel.domain.name(),
      .device = fmt::format("{}:{}", traits_of(channel.domain).device, channel.domain.index()),
      .source = channel.source,
      .additive = is_additive(channel.domain),
      .reason = std::string(reason_of(state)),
      .info = {.model = cpu_model_},
      .created_unix_s = started_unix_s_,
      .resets = state.losses};
  if (state.at != TimePoint{}) metrics.last_success_unix_s = to_unix(state.at);
  metrics.up = metrics.reason.empty();
  if (!metrics.up) return metrics;
  metrics.energy_j = (state.energy_uj - state.first_uj) * kMicro;
  PowerSinceScrape& power = powers_[{&view, channel.domain}];
  metrics.power_w = power.at(state.at, *metrics.energy_j, state.losses);
  if (!metrics.power_w && power.has_restarted()) metrics.reason = kCounterRestarted;
  return metrics;
}

void Scrape::add_power_of_counter(const CpuView& view, const Sensor& sensor,
                                  const DeviceAnswer& answer, std::vector<DomainMetrics>& domains) {
  const bool has_gauge = std::ranges::any_of(
      sensor.channels(), [](const Channel& channel) { return is_power(channel.metric); });
  const Reading* const reading = reading_of(answer, sensor, GpuQuestion::energy);
  if (has_gauge || reading == nullptr || !is_known(*reading)) return;
  const auto place = static_cast<std::size_t>(reading - answer.readings.data());
  const Domain& domain = sensor.channels()[place].domain;
  const auto found = std::ranges::find(domains, domain.name(), &DomainMetrics::domain);
  if (found == domains.end() || !found->energy_j) return;
  constexpr std::uint64_t kNotCounted = 0;  // its counter falls where it starts again
  found->power_w = powers_[{&view, domain}].at(reading->at, *found->energy_j, kNotCounted);
}

void Scrape::add_others(const CpuView& view, const Gpus::Answers& answers,
                        std::vector<DomainMetrics>& domains) {
  for (const auto& [id, answer] : answers) {
    gone_.erase(id);
    if (is_gone(answer)) gone_.insert(id);
    for (DomainMetrics& metrics : of_device(others_.sensor(id), answer)) {
      metrics.energy_j.reset();  // its total follows
      if (!metrics.up) metrics.reason = why_silent(answer);
      if (view.least_period().count() > 0) metrics.power_w.reset();
      domains.push_back(std::move(metrics));
    }
  }
}

Scrape::Totals Scrape::coarse_totals(const CpuView& view) {
  const TimePoint now = loop_.now();
  if (coarse_.empty() || now - coarse_at_ >= view.least_period()) {
    coarse_ = totals_.read();
    coarse_at_ = now;
    const auto period = std::chrono::ceil<std::chrono::milliseconds>(view.least_period());
    const Joules quantum(static_cast<double>(public_quantum_uj(period)) * kMicro);
    for (EnergyTotals::DomainTotal& total : coarse_) {
      if (total.domain.category() == DomainCategory::gpu) continue;
      total.energy = std::floor(total.energy / quantum) * quantum;
      total.uncertainty += quantum;
    }
  }
  return coarse_;
}

void Scrape::add_totals(const CpuView& view, std::vector<DomainMetrics>& domains) {
  const bool is_coarse = view.least_period().count() > 0;
  for (const EnergyTotals::DomainTotal& total : is_coarse ? coarse_totals(view) : totals_.read()) {
    const auto found = std::ranges::find(domains, total.domain.name(), &DomainMetrics::domain);
    if (found == domains.end()) continue;
    if (total.is_integrated) found->energy_source = "integrated";
    found->energy_j = total.energy.si();
    found->created_unix_s = to_unix(total.since);
    found->energy_uncertainty_j = total.uncertainty.si();
    found->energy_unknown_s = total.unknown.count();
    if (total.coverage) found->coverage_ratio = total.coverage;
    if (!is_coarse || total.domain.category() == DomainCategory::gpu || !found->up) continue;
    found->power_w = powers_[{&view, total.domain}].at(coarse_at_, *found->energy_j, 0);
  }
}

void Scrape::gather(CpuView& view, std::function<void(std::vector<DomainMetrics>)> then) {
  std::vector<DomainMetrics> domains;
  for (const auto& [id, state] : view.read(view.all_ids())) {
    const auto [cpu, dram] = cpus_.channels(id);
    // AMD's kernels show a package once a die.
    if (std::ranges::find(domains, cpu->domain.name(), &DomainMetrics::domain) != domains.end()) {
      continue;
    }
    domains.push_back(of_counter(view, *cpu, state.cpu));
    if (dram != nullptr && state.dram) domains.push_back(of_counter(view, *dram, *state.dram));
  }
  auto add_rest = [this, &view, domains = std::move(domains),
                   then = std::move(then)](const Gpus::Answers& gpus) mutable {
    for (const auto& [id, answer] : gpus) {
      std::vector<DomainMetrics> found = of_device(gpus_.sensor(id), answer);
      add_power_of_counter(view, gpus_.sensor(id), answer, found);
      std::ranges::move(found, std::back_inserter(domains));
    }
    others_.ask(others_.ids(), GpuQuestion::all,
                [this, &view, domains = std::move(domains),
                 then = std::move(then)](const Gpus::Answers& others) mutable {
                  add_others(view, others, domains);
                  add_totals(view, domains);
                  then(std::move(domains));
                });
  };
  gpus_.ask(gpus_.ids(), GpuQuestion::all, std::move(add_rest));
}

}  // namespace wattle::daemon
