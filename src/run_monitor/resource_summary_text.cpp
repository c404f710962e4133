// What a summary says, as JSON and as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/python_repr.hpp"
#include "base/quantity.hpp"
#include "base/split.hpp"
#include "base/text.hpp"
#include "run_monitor/json_text.hpp"
#include "run_monitor/resource_summary.hpp"
#include "wattle/error.hpp"
#include "wattle/hardware_monitor.hpp"
#include "wattle/run_log.hpp"

namespace wattle {
namespace {

constexpr double kMebibyteBytes = 1048576.0;

Value number(const std::optional<double>& figure) { return figure ? Value(*figure) : Value(); }
Value one_decimal(const std::optional<double>& figure) {
  return figure ? Value(python_round(*figure, 1)) : Value();
}
Value bytes(const std::optional<double>& mebibytes) {
  if (!mebibytes) return {};
  const double bytes = *mebibytes * kMebibyteBytes;
  constexpr double kMostWhole = 0x1p63;
  return bytes < kMostWhole ? Value(std::llround(bytes)) : Value(bytes);
}

Value flags_json(const Flags& flags) {
  Value::Array names;
  flags.each([&](std::string_view name) { names.emplace_back(std::string(name)); });
  return names;
}

Value uncertainty(const std::optional<Joules>& energy) {
  return energy ? Value(with_two_digits(*energy).si()) : Value();
}

// Members are added one by one: where memory ends while a list of them in braces is copied, g++ 12
// destroys what was never made.

Value::Object figures_json(const GpuFigures& figures) {
  Value::Object members;
  members.emplace_back("peak_memory_used_bytes", bytes(figures.peak_vram_mb));
  members.emplace_back("mean_utilization_percent", number(figures.gpu_util_mean_pct));
  members.emplace_back("max_utilization_percent", number(figures.gpu_util_max_pct));
  members.emplace_back("mean_memory_utilization_percent", number(figures.mem_util_mean_pct));
  members.emplace_back("max_memory_utilization_percent", number(figures.mem_util_max_pct));
  members.emplace_back("mean_power_w", number(figures.power_watts_mean));
  members.emplace_back("max_power_w", number(figures.power_watts_max));
  members.emplace_back("energy_j", figures.energy ? Value(figures.energy->si()) : Value());
  members.emplace_back("energy_uncertainty_j", uncertainty(figures.energy_uncertainty));
  members.emplace_back("energy_unknown_s", figures.energy_unknown.count());
  members.emplace_back("energy_method", figures.energy_method
                                            ? Value(std::string(to_string(*figures.energy_method)))
                                            : Value());
  members.emplace_back("energy_flags", flags_json(figures.energy_flags));
  return members;
}

Value::Object energy_json(const MeasuredEnergy& energy) {
  Value::Object members;
  members.emplace_back("energy_j", energy.energy ? Value(energy.energy->si()) : Value());
  members.emplace_back(
      "uncertainty_j",
      uncertainty(energy.energy ? std::optional(energy.uncertainty) : std::nullopt));
  members.emplace_back("unknown_s", energy.unknown.count());
  members.emplace_back("flags", flags_json(energy.flags));
  return members;
}

Value whole(const std::optional<std::uint64_t>& bytes) {
  return bytes ? Value(static_cast<std::int64_t>(*bytes)) : Value();
}

Value machine_json(const MachineSummary& machine) {
  Value::Array covers;
  for (const std::string& name : machine.energy_covers) covers.emplace_back(name);
  Value::Object members = energy_json(machine.energy);
  Value::Array missing;
  for (const MissingEnergy& part : machine.total_missing) {
    Value::Object entry;
    entry.emplace_back("kind", part.kind);
    entry.emplace_back("reason", part.reason);
    missing.emplace_back(std::move(entry));
  }
  members.emplace_back("covers", std::move(covers));
  members.emplace_back("total_missing", std::move(missing));
  members.emplace_back("peak_memory_bytes", whole(machine.peak_memory_bytes));
  members.emplace_back("memory_bytes", whole(machine.memory_bytes));
  members.emplace_back("disk_read_bytes", whole(machine.disk_read_bytes));
  members.emplace_back("disk_written_bytes", whole(machine.disk_written_bytes));
  members.emplace_back("network_received_bytes", whole(machine.network_received_bytes));
  members.emplace_back("network_sent_bytes", whole(machine.network_sent_bytes));
  return members;
}

Value value_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value::Object file_json(const SummaryFile& file) {
  Value::Object members;
  members.emplace_back("path", file.path.string());
  members.emplace_back("rows", file.rows);
  members.emplace_back("bad_rows", file.bad_rows);
  members.emplace_back("problem", value_or_null(file.problem));
  return members;
}

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

std::string mean_power_text(const GpuFigures& figures) {
  const auto& mean = figures.power_watts_mean;
  if (!mean || !figures.energy || !figures.energy_uncertainty) return shown(mean, "W");
  return power_text(Watts(*mean), *figures.energy, *figures.energy_uncertainty);
}

/// A line of the table of GPUs, and how it shows the figures of one.
struct FigureLine {
  const char* label;
  std::string (*text)(const GpuFigures& figures);
};

constexpr std::array<FigureLine, 8> kFigureLines = {{
    {"memory, peak", [](const GpuFigures& it) { return shown(it.peak_vram_mb, "MiB"); }},
    {"utilization, mean", [](const GpuFigures& it) { return shown(it.gpu_util_mean_pct, "%"); }},
    {"utilization, peak", [](const GpuFigures& it) { return shown(it.gpu_util_max_pct, "%"); }},
    {"memory utilization, mean",
     [](const GpuFigures& it) { return shown(it.mem_util_mean_pct, "%"); }},
    {"memory utilization, peak",
     [](const GpuFigures& it) { return shown(it.mem_util_max_pct, "%"); }},
    {"power, mean", mean_power_text},
    {"power, peak", [](const GpuFigures& it) { return shown(it.power_watts_max, "W"); }},
    {"energy ± (k=2)", energy_text},
}};

/// A column for each GPU and one for all, as many beside each other as there is room for.
std::string gpu_tables(const ResourceSummary& summary, const TextStyle& style) {
  std::vector<std::pair<std::string, const GpuFigures*>> columns;
  columns.reserve(summary.gpus.size() + 1);
  for (const GpuSummary& gpu : summary.gpus) {
    columns.emplace_back("GPU " + printable(gpu.name), &gpu);
  }
  columns.emplace_back("all GPUs", &summary);
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
    Table table(aligns, style, 0);
    std::vector<std::string> cells = {""};
    for (const auto& [name, figures] : some) cells.push_back(name);
    table.add(cells, true);
    for (const FigureLine& line : kFigureLines) {
      cells = {line.label};
      for (const auto& [name, figures] : some) cells.push_back(line.text(*figures));
      table.add(cells);
    }
    text += table.text() + "\n";
  }
  return text;
}

std::string bytes_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? bytes_to_text(*bytes) : "-";
}

