// Why powercap gives no energy, or not all of it: cause, proof, remedy, risk.
#pragma once

#include <string>
#include <string_view>

#include "sensors/cpu_info.hpp"
#include "sensors/sensor.hpp"

namespace wattle::powercap {

/// For when no zone is to be seen under `system.sysfs`. `dangling`: links to zones are there, but
/// lead nowhere.
[[nodiscard]] Refusal no_zones(const System& system, const CpuInfo& cpu, bool dangling);

/// For a counter whose file could not be opened or read; `error` is the `errno`.
[[nodiscard]] Refusal unreadable(const Domain& domain, const std::string& path, int error,
                                 const System& system);

/// True if a file system is mounted at `path` itself, by the text of /proc/self/mountinfo.
[[nodiscard]] bool is_mount_point(std::string_view mountinfo, std::string_view path) noexcept;

/// True if the module is listed in the text of /proc/modules.
[[nodiscard]] bool is_loaded(std::string_view modules, std::string_view name) noexcept;

}  // namespace wattle::powercap
