// The report for people: what it cost first, then where it went, then what the command used.
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "report/report.hpp"
#include "usage/usage_units.hpp"

namespace wattle {
namespace {

constexpr std::string_view kHeadline = "energy of this machine while the command ran";

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

constexpr std::size_t kLabelWidth = 14;

/// One line of the lower part: a label, then a text.
std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}}{}\n", label, kLabelWidth, text);
}

/// True if the total has some of the kind's domains, so that the missing ones make it too small.
bool has_part_of(const Total& total, const MissingKind& missing) {
  return std::ranges::find(total.covers, missing.kind) != total.covers.end();
}

bool is_lower_bound(const Total& total) {
  return total.unknown.count() > 0 ||
         std::ranges::any_of(total.missing,
                             [&](const MissingKind& kind) { return has_part_of(total, kind); });
}

/// "CPU" of "cpu".
std::string title_of(std::string_view kind) {
  std::string title(kind);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return title;
}

std::string headline(const Report& report, const TextStyle& style) {
  const Total& total = report.energy.total;
  std::string text;
  if (!report.energy.left_out.empty()) {
    text = fmt::format("no energy: {}", report.energy.left_out);
  } else if (total.energy) {
    text = fmt::format("{}: {}{}", kHeadline, is_lower_bound(total) ? "at least " : "",
                       to_text(*total.energy, total.uncertainty));
    if (total.mean && report.wall > Seconds(0)) {
      text += fmt::format(", {} on average",
                          rounded_text(*total.mean, total.uncertainty / report.wall));
    }
  } else {
    // No reason can be missing where no domain is known: total_of gives one for each kind.
    const auto cpu = std::ranges::find(total.missing, "cpu", &MissingKind::kind);
    text = fmt::format("no energy: {}", cpu != total.missing.end() ? cpu->reason : "no sensor");
    if (cpu != total.missing.end() && !cpu->remedy.empty()) text += "; " + cpu->remedy;
  }
  return tinted(text, Tint::bold, style) + "\n";
}

/// Where there is no energy at all the headline gives the CPU's reason: what others say.
std::string other_reasons(const Total& total) {
  const auto cpu = std::ranges::find(total.missing, "cpu", &MissingKind::kind);
  std::string text;
  for (const MissingKind& kind : total.missing) {
    if (cpu != total.missing.end() && kind.reason == cpu->reason) continue;
    text += fmt::format("  no {}: {}\n", title_of(kind.kind), kind.reason);
  }
  return text;
}

/// What the total is made of, and what it lacks.
std::string coverage(const Total& total) {
  if (!total.energy) return other_reasons(total);
  std::vector<std::string> covers;
  std::ranges::transform(total.covers, std::back_inserter(covers), title_of);
  std::string text = fmt::format("  includes {}", join(covers, " and "));
  if (total.unknown.count() > 0) {
    text += fmt::format("; {} of the time unknown", to_text(total.unknown));
  }
  for (auto kind = total.missing.begin(); kind != total.missing.end();) {
    // Kinds that are missing for one reason stand together.
    const std::string& reason = kind->reason;
    const char* separator = "; ";
    for (; kind != total.missing.end() && kind->reason == reason; ++kind) {
      text += fmt::format("{}{} {}", separator, has_part_of(total, *kind) ? "not all of" : "no",
                          title_of(kind->kind));
      separator = ", ";
    }
    text += ": " + reason;
  }
  return text + "\n";
}

/// Eighths of a block, from 0 to the largest value; a blank where nothing is known.
std::string sparkline(const std::vector<std::optional<Watts>>& means) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  Watts top;
  for (const auto& mean : means) top = std::max(top, mean.value_or(Watts(0.0)));
  std::string line;
  for (const auto& mean : means) {
    if (!mean) {
      line += ' ';
    } else {
      const double share = top.si() > 0 ? *mean / top : 0.0;
      line += kBlocks.at(static_cast<std::size_t>(std::lround(share * 7.0)));
    }
  }
  return fmt::format("{}  0 to {}", line, to_text(top));
}

/// What a domain's row says behind its numbers.
std::string remarks(const DomainEnergy& domain) {
  std::vector<std::string> parts;
  if (domain.contained_in) {
    parts.push_back("in " + domain.contained_in->name());
  } else if (!counts_in_total(domain.domain.kind())) {
    parts.emplace_back("overlaps the others, not added");
  }
  if (domain.figure.unknown.count() > 0) {
    parts.push_back(fmt::format("{} unknown", to_text(domain.figure.unknown)));
  }
  const double seen = domain.figure.coverage.value_or(1.0);
  if (looks_away(seen)) parts.push_back(fmt::format("sees {:.0f} % of the time", seen * 100.0));
  domain.figure.flags.each([&](std::string_view name) { parts.emplace_back(name); });
  return join(parts, ", ");
}

/// No digit that the energy's uncertainty does not support.
std::string power_text(const EnergyFigure& figure, const std::optional<Watts>& power) {
  if (!power) return "-";
  if (figure.known <= Seconds(0)) return to_text(*power);
  return rounded_text(*power, figure.uncertainty / figure.known);
}

