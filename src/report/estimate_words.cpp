#include "report/estimate_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json/json_write.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "estimate/baseline.hpp"
#include "report/gpu_groups.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

/// Two digits: an estimate knows no more.
template <class Quantity>
std::string rough_range(Quantity low, Quantity typical, Quantity high) {
  const auto text = [](Quantity value) { return rounded_text(value, value * 0.1); };
  return fmt::format("~{} ({} to {})", text(typical), text(low), text(high));
}

double joules_of(std::int64_t nanojoules) noexcept { return static_cast<double>(nanojoules) / 1e9; }

std::string part_text(std::int64_t nanojoules) { return to_text(Joules(joules_of(nanojoules))); }

/// "350.0 J = ~30.0 J idle + ...", where idle power is known.
std::string balance_text(const ShareBalance& balance) {
  const std::int64_t idle = balance.idle_nj.value_or(0);
  return fmt::format("{} = ~{} idle + ~{} command + ~{} others + {} unexplained",
                     part_text(balance.measured_nj), part_text(idle), part_text(balance.command_nj),
                     part_text(balance.others_nj), part_text(balance.unexplained_nj));
}

void put_range(Json& json, const std::optional<EnergyRange>& range, bool has_typical = true) {
  json["low_j"] = range ? Json(range->low.si()) : Json(nullptr);
  json["typical_j"] = range && has_typical ? Json(range->typical.si()) : Json(nullptr);
  json["high_j"] = range ? Json(range->high.si()) : Json(nullptr);
}

Json json_of(const GpuShare& gpu) {
  Json json = {{"domain", gpu.domain.name()}, {"measured_j", gpu.measured.si()}};
  put_range(json, gpu.command, gpu.is_known);
  json["basis"] = gpu.basis;
  return json;
}

/// Of GPUs whose share has one basis.
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
    lines.push_back("  " + balance_text(*share.balance));
    if (detail == Detail::all) lines.push_back("  " + share.idle_basis);
  }
  if (!share.unknown.empty()) {
    lines.push_back("no share of this command: " + share.unknown);
  }
  for (const auto& gpus : groups_of(share.gpus, detail)) lines.push_back(gpu_text(gpus));
  return lines;
}

Json json_of(const std::optional<EnergyEstimate>& estimate) {
  if (!estimate) return nullptr;
  Json json = Json::object();
  put_range(json, estimate->machine);
  json["unknown"] = text_or_null(estimate->unknown);
  json["method"] = text_or_null(estimate->method);
  json["basis"] = text_or_null(estimate->basis);
  json["covers"] = text_or_null(estimate->covers);
  json["excludes"] = estimate->excludes;
  Json command = nullptr;
  if (estimate->own) {
    command = Json::object();
    put_range(command, estimate->own);
  }
  json["command"] = std::move(command);
  json["microarchitecture"] = text_or_null(estimate->microarchitecture);
  json["recognized_by"] = text_or_null(estimate->recognized_by);
  json["microarchitecture_known"] = estimate->is_known;
  json["machines"] = estimate->machines;
  json["threads"] = estimate->threads;
  json["cpu_quota"] = or_null(estimate->cpu_quota);
  json["mean_load_percent"] = estimate->mean_load * 100.0;
  json["stolen_percent"] = estimate->stolen_part * 100.0;
  json["virtual_machine"] = estimate->is_virtual;
  return json;
}

Json json_of(const std::optional<EnergyShare>& share) {
  if (!share) return nullptr;
  Json json = Json::object();
  const std::optional<ShareBalance>& balance = share->balance;
  put_range(json, balance ? std::optional(balance->command) : std::nullopt);
  json["unknown"] = text_or_null(share->unknown);
  json["method"] = "cpu_time";
  json["basis"] =
      "CPU times of the command and of everything else, power above idle as a function "
      "of the load";
  json["covers"] = share->covers;
  const auto part = [&](std::int64_t ShareBalance::*nanojoules) {
    return balance ? Json(joules_of((*balance).*nanojoules)) : Json(nullptr);
  };
  json["measured_j"] = part(&ShareBalance::measured_nj);
  json["idle_j"] = balance && balance->idle_nj ? Json(joules_of(*balance->idle_nj)) : Json(nullptr);
  json["command_j"] = part(&ShareBalance::command_nj);
  json["others_j"] = part(&ShareBalance::others_nj);
  json["unexplained_j"] = part(&ShareBalance::unexplained_nj);
  json["idle_basis"] = text_or_null(share->idle_basis);
  json["idle_unknown"] = text_or_null(share->idle_unknown);
  json["below_idle"] = balance ? Json(balance->is_below_idle) : Json(nullptr);
  Json gpus = Json::array();
  for (const GpuShare& gpu : share->gpus) gpus.push_back(json_of(gpu));
  json["gpus"] = std::move(gpus);
  return json;
}

}  // namespace wattle
