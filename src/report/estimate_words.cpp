#include "report/estimate_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text/flags_text.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "estimate/baseline.hpp"
#include "report/gpu_groups.hpp"

namespace wattle {
namespace {

/// Two digits: an estimate knows no more.
template <class Quantity>
std::string rough_range(Quantity low, Quantity typical, Quantity high) {
  const auto text = [](Quantity value) { return rounded_text(value, value * 0.1); };
  return fmt::format("~{} ({} to {})", text(typical), text(low), text(high));
}

double joules_of(std::int64_t nanojoules) noexcept { return static_cast<double>(nanojoules) / 1e9; }

std::string part_text(std::int64_t nanojoules) { return to_text(Joules(joules_of(nanojoules))); }

/// "350.0 J ±0.2 J = ~30.0 J idle + ...", where idle power is known.
std::string balance_text(const EnergyShare& share) {
  const ShareBalance& balance = *share.balance;
  const Joules measured(joules_of(balance.measured_nj));
  const std::string text =
      share.uncertainty ? to_text(measured, *share.uncertainty) : to_text(measured);
  const std::string doubts = flags_text(doubts_of(share.flags), ", ");
  return fmt::format("{}{} = ~{} idle + ~{} command + ~{} others + {} unexplained", text,
                     doubts.empty() ? "" : fmt::format(" ({})", doubts),
                     part_text(balance.idle_nj.value_or(0)), part_text(balance.command_nj),
                     part_text(balance.others_nj), part_text(balance.unexplained_nj));
}

/// The text for GPUs whose share has one basis.
std::string gpu_text(const std::vector<GpuShare>& gpus) {
  std::vector<Domain> domains;
  GpuShare sum = gpus.front();
  for (const GpuShare& gpu : gpus) {
    domains.push_back(gpu.domain);
    if (domains.size() == 1) continue;
    sum.measured += gpu.measured;
    sum.command.low += gpu.command.low;
    sum.command.typical += gpu.command.typical;
    sum.command.high += gpu.command.high;
  }
  const std::string names = names_of(domains);
  if (sum.is_known && sum.command.high <= Joules(0.0)) {
    return fmt::format("no share of {}: {}", names, sum.basis);
  }
  if (!sum.is_known) {
    return fmt::format("share of {}, not measured: 0 J to {}: {}", names, to_text(sum.measured),
                       sum.basis);
  }
  const bool is_range = sum.command.low < sum.command.high;
  return fmt::format(
      "share of {}, not measured: {}: {}", names,
      is_range ? range_text(sum.command) : fmt::format("~{}", to_text(sum.command.typical)),
      sum.basis);
}

/// GPUs whose share has one basis: together, or each for itself.
std::vector<std::vector<GpuShare>> groups_of(const std::vector<GpuShare>& gpus, Detail detail) {
  std::vector<std::vector<GpuShare>> groups;
  for (const GpuShare& gpu : gpus) {
    const auto group = std::ranges::find_if(groups, [&](const std::vector<GpuShare>& members) {
      return members.front().basis == gpu.basis && members.front().is_known == gpu.is_known;
    });
    // The list of the GPUs names those that the command did not use.
    const bool has_none = gpu.is_known && gpu.command.high <= Joules(0.0);
    if (has_none && detail == Detail::folded) continue;
    if (group == groups.end() || detail == Detail::all) {
      groups.push_back({gpu});
    } else {
      group->push_back(gpu);
    }
  }
  return groups;
}

/// "CPU and DRAM": the kinds of these domains.
std::string kinds_text(const std::vector<std::string>& domains) {
  std::vector<std::string> kinds;
  for (const std::string& name : domains) {
    const std::string kind = name.starts_with("dram") ? "DRAM" : "CPU";
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  std::ranges::sort(kinds);
  return joined(kinds, " and ");
}

/// Without a baseline: one range, and how to narrow it.
std::string wide_share(const EnergyShare& share) {
  const std::string whole = share.gpus.empty() ? "this command" : kinds_text(share.covers);
  const EnergyRange& range = share.balance->command;
  const auto text = [](Joules energy) { return rounded_text(energy, energy * 0.1); };
  return fmt::format(
      "share of {}, not measured: {} to {}; {}", whole, text(range.low), text(range.high),
      share.idle_unknown == kNoBaseline ? "wattle baseline narrows it" : share.idle_unknown);
}

}  // namespace

std::string range_text(const EnergyRange& range) {
  return rough_range(range.low, range.typical, range.high);
}

std::string range_text(Watts low, Watts typical, Watts high) {
  return rough_range(low, typical, high);
}

std::vector<std::string> words_of(const EnergyEstimate& estimate, std::string_view whose) {
  if (!estimate.machine) return {fmt::format("no estimate: {}", estimate.unknown)};
  std::vector<std::string> lines = {fmt::format("estimate, not measured: {} of {}",
                                                range_text(*estimate.machine), estimate.covers)};
  if (estimate.own) {
    lines.push_back(fmt::format("  above idle, for {} CPU time, not measured: {}", whose,
                                range_text(*estimate.own)));
  }
  lines.push_back(fmt::format("  {}{} ({}), at a load of {:.0f} %", estimate.microarchitecture,
                              estimate.is_known ? "" : ", so the widest range",
                              estimate.recognized_by, estimate.mean_load * 100.0));
  lines.push_back("  from " + estimate.basis);
  lines.push_back(fmt::format("  not in it: {}", fmt::join(estimate.excludes, "; ")));
  return lines;
}

std::vector<std::string> words_of(const EnergyShare& share, Detail detail) {
  std::vector<std::string> lines;
  if (share.balance && !share.balance->idle_nj) {
    lines.push_back(wide_share(share));
  } else if (share.balance) {
    lines.push_back(fmt::format("share of this command in {}, not measured: {}",
                                kinds_text(share.covers), range_text(share.balance->command)));
    lines.push_back("  " + balance_text(share));
    if (detail == Detail::all) lines.push_back("  " + share.idle_basis);
  }
  if (!share.unknown.empty()) {
    lines.push_back("no share of this command: " + share.unknown);
  }
  for (const auto& gpus : groups_of(share.gpus, detail)) lines.push_back(gpu_text(gpus));
  return lines;
}

}  // namespace wattle
