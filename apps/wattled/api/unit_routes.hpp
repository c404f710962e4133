// The routes that start and end units of work, and show their energy.
#pragma once

#include <optional>
#include <span>

#include "api/metrics.hpp"
#include "api/routes.hpp"

namespace wattle::daemon {

[[nodiscard]] std::span<const Route> unit_routes() noexcept;

/// Absent: no unit has started.
[[nodiscard]] std::optional<UnitMetrics> unit_metrics(Service& service);

}  // namespace wattle::daemon
