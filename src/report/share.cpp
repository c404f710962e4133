#include "report/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text/quantity.hpp"
#include "sampling/counters/counter.hpp"
#include "sampling/energy_sum.hpp"
#include "sensors/domain_traits.hpp"

namespace wattle {

bool is_shared(const Domain& domain) noexcept {
  const std::string_view kind = traits_of(domain).in_total;
  return kind == "cpu" || kind == "dram";
}

std::set<std::string> shared_domains(const MeasuredWindow& window) {
  std::set<std::string> names;
  for (const Domain& domain : window.readings().domains()) {
    if (is_shared(domain)) names.insert(domain.name());
  }
  return names;
}

std::optional<MeasuredEnergy> shared_energy(const MeasuredWindow& window,
                                            const std::vector<std::string>& names, TimePoint from,
                                            TimePoint to) {
  EnergySum energy(to - from);
  std::size_t found = 0;
  for (const DomainFigure& result : window.figures_within(from, to)) {
    if (std::ranges::count(names, result.domain.name()) == 0) continue;
    if (!result.figure.energy || result.figure.unknown > Seconds(0)) return std::nullopt;
    energy.add(result.figure.measured());
    ++found;
  }
  const bool is_known = found > 0 && found == names.size();
  return is_known ? std::optional(energy.result()) : std::nullopt;
}

std::string why_not_shared(const MeasuredWindow& window, const std::vector<std::string>& names,
                           TimePoint from, TimePoint to) {
  for (const DomainFigure& result : window.figures_within(from, to)) {
    const std::string name = result.domain.name();
    if (std::ranges::count(names, name) == 0) continue;
    if (result.figure.flags.has(Flag::stuck)) return fmt::format("{}: {}", name, kCounterStuck);
    if (!result.figure.energy || result.figure.unknown > Seconds(0)) {
      return name + ": it could not be read all the time";
    }
  }
  return "a counter could not be read all the time";
}

namespace {

/// Fills what a GPU spent for the command beside others, by the time that its engines worked for
/// each. As with CPUs, a second of that time draws more or less power than another, and what may
/// be idle power is the command's or not.
void divide(GpuShare& share, Seconds own, Seconds others, const GpuPower& power) {
  const auto part = part_of(own, others, power.wall);
  if (!part) return;
  const Joules idle =
      power.lowest ? std::min(*power.lowest * power.wall, share.measured) : share.measured;
  share.is_known = true;
  share.command = {.low = (share.measured - idle) * part->low,
                   .typical = (share.measured - idle / 2.0) * part->typical,
                   .high = share.measured * part->high};
  share.basis = fmt::format("its engines worked {} for the command and {} for others", to_text(own),
                            to_text(others));
  // In step with the driver's moments one process gets all of them (docs/sensors/nvml.md).
  if (traits_of(share.domain).samples_processes) {
    share.command.low = Joules(0.0);
    share.command.high = share.measured;
    share.basis += "; the driver counts every moment for one process alone";
  }
}

}  // namespace

GpuShare gpu_share(const GpuUsage& usage, const MeasuredEnergy& measured, const GpuPower& power) {
  const Joules energy = measured.energy.value_or(Joules(0.0));
  GpuShare share{.domain = usage.domain,
                 .measured = energy,
                 .uncertainty = with_two_digits(measured.uncertainty),
                 .flags = measured.flags,
                 .command = {.low = Joules(0.0), .typical = Joules(0.0), .high = energy},
                 .basis = {}};
  if (!usage.used_by_command) {
    share.basis = usage.used_by_command_unknown;
  } else if (!*usage.used_by_command) {
    share.is_known = true;
    share.command.high = Joules(0.0);
    share.basis = "not used by the command";
  } else if (usage.used_by_others == false) {
    share.is_known = true;
    share.command = {.low = energy, .typical = energy, .high = energy};
    share.basis = "used by the command alone";
  } else if (!usage.used_by_others) {
    share.basis = usage.used_by_others_unknown;
  } else {
    share.basis = "used by others too, and the driver does not report for how long";
    if (usage.command_engine_time && usage.others_engine_time) {
      divide(share, *usage.command_engine_time, *usage.others_engine_time, power);
    }
  }
  return share;
}

}  // namespace wattle
