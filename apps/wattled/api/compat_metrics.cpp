#include "api/compat_metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "wattle/domain.hpp"

namespace wattle::daemon {
namespace {

/// A metric of another exporter, and where its value comes from.
struct Alias {
  Exporter exporter;
  std::string_view name;  ///< as that of a `MetricFamily`
  std::string_view help;
  MetricKind kind;
  bool (*is_of)(const Domain& domain);
  std::optional<double> (*value_of)(const DomainMetrics& metrics);
};

bool is_nvidia(const Domain& domain) { return domain.kind() == DomainKind::nvidia_gpu; }
bool is_gpu(const Domain& domain) { return domain.category() == DomainCategory::gpu; }
/// One of powercap's zones.
bool is_zone(const Domain& domain) {
  return domain.category() == DomainCategory::cpu || domain.kind() == DomainKind::psys;
}
template <DomainKind kKind>
bool is_kind(const Domain& domain) {
  return domain.kind() == kKind;
}

/// One of the values, in units of 1 / kPerUnit of ours.
template <std::optional<double> DomainMetrics::*kValue, int kPerUnit = 1, int kUnits = 1>
std::optional<double> scaled(const DomainMetrics& metrics) {
  const std::optional<double>& value = metrics.*kValue;
  if (!value) return std::nullopt;
  return *value * kPerUnit / kUnits;
}

constexpr int kMega = 1'000'000;
constexpr int kMebi = 1 << 20;

std::optional<double> free_mebibytes(const DomainMetrics& metrics) {
  if (!metrics.memory_total_bytes || !metrics.memory_used_bytes) return std::nullopt;
  return (*metrics.memory_total_bytes - *metrics.memory_used_bytes) / kMebi;
}

using enum MetricKind;

using M = DomainMetrics;

/// Names, units and labels are facts of these exporters' documentation (docs/daemon.md).
constexpr auto kAliases = std::to_array<Alias>({
    {Exporter::dcgm, "DCGM_FI_DEV_SM_CLOCK", "Clock of the GPU's processors in MHz.", gauge,
     is_nvidia, scaled<&M::clock_hz, 1, kMega>},
    {Exporter::dcgm, "DCGM_FI_DEV_MEM_CLOCK", "Clock of the GPU's memory in MHz.", gauge, is_nvidia,
     scaled<&M::memory_clock_hz, 1, kMega>},
    {Exporter::dcgm, "DCGM_FI_DEV_GPU_TEMP", "Temperature of the GPU in degrees Celsius.", gauge,
     is_nvidia, scaled<&M::temperature_celsius>},
    {Exporter::dcgm, "DCGM_FI_DEV_POWER_USAGE", "Power of the GPU in W.", gauge, is_nvidia,
     scaled<&M::power_w>},
    {Exporter::dcgm, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "Energy of the GPU in mJ.",
     bare_counter, is_nvidia, scaled<&M::energy_j, 1000>},
    {Exporter::dcgm, "DCGM_FI_DEV_GPU_UTIL", "Time that the GPU was busy, in percent.", gauge,
     is_nvidia, scaled<&M::utilization_ratio, 100>},
    {Exporter::dcgm, "DCGM_FI_DEV_FB_USED", "Memory in use in MiB.", gauge, is_nvidia,
     scaled<&M::memory_used_bytes, 1, kMebi>},
    {Exporter::dcgm, "DCGM_FI_DEV_FB_FREE", "Memory that is free in MiB.", gauge, is_nvidia,
     free_mebibytes},
    {Exporter::node, "node_rapl_package_joules", "Energy of a package in J.", counter,
     is_kind<DomainKind::package>, scaled<&M::energy_j>},
    {Exporter::node, "node_rapl_dram_joules", "Energy of a package's memory in J.", counter,
     is_kind<DomainKind::dram>, scaled<&M::energy_j>},
    {Exporter::node, "node_rapl_core_joules", "Energy of a package's cores in J.", counter,
     is_kind<DomainKind::core>, scaled<&M::energy_j>},
    {Exporter::node, "node_rapl_uncore_joules", "Energy of a package's GPU in J.", counter,
     is_kind<DomainKind::uncore>, scaled<&M::energy_j>},
    {Exporter::kepler, "kepler_node_cpu_joules", "Energy of a zone in J.", counter, is_zone,
     scaled<&M::energy_j>},
    {Exporter::kepler, "kepler_node_cpu_watts", "Power of a zone in W.", gauge, is_zone,
     scaled<&M::power_w>},
    {Exporter::zeus, "energy_monitor_gpu_energy_joules", "Energy of a GPU in J.", counter, is_gpu,
     scaled<&M::energy_j>},
    {Exporter::zeus, "energy_monitor_cpu_energy_joules", "Energy of a package in J.", counter,
     is_kind<DomainKind::package>, scaled<&M::energy_j>},
    {Exporter::zeus, "energy_monitor_dram_energy_joules", "Energy of a package's memory in J.",
     counter, is_kind<DomainKind::dram>, scaled<&M::energy_j>},
    {Exporter::zeus, "power_monitor_gpu_power_watts", "Power of a GPU in W.", gauge, is_gpu,
     scaled<&M::power_w>},
});

/// The labels of an exporter. `number`: of the domain among those of its family. A domain's name
/// stands where these name a file: not every provider has one, and dies of a package differ in
/// nothing else.
std::vector<Label> labels_of(Exporter exporter, const DomainMetrics& metrics, const Domain& domain,
                             std::size_t number, std::string_view host) {
  const DeviceFacts& info = metrics.info;
  switch (exporter) {
    case Exporter::dcgm:
      return {{"gpu", std::to_string(number)},
              {"UUID", printable(info.uuid)},
              {"pci_bus_id", printable(info.pci_address)},
              {"device", fmt::format("nvidia{}", number)},
              {"modelName", printable(info.model)},
              {"Hostname", printable(host)},
              {"DCGM_FI_DRIVER_VERSION", printable(info.driver)}};
    case Exporter::node:
      return {{"index", std::to_string(domain.index())}, {"path", printable(metrics.domain)}};
    case Exporter::kepler:
      return {{"zone", std::string(domain.kind_name())},
              {"path", printable(metrics.domain)},
              {"node_name", printable(host)}};
    case Exporter::zeus:
      return {{"window", "wattled"}, {"index", std::to_string(number)}};
  }
  return {};
}

}  // namespace

std::vector<MetricFamily> compat_families(Exporter exporter, std::span<const DomainMetrics> domains,
                                          std::string_view host) {
  std::vector<MetricFamily> families;
  for (const Alias& alias : kAliases) {
    if (alias.exporter != exporter) continue;
    MetricFamily family{.name = alias.name, .help = alias.help, .kind = alias.kind};
    std::size_t number = 0;
    for (const DomainMetrics& metrics : domains) {
      const Domain domain = Domain::parse(metrics.domain);
      if (!alias.is_of(domain)) continue;
      std::vector<Label> labels = labels_of(exporter, metrics, domain, number++, host);
      const std::optional<double> value = alias.value_of(metrics);
      if (!value) continue;
      family.samples.push_back({.labels = without_empty(std::move(labels)), .value = *value});
    }
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace wattle::daemon
