// The shares of groups of processes in the measured energy, for scrapes and pages.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "api/metrics_text.hpp"
#include "api/routes.hpp"
#include "shares/shared_energy.hpp"

namespace wattle::daemon {

[[nodiscard]] std::span<const Route> share_routes() noexcept;

/// Not those of exact energies for a caller who sees CPU energy rounded.
[[nodiscard]] bool may_see_shares(const SharedEnergy& shares, const Request& request) noexcept;

/// Adds what scrapes show.
void add_share_families(const SharedEnergy& shares, std::vector<MetricFamily>& families);

/// `wattled.shares/1`. docs/daemon.md describes it.
[[nodiscard]] std::string shares_json(const SharedEnergy& shares);

}  // namespace wattle::daemon
