// Maps sensors to devices of the protocol.
#include <algorithm>
#include <map>
#include <utility>

#include "sampling/shared_sensor.hpp"
#include "sensors/gpu_selection.hpp"
#include "service.hpp"

namespace wattle::daemon {
namespace {

Gpus::Gpu gpu_of(std::unique_ptr<Sensor> sensor, std::uint32_t number) {
  Gpus::Gpu gpu{.entry = {.id = number}, .sensor = {}};
  if (const DeviceInfo* const info = sensor->device()) {
    gpu.entry.name = info->model;
    gpu.entry.pci_address = info->pci_address;
  }
  gpu.entry.cumulative_energy_available =
      std::ranges::any_of(sensor->channels(), &Channel::counts_energy);
  gpu.sensor = std::move(sensor);
  return gpu;
}

/// Numbers CPUs as the kernel's powercap does: by package, or in sequence if packages have several
/// dies.
std::vector<Cpus::Cpu> cpus_of(const std::vector<std::unique_ptr<Sensor>>& sensors) {
  std::map<Domain, Cpus::Place> counters;
  for (std::size_t number = 0; number < sensors.size(); ++number) {
    const auto channels = sensors[number]->channels();
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].counts_energy()) counters.try_emplace(channels[i].domain, number, i);
    }
  }
  const bool has_dies = std::ranges::any_of(
      counters, [](const auto& entry) { return entry.first.die().has_value(); });
  std::vector<Cpus::Cpu> cpus;
  for (const auto& [domain, place] : counters) {
    if (domain.kind() != DomainKind::package) continue;
    const auto ordinal = static_cast<wire::DeviceId>(cpus.size());
    Cpus::Cpu cpu{.id = has_dies ? ordinal : domain.index(), .cpu = place};
    const auto dram = counters.find(domain.as(DomainKind::dram));
    if (dram != counters.end()) cpu.dram = dram->second;
    cpus.push_back(cpu);
  }
  return cpus;
}

bool has(const std::vector<Scope>& enabled, Scope scope) {
  return std::ranges::find(enabled, scope) != enabled.end();
}

}  // namespace

Inventory take_inventory(Survey found, const std::vector<Scope>& enabled) {
  const bool has_gpus = has(enabled, Scope::gpu_read) || has(enabled, Scope::gpu_control);
  const bool has_cpus = has(enabled, Scope::cpu_read);
  const std::map<Domain, std::uint32_t> numbers = gpu_numbers(found_gpus(found));
  Inventory inventory;
  for (std::unique_ptr<Sensor>& sensor : found.sensors) {
    const bool gpu = is_gpu(*sensor);
    if (!(gpu ? has_gpus : has_cpus)) continue;
    std::ranges::copy(sensor->channels(), std::back_inserter(inventory.channels));
    if (gpu) {
      const std::uint32_t number = numbers.at(gpu_domain_of(*sensor));
      inventory.gpus.push_back(gpu_of(std::move(sensor), number));
    } else {
      inventory.cpu_sensors.push_back(std::move(sensor));
    }
  }
  inventory.cpus = cpus_of(inventory.cpu_sensors);
  for (SensorRefusal& refusal : found.refused) {
    const bool matters = refusal.shows.has(DomainCategory::cpu) ? has_cpus : has_gpus;
    if (matters) inventory.refused.push_back(std::move(refusal));
  }
  return inventory;
}

std::unique_ptr<EnergyHistory> start_energy_history(Inventory& inventory,
                                                    const std::vector<Scope>& enabled,
                                                    const EnergyHistoryOptions& options, Loop& loop,
                                                    const Clock& clock) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  for (std::unique_ptr<Sensor>& sensor : inventory.cpu_sensors) {
    auto shared = std::make_unique<SharedSensor>(std::move(sensor), clock);
    sensors.push_back(std::make_unique<SharedSensor>(*shared, std::chrono::nanoseconds(0)));
    sensor = std::move(shared);
  }
  const bool reads_gpus = has(enabled, Scope::gpu_read);
  if (reads_gpus) {
    for (Gpus::Gpu& gpu : inventory.gpus) {
      const auto shared = std::make_shared<SharedSensor>(std::move(gpu.sensor), clock);
      sensors.push_back(std::make_unique<SharedSensor>(*shared, EnergyHistory::kPeriod));
      gpu.paced = std::make_shared<SharedSensor>(*shared, options.gpu_period);
      gpu.sensor = shared;
    }
  }
  auto history = std::make_unique<EnergyHistory>(std::move(sensors), loop, clock, options.kept);
  for (Gpus::Gpu& gpu : inventory.gpus) {
    if (reads_gpus) gpu.thread = history->thread_of(gpu.sensor->channels().front().domain);
  }
  return history;
}

}  // namespace wattle::daemon