std::string domain_table(const EnergyReport& energy, const TextStyle& style) {
  if (energy.domains.empty()) return {};
  Table table({Align::left, Align::right, Align::right, Align::right, Align::left}, style, 2);
  table.add({"domain", "energy ± (k=2)", "mean", "peak"}, true);
  for (const DomainEnergy& domain : energy.domains) {
    const EnergyFigure& figure = domain.figure;
    table.add({domain.domain.name(),
               figure.energy ? to_text(*figure.energy, figure.uncertainty) : "unknown",
               power_text(figure, figure.mean), power_text(figure, figure.max), remarks(domain)});
  }
  std::string text = "\n" + table.text();
  const auto is_known = [](const std::optional<Watts>& mean) { return mean.has_value(); };
  if (energy.total.energy && std::ranges::any_of(energy.profile, is_known)) {
    text += fitted(fmt::format("  power  {}\n", sparkline(energy.profile)), style, 9);
  }
  const std::string note =
      "  ± is the sampling error only; the calibration error of the sensors is not known";
  return text + tinted(fitted(note, style), Tint::dim, style) + "\n";
}

std::string exit_text(const Exit& exit) {
  if (!exit.has_status()) return exit.error;
  if (exit.signal) {
    const char* name = ::sigabbrev_np(*exit.signal);
    return fmt::format("killed by SIG{}{}", name != nullptr ? name : std::to_string(*exit.signal),
                       exit.core_dumped ? ", core dumped" : "");
  }
  return fmt::format("exit {}", exit.code.value_or(0));
}

std::string command_line(const std::vector<std::string>& command) {
  return printable(shell_line(command));
}

std::string cpu_text(const ResourceUsage& usage, Seconds wall) {
  if (!usage.cpu_user || !usage.cpu_system) return "unknown";
  const Seconds cpu = *usage.cpu_user + *usage.cpu_system;
  std::string text = fmt::format("{} ({} user, {} system)", to_text(cpu), to_text(*usage.cpu_user),
                                 to_text(*usage.cpu_system));
  if (wall.count() > 0) text += fmt::format(", {:.2f} CPU cores in use", cpu / wall);
  const bool is_short = std::ranges::any_of(usage.mismatches, [](const UsageMismatch& mismatch) {
    return std::ranges::count(mismatch.keys, "cpu_s") > 0;
  });
  if (is_short && usage.cpu_task_clock) {
    text += fmt::format(", at least {} by perf's task clock", to_text(*usage.cpu_task_clock));
  }
  return text;
}

std::uint64_t bytes_of(double value, const MaxRAM& ram) {
  return static_cast<std::uint64_t>(std::llround(value * bytes_in(ram.unit, "RAM")));
}

std::string machine_text(const ResourceUsage& usage) {
  std::vector<std::string> parts;
  const CPUUtilization& cpu = usage.cpu_utilization;
  if (cpu.system_core_count && cpu.system.mean_hardware_percent) {
    parts.push_back(fmt::format("{:.1f} % of {} CPU cores in use",
                                *cpu.system.mean_hardware_percent, *cpu.system_core_count));
  }
  const MaxRAM& ram = usage.max_ram;
  if (ram.system && ram.system_capacity) {
    parts.push_back(fmt::format("{} of {} memory used at most",
                                bytes_to_text(bytes_of(*ram.system, ram)),
                                bytes_to_text(bytes_of(*ram.system_capacity, ram))));
  }
  return parts.empty() ? "unknown" : join(parts, ", ");
}

std::string gpu_text(const GpuUsage& gpu) {
  std::vector<std::string> parts;
  if (!gpu.info.model.empty()) parts.push_back(gpu.info.model);
  if (gpu.mean_utilization_percent) {
    parts.push_back(fmt::format("{:.0f} % busy", *gpu.mean_utilization_percent));
  }
  if (gpu.peak_memory_used_bytes && gpu.memory_total_bytes) {
    parts.push_back(fmt::format("{} of {} memory used at most",
                                bytes_to_text(*gpu.peak_memory_used_bytes),
                                bytes_to_text(*gpu.memory_total_bytes)));
  }
  if (!gpu.used_by_command) {
    parts.emplace_back("not known whether the command used it");
  } else {
    parts.emplace_back(*gpu.used_by_command ? "used by the command" : "not used by the command");
  }
  return join(parts, ", ");
}

std::string still_running_text(const std::vector<ProcessUsage>& processes) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> parts;
  for (const ProcessUsage& process : processes) {
    if (parts.size() == kShown) break;
    parts.push_back(fmt::format("{} ({})", process.pid, process.name));
  }
  if (processes.size() > kShown) parts.push_back(fmt::format("{} more", processes.size() - kShown));
  return join(parts, ", ");
}

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  const ResourceUsage& usage = report.usage;
  const std::string summary = headline(report, style) + coverage(report.energy.total);
  std::string text;
  text += labelled("command", command_line(report.command) + ": " + exit_text(report.exit));
  text += labelled("time", to_text(report.wall));
  text += labelled("cpu", cpu_text(usage, report.wall));
  text += labelled("memory", usage.peak_rss_bytes
                                 ? bytes_to_text(*usage.peak_rss_bytes) + " in the largest process"
                                 : "unknown");
  text += labelled("machine", machine_text(usage));
  if (report.host.gpus) {
    for (const GpuUsage& gpu : *report.host.gpus) {
      text += labelled(gpu.domain.name(), gpu_text(gpu));
    }
  }
  if (!usage.still_running) {
    text += labelled("still running", "unknown");
  } else if (!usage.still_running->empty()) {
    text += labelled("still running", still_running_text(*usage.still_running));
  }
  return fitted(summary, style) + domain_table(report.energy, style) + "\n" +
         fitted(text, style, kLabelWidth);
}

}  // namespace wattle
