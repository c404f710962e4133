// The devices that the daemon serves: found, and numbered as in the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "auth/token.hpp"
#include "devices/cpus.hpp"
#include "devices/gpus.hpp"
#include "sensors/cpu_zones.hpp"
#include "sensors/sensor.hpp"
#include "wattle/system.hpp"

namespace wattle::daemon {

/// The vendors whose GPUs are served.
enum class GpuBackend : std::uint8_t { all, nvidia, amd };

/// Finds the sensors of these kinds, without GPUs of other vendors than `backend` names. Blocks
/// for as long as the drivers do. Threads: any.
[[nodiscard]] Survey find_sensors(const System& system, GpuBackend backend, DomainKinds kinds);

/// The `missing` kinds that GPUs of `backend`, and devices that are no GPUs, can show.
[[nodiscard]] DomainKinds kinds_of_backend(DomainKinds missing, GpuBackend backend);

/// Logs what is not served, and why.
void log_refusals(const Survey& found);

/// The devices that were found, for the service to take over.
struct Inventory {
  std::vector<Gpus::Gpu> gpus;
  /// Meters, rails and batteries, which only scrapes show; numbered as they come.
  std::vector<Gpus::Gpu> others;
  std::vector<std::shared_ptr<Sensor>> cpu_sensors;
  std::vector<Cpus::Cpu> cpus;
  std::string cpu_model{};  ///< empty: not known
  std::vector<SensorRefusal> refused;
  std::vector<Channel> channels;                      ///< of all sensors, for /api/v1/sensors
  std::vector<std::shared_ptr<Readings>> followed{};  ///< see `follow_devices`
};
/// The devices of the enabled groups. `zones`: the numbers of CPUs, if the kernel shows them.
[[nodiscard]] Inventory take_inventory(Survey found, const std::vector<TokenScope>& enabled,
                                       const std::vector<CpuZone>& zones);

}  // namespace wattle::daemon
