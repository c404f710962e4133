#include "stream/stream_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "output/energy_words.hpp"
#include "sampling/energy_sum.hpp"

namespace wattle::app {
namespace {

bool is_reached(const ConnectionState& state) {
  return state.status == ConnectionStatus::live || state.status == ConnectionStatus::off ||
         state.status == ConnectionStatus::denied;
}

/// Counts a server that cannot be reached, whose devices are unknown. Devices that it denies have a
/// row of their own.
void count_unreached(const StreamedServer& server, StreamSum& sum) {
  if (server.devices.empty()) {
    if (!troubles_of(server).empty()) ++sum.servers_missing;
    return;
  }
  const bool has_gpu = std::ranges::any_of(server.devices, &StreamedDevice::is_gpu);
  const bool has_cpu = !std::ranges::all_of(server.devices, &StreamedDevice::is_gpu);
  const bool lacks_gpus = !has_gpu && !is_reached(server.gpu);
  const bool lacks_cpus = !has_cpu && !is_reached(server.cpu);
  if (lacks_gpus || lacks_cpus) ++sum.servers_partial;
}

}  // namespace

bool StreamSum::is_power_lower_bound() const noexcept {
  return powers_missing + servers_missing + servers_partial > 0;
}

bool StreamSum::is_energy_lower_bound() const noexcept {
  return energies_missing + servers_missing + servers_partial > 0 || is_shown(energy.unknown);
}

StreamSum sum_of(std::span<const StreamedServer> servers, Seconds elapsed) {
  StreamSum sum;
  EnergySum energy(Seconds(0));  // of what is known alone
  MeanPowerSum mean;
  for (const StreamedServer& server : servers) {
    count_unreached(server, sum);
    for (const StreamedDevice& device : server.devices) {
      if (!device.counts) continue;
      const bool has_power = device.power_w && is_live(server, device);
      if (!has_power) ++sum.powers_missing;
      if (has_power) sum.power_w = sum.power_w.value_or(0.0) + *device.power_w;
      const bool has_energy = device.energy && device.energy->energy;
      if (!has_energy) {
        ++sum.energies_missing;
        continue;
      }
      energy.add(*device.energy);
      mean.add(*device.energy, elapsed);
    }
  }
  sum.energy = energy.result();
  sum.mean = mean.result();
  return sum;
}

bool is_live(const StreamedServer& server, const StreamedDevice& device) {
  return (device.is_gpu ? server.gpu : server.cpu).status == ConnectionStatus::live;
}

std::string missing_text(const StreamSum& sum, std::size_t devices) {
  std::string text;
  const auto add = [&](std::string_view part, std::size_t count, std::string_view what) {
    if (count == 0) return;
    text += fmt::format("{}{}{} {}{}", text.empty() ? "excludes " : ", ", part, count, what,
                        count == 1 ? "" : "s");
  };
  add("", devices, "device");
  add("", sum.servers_missing, "server");
  add("part of ", sum.servers_partial, "server");
  return text;
}

}  // namespace wattle::app
