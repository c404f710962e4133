// Why powercap gives no energy, or not all of it: cause, proof, remedy, risk.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sensors/cpu_info.hpp"
#include "sensors/sensor.hpp"

namespace wattle::powercap {

/// For when no zone is to be seen under `system.sysfs`. `dangling`: links to zones are there, but
/// lead nowhere.
[[nodiscard]] SensorRefusal no_zones(const System& system, const CpuInfo& cpu, bool dangling);

/// For when the folder of the zones could not be listed; `error` is the `errno`. `hidden`: what it
/// may hold beyond the zones that were listed before; empty if none was.
[[nodiscard]] SensorRefusal not_listed(const std::string& folder, int error,
                                       std::vector<DomainKind> hidden);

/// For a counter whose file could not be opened or read; `error` is the `errno`.
[[nodiscard]] SensorRefusal unreadable(const Domain& domain, const std::string& path, int error,
                                       const System& system);

/// True if a file system is mounted at `path` itself, by the text of /proc/self/mountinfo.
[[nodiscard]] bool is_mount_point(std::string_view mountinfo, std::string_view path) noexcept;

/// True if the module is listed in the text of /proc/modules.
[[nodiscard]] bool is_loaded(std::string_view modules, std::string_view name) noexcept;

}  // namespace wattle::powercap
