// The routes that start and end units of work, and show their energy.
#pragma once

#include <optional>
#include <span>

#include "api/metrics.hpp"
#include "api/routes.hpp"

namespace wattle::daemon {

[[nodiscard]] std::span<const Route> unit_routes() noexcept;

/// Not without a token over TCP, where CPU energy is rounded and anybody may ask.
[[nodiscard]] bool may_see_units(const Service& service, const Request& request) noexcept;

/// Absent: no unit has started.
[[nodiscard]] std::optional<UnitMetrics> unit_metrics(Service& service);

}  // namespace wattle::daemon
