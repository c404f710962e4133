// The table of hardware interfaces. A new one is one folder and one line in providers.cpp.
#pragma once

#include <span>

#include "sensors/sensor.hpp"

namespace wattle {

[[nodiscard]] std::span<const Provider> providers() noexcept;

/// Probes every provider.
[[nodiscard]] Survey survey(const System& system, const Clock& clock);

}  // namespace wattle
