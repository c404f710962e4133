#include "devices/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.hpp"
#include "sensors/gpu_selection.hpp"
#include "sensors/providers.hpp"
#include "serve/log.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {
namespace {

Gpus::Gpu gpu_of(std::unique_ptr<Sensor> sensor, std::uint32_t number) {
  Gpus::Gpu gpu{.entry = {.id = number}, .sensor = {}};
  if (const DeviceInfo* const info = sensor->device()) {
    gpu.entry.name = info->model;
    gpu.entry.pci_address = info->pci_address;
  }
  gpu.entry.domain = gpu_domain_of(*sensor).name();
  gpu.entry.cumulative_energy_available =
      std::ranges::any_of(sensor->channels(), &Channel::counts_energy);
  gpu.sensor = std::move(sensor);
  return gpu;
}

using Counters = std::map<Domain, Cpus::ChannelPlace>;

Counters counters_of(const std::vector<std::shared_ptr<Sensor>>& sensors) {
  Counters counters;
  for (std::size_t number = 0; number < sensors.size(); ++number) {
    const auto channels = sensors[number]->channels();
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].counts_energy()) counters.try_emplace(channels[i].domain, number, i);
    }
  }
  return counters;
}

/// Numbers CPUs as zeusd does: by the kernel's zones, whatever provider reads their counters. What
/// has no zone follows: packages in their order, then the platform, as kernels register them. Last
/// come counters of no CPU: cores, integrated GPUs, and memory whose package has no counter.
std::vector<Cpus::Cpu> cpus_of(const Counters& counters, const std::vector<CpuZone>& zones) {
  std::vector<CpuZone> numbered = zones;
  for (const auto& [domain, place] : counters) {
    const bool is_cpu = domain.kind() == DomainKind::package || domain.kind() == DomainKind::psys;
    if (!is_cpu || std::ranges::find(zones, domain, &CpuZone::domain) != zones.end()) continue;
    const std::uint32_t next = numbered.empty() ? 0 : numbered.back().number + 1;
    numbered.push_back({.number = next, .domain = domain});
  }
  std::vector<Cpus::Cpu> cpus;
  for (const CpuZone& zone : numbered) {
    const auto counter = counters.find(zone.domain);
    if (counter == counters.end()) continue;
    Cpus::Cpu cpu{.id = zone.number, .cpu = counter->second};
    const auto dram = counters.find(zone.domain.as(DomainKind::dram));
    const bool has_dram = zone.domain.kind() == DomainKind::package && dram != counters.end();
    if (has_dram) cpu.dram = dram->second;
    cpus.push_back(cpu);
  }
  for (const auto& [domain, place] : counters) {
    const bool is_served = std::ranges::any_of(cpus, [&, place = place](const Cpus::Cpu& cpu) {
      return cpu.cpu == place || cpu.dram == place;
    });
    if (is_served) continue;
    const std::uint32_t next = numbered.empty() ? 0 : numbered.back().number + 1;
    numbered.push_back({.number = next, .domain = domain});
    cpus.push_back({.id = next, .cpu = place, .is_part = true});
  }
  return cpus;
}

bool has(const std::vector<TokenScope>& enabled, TokenScope scope) {
  return std::ranges::find(enabled, scope) != enabled.end();
}

DomainKinds kinds_of(GpuBackend backend) {
  switch (backend) {
    case GpuBackend::nvidia:
      return {DomainKind::nvidia_gpu};
    case GpuBackend::amd:
      return {DomainKind::amd_gpu};
    case GpuBackend::all:
      break;
  }
  return DomainKinds::of({DomainCategory::gpu});
}

}  // namespace

void log_refusals(const Survey& found) {
  for (const SensorRefusal& refusal : found.refused) {
    if (refusal.absent) continue;
    log_warning(fmt::format("{} ({}) is not served: {}{}{}", refusal.subject, refusal.source,
                            refusal.reason,
                            refusal.remedy.empty() ? "" : "; remedy: ", refusal.remedy));
  }
}

