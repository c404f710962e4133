#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "report/estimate_words.hpp"
#include "report/gpu_groups.hpp"
#include "usage/files/usage_units.hpp"

namespace wattle {
namespace {

constexpr std::string_view kHeadline = "energy of this machine while the command ran";

/// Where there is no energy at all the headline gives the CPU's reason: what others say.
std::vector<std::string> other_reasons(const Total& total) {
  const auto cpu = std::ranges::find(total.missing, "cpu", &Refusal::subject);
  std::vector<std::string> lines;
  for (const Refusal& kind : total.missing) {
    if (cpu != total.missing.end() && kind.reason == cpu->reason) continue;
    lines.push_back(lack_of(total.covers, kind) + ": " + kind.reason);
  }
  return lines;
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
  if (!usage.cpu_user || !usage.cpu_system) return std::string(kUnknown);
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
    parts.push_back(fmt::format("memory up to {} of {}", bytes_to_text(bytes_of(*ram.system, ram)),
                                bytes_to_text(bytes_of(*ram.system_capacity, ram))));
  }
  return parts.empty() ? std::string(kUnknown) : joined(parts, ", ");
}

/// "12 %", or "3 % to 12 %" of several; absent where one is unknown.
template <class Value, class Text>
std::optional<std::string> range_of(const std::vector<const GpuUsage*>& gpus, Value value,
                                    Text text) {
  std::vector<std::decay_t<decltype(*value(*gpus.front()))>> values;
  for (const GpuUsage* gpu : gpus) {
    const auto one = value(*gpu);
    if (!one) return std::nullopt;
    values.push_back(*one);
  }
  const auto [low, high] = std::ranges::minmax(values);
  const std::string from = text(low);
  const std::string to = text(high);
  return from == to ? from : from + " to " + to;
}

/// The text for GPUs of one model that were used alike.
std::string gpu_text(const std::vector<const GpuUsage*>& gpus) {
  std::vector<std::string> parts;
  const GpuUsage& first = *gpus.front();
  if (!first.info.model.empty()) parts.push_back(first.info.model);
  const auto busy = range_of(
      gpus, [](const GpuUsage& gpu) { return gpu.mean_utilization_percent; },
      [](double percent) { return fmt::format("{:.0f} %", percent); });
  if (busy) parts.push_back(*busy + " busy");
  const auto used = range_of(
      gpus, [](const GpuUsage& gpu) { return gpu.peak_memory_used_bytes; }, bytes_to_text);
  const auto all = range_of(
      gpus, [](const GpuUsage& gpu) { return gpu.memory_total_bytes; }, bytes_to_text);
  // Memory of others on a GPU that the command did not use is not the command's.
  if (used && all && (gpus.size() == 1 || first.used_by_command != false)) {
    parts.push_back(fmt::format("memory up to {} of {}", *used, *all));
  }
  if (!first.used_by_command) {
    parts.emplace_back("use by the command unknown");
  } else {
    parts.emplace_back(*first.used_by_command ? "used by the command" : "not used by the command");
  }
  return joined(parts, ", ");
}

void add_gpus(const Report& report, Detail detail,
              std::vector<std::pair<std::string, std::string>>& facts) {
  if (!report.host.gpus) return;
  for (const GpuGroup& group : gpu_groups(report, detail)) {
    std::vector<const GpuUsage*> gpus;
    for (const GpuUsage& gpu : *report.host.gpus) {
      if (std::ranges::find(group, gpu.domain) != group.end()) gpus.push_back(&gpu);
    }
    if (!gpus.empty()) facts.emplace_back(names_of(group), gpu_text(gpus));
  }
}

std::string still_running_text(const std::vector<ProcessUsage>& processes) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> parts;
  for (const ProcessUsage& process : processes) {
    if (parts.size() == kShown) break;
    parts.push_back(fmt::format("{} ({})", process.pid, process.name));
  }
  if (processes.size() > kShown) parts.push_back(fmt::format("{} more", processes.size() - kShown));
  return joined(parts, ", ");
}

}  // namespace

