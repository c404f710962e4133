#include "report/share.hpp"

#include <algorithm>
#include <string_view>

#include "sensors/domain_traits.hpp"

namespace wattle {

bool is_shared(const Domain& domain) noexcept {
  const std::string_view kind = traits_of(domain).in_total;
  return kind == "cpu" || kind == "dram";
}

std::optional<Joules> shared_energy(const MeasuredWindow& window,
                                    const std::vector<std::string>& names, TimePoint from,
                                    TimePoint to) {
  Joules energy;
  std::size_t found = 0;
  for (const MeasuredWindow::Result& result : window.results(from, to)) {
    if (std::ranges::count(names, result.channel.domain.name()) == 0) continue;
    if (!result.figure.energy || result.figure.unknown > Seconds(0)) return std::nullopt;
    energy += *result.figure.energy;
    ++found;
  }
  return found == names.size() ? std::optional(energy) : std::nullopt;
}

GpuShare gpu_share(const GpuUsage& usage, Joules measured) {
  GpuShare share{.domain = usage.domain,
                 .measured = measured,
                 .command = {.low = Joules(0.0), .typical = Joules(0.0), .high = measured},
                 .basis = {}};
  if (!usage.used_by_command) {
    share.basis = usage.used_by_command_unknown;
  } else if (!*usage.used_by_command) {
    share.is_known = true;
    share.command.high = Joules(0.0);
    share.basis = "the command did not use it";
  } else if (usage.used_by_others == false) {
    share.is_known = true;
    share.command = {.low = measured, .typical = measured, .high = measured};
    share.basis = "only the command used it";
  } else {
    share.basis = "others used it too";
  }
  return share;
}

}  // namespace wattle
