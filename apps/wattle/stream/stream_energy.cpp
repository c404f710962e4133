#include "stream/stream_energy.hpp"

#include <cstdint>
#include <utility>

namespace wattle::app {
namespace {

using DeviceEnergies = std::map<std::uint32_t, MeasuredEnergy>;

void add_one(const MeasuredEnergy& more, MeasuredEnergy& sum) {
  if (more.energy) {
    UncertaintySum errors;
    errors.add(sum.uncertainty, sum.common);
    errors.add(more.uncertainty, more.common);
    sum.energy = sum.energy.value_or(Joules(0)) + *more.energy;
    sum.uncertainty = errors.uncertainty();
    sum.common = errors.common();
  }
  sum.unknown += more.unknown;
  sum.flags |= more.flags;
}

void add_devices(const DeviceEnergies& more, DeviceEnergies& sum) {
  for (const auto& [index, energy] : more) add_one(energy, sum[index]);
}

}  // namespace

void add(const Energies& more, Energies& sum) {
  for (const auto& [endpoint, energy] : more) {
    ServerEnergy& server = sum[endpoint];
    add_devices(energy.gpus, server.gpus);
    add_devices(energy.cpus, server.cpus);
    add_devices(energy.drams, server.drams);
  }
}

Energies RunningEnergy::until(TimePoint now) {
  Energies all = settled_;
  add(stream_.energy(anchor_, now), all);
  if (must_settle(now)) {
    settled_ = all;
    anchor_ = now;
  }
  return all;
}

}  // namespace wattle::app
