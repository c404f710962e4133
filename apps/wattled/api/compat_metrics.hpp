// The values of /metrics under the names of other exporters, so that their dashboards show them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/metrics.hpp"
#include "api/metrics_text.hpp"

namespace wattle::daemon {

/// An exporter whose names are served, too.
enum class Exporter : std::uint8_t {
  dcgm,    ///< NVIDIA's dcgm-exporter, before 4.9, which changed names and units
  node,    ///< Prometheus' node_exporter: its collector `rapl`
  kepler,  ///< Kepler 0.10 and later: the metrics of nodes
  zeus,    ///< what `zeus.metric` pushes, with the window `wattled`
};

/// The known values of `domains` under the names, units and labels of `exporter`. `host`: the name
/// of this machine; empty: not known. Threads: any.
[[nodiscard]] std::vector<MetricFamily> compat_families(Exporter exporter,
                                                        std::span<const DomainMetrics> domains,
                                                        std::string_view host);

}  // namespace wattle::daemon
