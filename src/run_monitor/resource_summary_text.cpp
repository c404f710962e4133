// What a summary says, as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.hpp"
#include "base/split.hpp"
#include "base/text.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/hardware_monitor.hpp"

namespace wattle {
namespace {

std::string shown(const std::optional<double>& figure, std::string_view unit) {
  return figure ? fmt::format("{:.1f} {}", *figure, unit) : "-";
}

std::string energy_text(const GpuFigures& figures) {
  if (!figures.energy) return "-";
  if (!figures.energy_uncertainty) return shown(figures.energy->si(), "J");
  return to_text(*figures.energy, *figures.energy_uncertainty);
}

/// A mean power has no digit that its energy's uncertainty does not support.
std::string power_text(Watts mean, Joules energy, Joules uncertainty) {
  if (energy <= Joules(0)) return to_text(mean);
  return rounded_text(mean, Watts(mean.si() * uncertainty.si() / energy.si()));
}

/// Absent where nothing supports digits.
std::optional<Uncertain> mean_power_of(const GpuFigures& figures) {
  const auto& mean = figures.power_watts_mean;
  if (!mean || !figures.energy || !figures.energy_uncertainty) return std::nullopt;
  if (*figures.energy <= Joules(0)) return Uncertain{*mean};
  return Uncertain{*mean, *mean * (*figures.energy_uncertainty / *figures.energy)};
}

/// `limit`: see `limit_that_adds_up`.
std::string mean_power_text(const GpuFigures& figures, double limit) {
  const auto power = mean_power_of(figures);
  if (!power) return shown(figures.power_watts_mean, "W");
  return rounded_text(Watts(power->value), Watts(std::min(power->uncertainty, limit)));
}

/// A line of the table of GPUs, and how it shows the figures of one.
struct FigureLine {
  const char* label;
  std::string (*text)(const GpuFigures& figures, double power_limit);
};

constexpr std::array<FigureLine, 8> kFigureLines = {{
    {"memory, peak", [](const GpuFigures& it, double) { return shown(it.peak_vram_mb, "MiB"); }},
    {"utilization, mean",
     [](const GpuFigures& it, double) { return shown(it.gpu_util_mean_pct, "%"); }},
    {"utilization, peak",
     [](const GpuFigures& it, double) { return shown(it.gpu_util_max_pct, "%"); }},
    {"memory utilization, mean",
     [](const GpuFigures& it, double) { return shown(it.mem_util_mean_pct, "%"); }},
    {"memory utilization, peak",
     [](const GpuFigures& it, double) { return shown(it.mem_util_max_pct, "%"); }},
    {"power, mean", mean_power_text},
    {"power, peak", [](const GpuFigures& it, double) { return shown(it.power_watts_max, "W"); }},
    {"energy ± (k=2)", [](const GpuFigures& it, double) { return energy_text(it); }},
}};

/// So that the mean powers of the GPUs add up to that of `all`.
double power_limit_of(const ResourceSummary& summary, const GpuFigures& all) {
  std::vector<Uncertain> parts;
  for (const GpuSummary& gpu : summary.gpus) {
    if (const auto power = mean_power_of(gpu)) parts.push_back(*power);
  }
  const auto sum = mean_power_of(all);
  const bool is_complete = sum && !parts.empty() && parts.size() == summary.gpus.size();
  return is_complete ? limit_that_adds_up(*sum, parts) : std::numeric_limits<double>::infinity();
}

/// A column for each GPU and one for all, as many beside each other as there is room for.
std::string gpu_tables(const ResourceSummary& summary, const TextStyle& style) {
  std::vector<std::pair<std::string, const GpuFigures*>> columns;
  columns.reserve(summary.gpus.size() + 1);
  for (const GpuSummary& gpu : summary.gpus) {
    columns.emplace_back("GPU " + printable(gpu.name), &gpu);
  }
  auto all = static_cast<const GpuFigures&>(summary);
  if (!summary.gpus.empty()) all.power_watts_mean = total_mean_power(summary);
  columns.emplace_back("all GPUs", &all);
  const double power_limit = power_limit_of(summary, all);
  constexpr std::size_t kLabelWidth = 24;
  constexpr std::size_t kColumnWidth = 18;  // of energies, with the gap
  std::size_t most = columns.size();
  if (style.width > kLabelWidth)
    most = std::max<std::size_t>(1, (style.width - kLabelWidth) / kColumnWidth);
  std::string text;
  for (std::size_t first = 0; first < columns.size(); first += most) {
    const auto some = std::span(columns).subspan(first, std::min(most, columns.size() - first));
    std::vector<Align> aligns(some.size() + 1, Align::right);
    aligns.front() = Align::left;
    TextTable table(aligns, style, 0);
    std::vector<std::string> cells = {""};
    for (const auto& [name, figures] : some) cells.push_back(name);
    table.add(cells, true);
    for (const FigureLine& line : kFigureLines) {
      cells = {line.label};
      for (const auto& [name, figures] : some) cells.push_back(line.text(*figures, power_limit));
      const bool is_sum = some.back().second == &all && summary.gpus.size() > 1;
      if (is_sum && line.text == mean_power_text && all.power_watts_mean) cells.back() += " (sum)";
      table.add(cells);
    }
    text += table.text() + "\n";
  }
  if (summary.gpus.size() < 2) return text;
  return text + wrapped(
                    "all GPUs: the sum of mean powers and energies, the mean of utilizations, "
                    "the highest peak of one GPU\n\n",
                    style);
}

/// True if anything is known of a GPU.
bool has_gpus(const ResourceSummary& summary) {
  return !summary.gpus.empty() || summary.peak_vram_mb || summary.gpu_util_mean_pct ||
         summary.mem_util_mean_pct || summary.power_watts_mean || summary.energy;
}

std::string bytes_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_to_text(*bytes) : "-";
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

/// What the total lacks: kinds that lack it for one reason share a line.
std::string missing_text(const MachineSummary& machine) {
  std::string text;
  const auto& missing = machine.total_missing;
  for (auto part = missing.begin(); part != missing.end();) {
    std::vector<std::string> kinds;
    const std::string& reason = part->reason;
    for (; part != missing.end() && part->reason == reason; ++part) {
      kinds.push_back((has_part_of(machine, part->kind) ? "not all of " : "no ") +
                      upper(part->kind));
    }
    text += fmt::format("{:<12}  {}: {}\n", "", fmt::join(kinds, ", "), printable(reason));
  }
  return text;
}

/// The total, and what it lacks.
std::string total_text(const MachineSummary& machine) {
  const MeasuredEnergy& energy = machine.energy;
  if (!energy.energy) {
    return fmt::format("{:<12}  unknown\n", "energy") + missing_text(machine);
  }
  const bool is_lower_bound =
      energy.unknown > Seconds(0) ||
      std::ranges::any_of(machine.total_missing, [&](const MissingEnergy& part) {
        return has_part_of(machine, part.kind);
      });
  return fmt::format("{:<12}  {}{} ({}){}\n", "energy", is_lower_bound ? "at least " : "",
                     to_text(*energy.energy, energy.uncertainty),
                     printable(joined(machine.energy_covers, " + ")), remarks(energy.unknown, {})) +
         missing_text(machine);
}

/// A line for each thing that is no GPU.
std::string machine_text(const ResourceSummary& summary) {
  std::string text;
  for (const DomainSummary& domain : summary.domains) {
    const auto& energy = domain.energy;
    const bool has_mean = energy.energy && domain.mean_power;
    text += fmt::format(
        "{:<12}  {}{}{}\n", printable(domain.name),
        energy.energy ? to_text(*energy.energy, energy.uncertainty) : "energy unknown",
        has_mean ? ", " + power_text(*domain.mean_power, *energy.energy, energy.uncertainty) +
                       " on average"
                 : "",
        remarks(energy.unknown, energy.flags));
  }
  const MachineSummary& machine = summary.machine;
  text += total_text(machine);
  if (machine.peak_memory_bytes) {
    text += fmt::format("{:<12}  {} of {} used at most\n", "memory",
                        bytes_text(machine.peak_memory_bytes), bytes_text(machine.memory_bytes));
  }
  if (machine.disk_read_bytes || machine.disk_written_bytes) {
    text +=
        fmt::format("{:<12}  {} read, {} written\n", "disk", bytes_text(machine.disk_read_bytes),
                    bytes_text(machine.disk_written_bytes));
  }
  if (machine.network_received_bytes || machine.network_sent_bytes) {
    text += fmt::format("{:<12}  {} received, {} sent\n", "network",
                        bytes_text(machine.network_received_bytes),
                        bytes_text(machine.network_sent_bytes));
  }
  return text;
}

}  // namespace

std::string ResourceSummary::to_text() const { return summary_text(*this, {}); }

std::string summary_text(const ResourceSummary& summary, const TextStyle& style) {
  constexpr std::size_t kLabelWidth = 14;
  std::string text;
  text += fmt::format("{:<12}  {} user, {} idle on average\n", "CPU",
                      shown(summary.cpu_usr_mean_pct, "%"), shown(summary.cpu_idle_mean_pct, "%"));
  text += machine_text(summary);
  if (summary.jax_peak_bytes_mb) {
    text +=
        fmt::format("{:<12}  {} at most\n", "allocator", shown(summary.jax_peak_bytes_mb, "MiB"));
  }
  if (const std::string said = remarks(summary.energy_unknown, summary.energy_flags);
      !said.empty()) {
    const bool is_bound = summary.energy && summary.energy_unknown > Seconds(0);
    text +=
        fmt::format("{:<12}{}{}\n", "GPU energy", is_bound ? "  at least:" : " ", said.substr(1));
  }
  std::string sources;
  for (const SummaryFile& file : summary.files) {
    sources += fmt::format("{}: {}", printable(file.path.string()), counted(file.rows, "row"));
    if (file.bad_rows > 0) sources += ", " + counted(file.bad_rows, "damaged row") + " skipped";
    if (!file.problem.empty()) sources += ": " + file.problem;
    sources += '\n';
  }
  return (has_gpus(summary) ? gpu_tables(summary, style) : "") + wrapped(text, style, kLabelWidth) +
         wrapped(sources, style);
}

}  // namespace wattle
