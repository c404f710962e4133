// A summary as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/text/facts_text.hpp"
#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "run_monitor/gpu_figures_text.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {

std::string shown(const std::optional<double>& figure, std::string_view unit) {
  return figure ? fmt::format("{:.1f} {}", *figure, unit) : std::string(kUnknown);
}

std::string power_text(Watts mean, Joules energy, Joules uncertainty) {
  if (energy <= Joules(0)) return to_text(mean);
  return mean_power_text({.value = mean.si(), .uncertainty = mean.si() * (uncertainty / energy)});
}

/// True if anything is known of a GPU.
bool has_gpus(const ResourceSummary& summary) {
  return !summary.gpus.empty() || summary.peak_vram_mb || summary.gpu_util_mean_pct ||
         summary.mem_util_mean_pct || summary.power_watts_mean || summary.energy;
}

std::string bytes_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_to_text(*bytes) : std::string(kUnknown);
}

/// The text after the number of an energy.
std::string remarks(Seconds unknown, const Flags& flags) {
  std::vector<std::string> parts;
  if (unknown > Seconds(0)) parts.push_back(fmt::format("{} unknown", to_text(unknown)));
  flags.each([&](std::string_view name) { parts.emplace_back(name); });
  return parts.empty() ? "" : fmt::format("  {}", fmt::join(parts, ", "));
}

/// True if a part of the kind is in the total.
bool has_part_of(const MachineSummary& machine, std::string_view kind) {
  return std::ranges::any_of(machine.energy_covers, [&](std::string_view name) {
    if (kind == "cpu") return name.starts_with("package");
    return kind == "dram" ? name.starts_with("dram") : name.find("_gpu_") != std::string_view::npos;
  });
}

using Facts = std::vector<std::pair<std::string, std::string>>;

/// The kinds that the total lacks: one line for each reason.
void add_missing(Facts& facts, const MachineSummary& machine) {
  const auto& missing = machine.total_missing;
  for (auto part = missing.begin(); part != missing.end();) {
    std::vector<std::string> kinds;
    const std::string& reason = part->reason;
    for (; part != missing.end() && part->reason == reason; ++part) {
      kinds.push_back((has_part_of(machine, part->kind) ? "not all of " : "no ") +
                      upper(part->kind));
    }
    facts.emplace_back("", fmt::format("{}: {}", fmt::join(kinds, ", "), printable(reason)));
  }
}

/// The total, and what it lacks.
void add_total(Facts& facts, const MachineSummary& machine) {
  const MeasuredEnergy& energy = machine.energy;
  if (!energy.energy) {
    facts.emplace_back("energy", kUnknown);
    return add_missing(facts, machine);
  }
  const bool is_lower_bound =
      energy.unknown > Seconds(0) ||
      std::ranges::any_of(machine.total_missing, [&](const MissingEnergy& part) {
        return has_part_of(machine, part.kind);
      });
  facts.emplace_back("energy",
                     fmt::format("{}{} ({}){}", is_lower_bound ? kAtLeast : std::string_view(),
                                 to_text(*energy.energy, energy.uncertainty),
                                 printable(joined(machine.energy_covers, " + ")),
                                 remarks(energy.unknown, doubts_of(energy.flags))));
  add_missing(facts, machine);
}

/// A line for each thing that is no GPU.
void add_machine(Facts& facts, const ResourceSummary& summary) {
  for (const DomainSummary& domain : summary.domains) {
    const auto& energy = domain.energy;
    const bool has_mean = energy.energy && domain.mean_power;
    facts.emplace_back(
        printable(domain.name),
        fmt::format(
            "{}{}{}",
            energy.energy ? to_text(*energy.energy, energy.uncertainty) : "energy unknown",
            has_mean ? ", " + power_text(*domain.mean_power, *energy.energy, energy.uncertainty) +
                           " on average"
                     : "",
            remarks(energy.unknown, energy.flags)));
  }
  const MachineSummary& machine = summary.machine;
  add_total(facts, machine);
  if (machine.peak_memory_bytes) {
    facts.emplace_back("memory",
                       fmt::format("{}{} used at most", bytes_text(machine.peak_memory_bytes),
                                   machine.memory_bytes ? " of " + bytes_text(machine.memory_bytes)
                                                        : std::string()));
  }
  if (machine.disk_read_bytes || machine.disk_written_bytes) {
    facts.emplace_back("disk",
                       fmt::format("{} read, {} written", bytes_text(machine.disk_read_bytes),
                                   bytes_text(machine.disk_written_bytes)));
  }
  if (machine.network_received_bytes || machine.network_sent_bytes) {
    facts.emplace_back(
        "network", fmt::format("{} received, {} sent", bytes_text(machine.network_received_bytes),
                               bytes_text(machine.network_sent_bytes)));
  }
}

/// The figures that are of no one GPU.
Facts facts_of(const ResourceSummary& summary) {
  Facts facts;
  const bool has_cpu = summary.cpu_usr_mean_pct || summary.cpu_idle_mean_pct;
  facts.emplace_back("CPU", has_cpu ? fmt::format("{} user, {} idle on average",
                                                  shown(summary.cpu_usr_mean_pct, "%"),
                                                  shown(summary.cpu_idle_mean_pct, "%"))
                                    : std::string(kUnknown));
  add_machine(facts, summary);
  if (summary.jax_peak_bytes_mb) {
    facts.emplace_back("allocator",
                       fmt::format("{} at most", shown(summary.jax_peak_bytes_mb, "MiB")));
  }
  if (const std::string said = remarks(summary.energy_unknown, summary.energy_flags);
      !said.empty()) {
    const bool is_bound = summary.energy && summary.energy_unknown > Seconds(0);
    facts.emplace_back("GPU energy", (is_bound ? "at least:" : "") + said.substr(is_bound ? 1 : 2));
  }
  return facts;
}

}  // namespace

bool has_figures(const ResourceSummary& summary) noexcept {
  const auto has_any = [](const GpuFigures& it) {
    return it.peak_vram_mb || it.gpu_util_mean_pct || it.mem_util_mean_pct || it.power_watts_mean ||
           it.energy;
  };
  const MachineSummary& machine = summary.machine;
  return has_any(summary) || std::ranges::any_of(summary.gpus, has_any) ||
         summary.cpu_usr_mean_pct || summary.cpu_idle_mean_pct || !summary.domains.empty() ||
         machine.energy.energy || machine.peak_memory_bytes || machine.memory_bytes ||
         machine.disk_read_bytes || machine.network_received_bytes;
}

std::string ResourceSummary::to_text() const { return summary_text(*this, {}); }

std::ostream& operator<<(std::ostream& out, const ResourceSummary& summary) {
  return out << summary.to_text();
}

std::string summary_text(const ResourceSummary& summary, const TextStyle& style) {
  std::string sources;
  for (const SummaryFile& file : summary.files) {
    sources += fmt::format("{}: {}", printable(file.path.string()), counted(file.rows, "row"));
    if (file.bad_rows > 0) sources += ", " + counted(file.bad_rows, "damaged row") + " skipped";
    if (file.unassigned_rows > 0) {
      sources += ", " + counted(file.unassigned_rows, "row") + " of an unknown GPU";
    }
    if (file.gpus_by.starts_with("order")) sources += " (GPUs by " + file.gpus_by + ")";
    for (const std::string* words : {&file.problem, &file.note}) {
      if (!words->empty()) sources += ": " + *words;
    }
    sources += '\n';
  }
  return (has_gpus(summary) ? gpu_figures_text(summary, style) : "") +
         facts_text(facts_of(summary), style) + wrapped(sources, style);
}

}  // namespace wattle