std::string uncertainty_note(const EnergyReport& energy) {
  double worst = 0.0;
  std::string source;
  std::vector<std::string> unknown;
  for (const DomainFigure& domain : energy.domains) {
    if (!domain.figure.energy) continue;
    if (!domain.calibration) {
      unknown.push_back(domain.domain.name());
    } else if (domain.calibration->percent >= worst) {
      worst = domain.calibration->percent;
      source = domain.calibration->source;
    }
  }
  if (source.empty()) return std::string(kUncertaintyNote);
  std::string text =
      fmt::format("± is the sampling error only; sensor ±{:.0f} % ({})", std::ceil(worst), source);
  if (!unknown.empty()) text += fmt::format(", unknown for {}", joined(unknown, ", "));
  return text;
}

std::string headline_of(const Report& report) {
  const Total& total = report.energy.total;
  std::string text;
  if (!report.energy.left_out.empty()) {
    text = fmt::format("no energy: {}", report.energy.left_out);
  } else if (total.energy) {
    text = fmt::format("{}: {}{}", kHeadline, is_lower_bound(total) ? kAtLeast : "",
                       to_text(*total.energy, total.uncertainty));
    if (total.mean && report.wall > Seconds(0)) {
      text += ", mean " + rounded_text(*total.mean, total.uncertainty / report.wall);
    }
    text = with_doubts(std::move(text), total.flags);
  } else {
    // No reason can be missing where no domain is known: total_of gives one for each kind.
    const auto cpu = std::ranges::find(total.missing, "cpu", &Refusal::subject);
    text = fmt::format("no energy: {}", cpu != total.missing.end() ? cpu->reason : "no sensor");
    if (cpu != total.missing.end() && !cpu->remedy.empty()) text += "; " + cpu->remedy;
    if (!report.estimate) text += fmt::format("; {}", kEstimateHint);
  }
  return text;
}

std::vector<std::string> coverage_of(const Total& total) {
  if (!total.energy) return other_reasons(total);
  std::string text = "includes " + joined(total.covers, " and ", upper);
  if (total.unknown.count() > 0) {
    text += fmt::format("; {} of the time unknown", to_text(total.unknown));
  }
  for (auto kind = total.missing.begin(); kind != total.missing.end();) {
    // Kinds that are missing for one reason stand together.
    const std::string& reason = kind->reason;
    const char* separator = "; ";
    for (; kind != total.missing.end() && kind->reason == reason; ++kind) {
      text += separator + lack_of(total.covers, *kind);
      separator = ", ";
    }
    text.append(": ").append(reason);
  }
  return {text};
}

std::string energy_text(const EnergyFigure& figure) {
  return figure.energy ? to_text(*figure.energy, figure.uncertainty) : std::string(kUnknownCell);
}

std::string power_text(const EnergyFigure& figure, const std::optional<Watts>& power) {
  if (!power) return std::string(kUnknownCell);
  if (figure.known <= Seconds(0)) return to_text(*power);
  return rounded_text(*power, figure.uncertainty / figure.known);
}

std::string peak_text(const EnergyFigure& figure) {
  if (!figure.max || !figure.max_uncertainty) return power_text(figure, figure.max);
  return rounded_text(*figure.max, *figure.max_uncertainty);
}

std::vector<std::pair<std::string, std::string>> facts_of(const Report& report, Detail detail) {
  const ResourceUsage& usage = report.usage;
  std::vector<std::pair<std::string, std::string>> facts = {
      {"command", command_line(report.command) + ": " + exit_text(report.exit)},
      {"time", to_text(report.wall)},
      {"cpu", cpu_text(usage, report.wall)},
      {"memory", usage.peak_rss_bytes
                     ? bytes_to_text(*usage.peak_rss_bytes) + " in the largest process"
                     : std::string(kUnknown)},
      {"machine", machine_text(usage)}};
  add_gpus(report, detail, facts);
  if (!usage.still_running) {
    facts.emplace_back("still running", kUnknown);
  } else if (!usage.still_running->empty()) {
    facts.emplace_back("still running", still_running_text(*usage.still_running));
  }
  return facts;
}

}  // namespace wattle