/// What is said of an energy behind its number.
std::string remarks(Seconds unknown, const Flags& flags) {
  std::string text;
  if (unknown > Seconds(0)) text += fmt::format("  {} unknown", to_text(unknown));
  std::string_view separator = "  ";
  flags.each([&](std::string_view name) {
    text += std::string(separator) + std::string(name);
    separator = ", ";
  });
  return text;
}

/// True if a part of the kind is in the total.
bool has_part_of(const MachineSummary& machine, std::string_view kind) {
  return std::ranges::any_of(machine.energy_covers, [&](std::string_view name) {
    if (kind == "cpu") return name.starts_with("package");
    return kind == "dram" ? name.starts_with("dram") : name.find("_gpu_") != std::string_view::npos;
  });
}

/// The total, and what it lacks.
std::string total_text(const MachineSummary& machine) {
  if (!machine.energy.energy) return {};
  std::string missing;
  bool is_lower_bound = machine.energy.unknown > Seconds(0);
  for (const MissingEnergy& part : machine.total_missing) {
    const bool is_part = has_part_of(machine, part.kind);
    is_lower_bound = is_lower_bound || is_part;
    missing += fmt::format("{:<12}  {} {}: {}\n", "", is_part ? "not all of" : "no",
                           upper(part.kind), printable(part.reason));
  }
  return fmt::format("{:<12}  {}{} ({}){}\n", "energy", is_lower_bound ? "at least " : "",
                     to_text(*machine.energy.energy, machine.energy.uncertainty),
                     printable(fmt::format("{}", fmt::join(machine.energy_covers, " + "))),
                     remarks(machine.energy.unknown, {})) +
         missing;
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

void ResourceSummary::set_allocator_peak(double mebibytes) {
  if (!std::isfinite(mebibytes) || mebibytes < 0.0) {
    throw InvalidArgument("cannot set the allocator's peak: it is a number of MiB from 0 on");
  }
  jax_peak_bytes_mb = mebibytes;
}

std::string ResourceSummary::to_dict() const {
  Value::Object members;
  members.emplace_back("peak_vram_mb", one_decimal(peak_vram_mb));
  members.emplace_back("gpu_util_mean_pct", one_decimal(gpu_util_mean_pct));
  members.emplace_back("gpu_util_max_pct", one_decimal(gpu_util_max_pct));
  members.emplace_back("power_watts_mean", one_decimal(power_watts_mean));
  members.emplace_back("power_watts_max", one_decimal(power_watts_max));
  members.emplace_back("cpu_usr_mean_pct", one_decimal(cpu_usr_mean_pct));
  members.emplace_back("cpu_idle_mean_pct", one_decimal(cpu_idle_mean_pct));
  if (jax_peak_bytes_mb) members.emplace_back("jax_peak_bytes_mb", one_decimal(jax_peak_bytes_mb));
  if (mem_util_mean_pct) {
    members.emplace_back("mem_util_mean_pct", one_decimal(mem_util_mean_pct));
    members.emplace_back("mem_util_max_pct", one_decimal(mem_util_max_pct));
  }
  std::string text;
  append_json(text, Value(std::move(members)));
  return text + '\n';
}

std::string ResourceSummary::to_json() const {
  Value::Array each;
  for (const GpuSummary& gpu : gpus) {
    Value::Object members;
    members.emplace_back("name", gpu.name);
    std::ranges::move(figures_json(gpu), std::back_inserter(members));
    each.emplace_back(std::move(members));
  }
  Value::Array parts;
  for (const DomainSummary& domain : domains) {
    Value::Object members;
    members.emplace_back("name", domain.name);
    std::ranges::move(energy_json(domain.energy), std::back_inserter(members));
    members.emplace_back("mean_power_w",
                         domain.mean_power ? Value(domain.mean_power->si()) : Value());
    parts.emplace_back(std::move(members));
  }
  Value::Array sources;
  for (const SummaryFile& file : files) sources.emplace_back(file_json(file));
  Value::Object members;
  members.emplace_back("schema", "wattle.summary/1");
  members.emplace_back("all_gpus", figures_json(*this));
  members.emplace_back("gpus", std::move(each));
  members.emplace_back("domains", std::move(parts));
  members.emplace_back("machine", machine_json(machine));
  members.emplace_back("memory_utilization_source", value_or_null(mem_util_source.string()));
  members.emplace_back("mean_cpu_user_percent", number(cpu_usr_mean_pct));
  members.emplace_back("mean_cpu_idle_percent", number(cpu_idle_mean_pct));
  members.emplace_back("allocator_peak_bytes", bytes(jax_peak_bytes_mb));
  members.emplace_back("files", std::move(sources));
  std::string text;
  append_json(text, Value(std::move(members)));
  return text + '\n';
}

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
  if (summary.energy_unknown > Seconds(0)) {
    text += fmt::format("the energy of the GPUs lacks {} that are not known\n",
                        to_text(summary.energy_unknown));
  }
  if (!summary.energy_flags.none()) {
    text += fmt::format("the energy of the GPUs:{}\n", remarks(Seconds(0), summary.energy_flags));
  }
  std::string sources;
  for (const SummaryFile& file : summary.files) {
    sources += fmt::format("{}: {} rows", printable(file.path.string()), file.rows);
    if (file.bad_rows > 0) sources += fmt::format(", {} damaged ones left out", file.bad_rows);
    if (!file.problem.empty()) sources += ": " + file.problem;
    sources += '\n';
  }
  return gpu_tables(summary, style) + fitted(text, style, kLabelWidth) + fitted(sources, style);
}

}  // namespace wattle
