// Why perf gives no energy, or not all of it: cause, proof, remedy, risk.
#pragma once

#include <string>
#include <string_view>

#include "sensors/sensor.hpp"

namespace wattle::perf {

/// For when `folder`, the PMU's, does not exist.
[[nodiscard]] SensorRefusal no_pmu(const std::string& folder);

/// For a virtual machine, by `proof`, that shows the counter of the platform alone, in `events`.
[[nodiscard]] SensorRefusal virtual_platform(const std::string& events, const std::string& proof);

/// For an event of `domain` that could not be opened; `error` is the `errno`. `as_root`: this
/// process is root, if only of its container.
[[nodiscard]] SensorRefusal not_opened(const Domain& domain, int error, const System& system,
                                       bool as_root);

/// True if the release, "5.4.0-generic", is that of a kernel that knows CAP_PERFMON (from 5.8 on),
/// or is no release at all.
[[nodiscard]] bool knows_cap_perfmon(std::string_view release) noexcept;

/// True if the text of /proc/self/status says that system calls are filtered.
[[nodiscard]] bool is_filtered(std::string_view status) noexcept;

}  // namespace wattle::perf