Survey find_sensors(const System& system, GpuBackend backend, DomainKinds kinds) {
  Survey found = survey(system, machine_clock(), kinds);
  const DomainKinds wanted = kinds_of(backend);
  std::erase_if(found.sensors, [&](const std::unique_ptr<Sensor>& sensor) {
    return is_gpu(*sensor) && !wanted.contains(gpu_domain_of(*sensor).kind());
  });
  std::erase_if(found.refused, [&](const SensorRefusal& refusal) {
    if (!refusal.shows.has(DomainCategory::gpu)) return false;
    return refusal.domain ? !wanted.contains(refusal.domain->kind())
                          : !wanted.overlaps(refusal.shows);
  });
  return found;
}

DomainKinds kinds_of_backend(DomainKinds missing, GpuBackend backend) {
  DomainKinds unwanted = DomainKinds::of({DomainCategory::gpu});
  unwanted.remove(kinds_of(backend));
  missing.remove(unwanted);
  return missing;
}

Inventory take_inventory(Survey found, const std::vector<TokenScope>& enabled,
                         const std::vector<CpuZone>& zones) {
  const bool has_gpus = has(enabled, TokenScope::gpu_read) || has(enabled, TokenScope::gpu_control);
  const bool has_cpus = has(enabled, TokenScope::cpu_read);
  const std::map<Domain, std::uint32_t> numbers = gpu_numbers(found_gpus(found));
  Inventory inventory;
  for (std::unique_ptr<Sensor>& sensor : found.sensors) {
    const bool gpu = is_gpu(*sensor);
    if (!(gpu ? has_gpus : has_cpus)) continue;  // meters overlap CPUs, and show what these do
    std::ranges::copy(sensor->channels(), std::back_inserter(inventory.channels));
    if (gpu) {
      const std::uint32_t number = numbers.at(gpu_domain_of(*sensor));
      inventory.gpus.push_back(gpu_of(std::move(sensor), number));
    } else if (sensor->channels().front().domain.category() == DomainCategory::other) {
      const auto number = static_cast<wire::DeviceId>(inventory.others.size());
      inventory.others.push_back({.entry = {.id = number}, .sensor = std::move(sensor)});
    } else {
      inventory.cpu_sensors.push_back(std::move(sensor));
    }
  }
  inventory.cpus = cpus_of(counters_of(inventory.cpu_sensors), zones);
  for (SensorRefusal& refusal : found.refused) {
    const bool matters = refusal.shows.has(DomainCategory::gpu) ? has_gpus : has_cpus;
    if (matters) inventory.refused.push_back(std::move(refusal));
  }
  return inventory;
}

void add_to_history(EnergyHistory& history, Inventory& inventory,
                    const std::vector<TokenScope>& enabled, std::chrono::nanoseconds streamed) {
  if (!has(enabled, TokenScope::gpu_read)) return;
  for (Gpus::Gpu& gpu : inventory.gpus) {
    gpu.readings = history.add(gpu.sensor);
    gpu.streamed_age = streamed / 2;
  }
}

std::unique_ptr<EnergyHistory> start_energy_history(Inventory& inventory,
                                                    const std::vector<TokenScope>& enabled,
                                                    const EnergyHistoryOptions& options, Loop& loop,
                                                    const TimeSource& clock) {
  auto history = std::make_unique<EnergyHistory>(inventory.cpu_sensors, loop, clock, options.kept);
  add_to_history(*history, inventory, enabled, options.gpu_period);
  return history;
}

void follow_devices(Inventory& inventory, const std::vector<TokenScope>& enabled,
                    std::chrono::nanoseconds streamed, const TimeSource& clock) {
  const auto follow = [&](Gpus::Gpu& device) {
    if (!device.readings) device.readings = EnergyTotals::reader_of(device.sensor, clock);
    device.streamed_age = streamed / 2;
    inventory.followed.push_back(device.readings);
  };
  for (Gpus::Gpu& gpu : inventory.gpus) {
    const bool has_counter = gpu.entry.cumulative_energy_available == true;
    if (has(enabled, TokenScope::gpu_read) && !has_counter) follow(gpu);
  }
  for (Gpus::Gpu& other : inventory.others) follow(other);
}

}  // namespace wattle::daemon
