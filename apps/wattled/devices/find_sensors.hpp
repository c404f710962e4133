// Which sensors the daemon serves.
#pragma once

#include "sensors/sensor.hpp"
#include "serve/options.hpp"
#include "serve/service.hpp"
#include "wattle/system.hpp"

namespace wattle::daemon {

/// Finds the sensors of these kinds, without GPUs of other vendors than `backend` names. Blocks for
/// as long as the drivers do. Threads: any.
[[nodiscard]] Survey find_sensors(const System& system, GpuBackend backend, DomainKinds kinds);

/// The kinds that a driver loaded later could show: see `DeviceSearch`.
[[nodiscard]] DomainKinds missing_kinds(const Service& service, GpuBackend backend);

/// Logs what is not served, and why.
void log_refusals(const Survey& found);

}  // namespace wattle::daemon
