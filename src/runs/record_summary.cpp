#include "base/quantity.hpp"
#include "base/text.hpp"
#include "runs/history.hpp"

namespace wattle {
RunSummary summary_of(const RunRecord& record) {
  const std::optional<Seconds> cpu = record.cpu();
  return {.id = {},
          .started_unix_s = record.started_unix_s,
          .wall_s = record.wall.count(),
          .command = shell_line(record.command),
          .host = record.host.name,
          .exit_code = record.exit.code,
          .signal = record.exit.signal,
          .energy_j = si(record.energy.total),
          .energy_uncertainty_j = si(record.energy.uncertainty),
          .energy_is_lower_bound =
              record.energy.total ? std::optional(record.energy.is_lower_bound()) : std::nullopt,
          .cpu_s = cpu ? std::optional(cpu->count()) : std::nullopt,
          .peak_rss_bytes = record.peak_rss_bytes};
}

}  // namespace wattle
