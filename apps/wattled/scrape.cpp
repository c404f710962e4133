#include "scrape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

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
    case Metric::temperature:
      return &metrics.temperature_celsius;
    default:
      return nullptr;
  }
}

DomainMetrics of_gpu(const Sensor& sensor, const GpuAnswer& answer) {
  const auto channels = sensor.channels();
  const Domain& domain = channels.front().domain;
  DomainMetrics metrics{.domain = domain.name(),
                        .device = sensor.device() != nullptr ? sensor.device()->id : "",
                        .vendor = std::string(traits_of(domain).vendor),
                        .source = channels.front().source};
  if (answer.fault) metrics.reason = answer.fault->message;
  for (std::size_t i = 0; i < answer.readings.size(); ++i) {
    const Reading& reading = answer.readings[i];
    std::optional<double>* const place = place_in(metrics, channels[i]);
    const bool is_known = reading.status == ReadStatus::ok || reading.status == ReadStatus::stale;
    if (place == nullptr || *place || !is_known) continue;
    const bool is_share = channels[i].metric == Metric::utilization;
    *place = channels[i].scale() * static_cast<double>(reading.raw) * (is_share ? kPercent : 1.0);
    metrics.up = true;
    metrics.last_success_unix_s = to_unix(reading.at);
  }
  return metrics;
}

}  // namespace

DomainMetrics Scrape::of_counter(const CpuView& view, const Channel& channel,
                                 const CounterState& state) {
  DomainMetrics metrics{.domain = channel.domain.name(),
                        .device = fmt::format("cpu:{}", channel.domain.index()),
                        .source = channel.source,
                        .reason = std::string(reason_of(state)),
                        .created_unix_s = started_unix_s_,
                        .resets = state.losses};
  if (state.at != TimePoint{}) metrics.last_success_unix_s = to_unix(state.at);
  metrics.up = metrics.reason.empty();
  if (!metrics.up) return metrics;
  metrics.energy_j = (state.energy_uj - state.first_uj) * kMicro;
  MeanPower& power = powers_[{&view, channel.domain}];
  metrics.power_w = power.at(state.at, *metrics.energy_j, state.losses);
  if (!metrics.power_w && power.has_restarted()) metrics.reason = kCounterRestarted;
  return metrics;
}

void Scrape::gather(CpuView& view, std::function<void(std::vector<DomainMetrics>)> then) {
  std::vector<DomainMetrics> domains;
  for (const auto& [id, state] : view.read(view.ids())) {
    const auto [cpu, dram] = cpus_.channels(id);
    // AMD's kernels show a package once a die.
    if (std::ranges::find(domains, cpu->domain.name(), &DomainMetrics::domain) != domains.end()) {
      continue;
    }
    domains.push_back(of_counter(view, *cpu, state.cpu));
    if (dram != nullptr && state.dram) domains.push_back(of_counter(view, *dram, *state.dram));
  }
  gpus_.ask(gpus_.ids(), GpuQuestion::all,
            [this, domains = std::move(domains),
             then = std::move(then)](const Gpus::Answers& answers) mutable {
              for (const auto& [id, answer] : answers) {
                domains.push_back(of_gpu(gpus_.sensor(id), answer));
              }
              then(std::move(domains));
            });
}

}  // namespace wattle::daemon
