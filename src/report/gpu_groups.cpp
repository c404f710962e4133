#include "report/gpu_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace wattle {
namespace {

/// Up to here each GPU has a row: a report of them fits a terminal of 24 lines.
constexpr std::size_t kMostSingleGpus = 3;

bool is_like(const Domain& domain, const Domain& before) {
  return domain.kind() == before.kind() && domain.category() == DomainCategory::gpu;
}

bool follows(const Domain& domain, const Domain& before) {
  return is_like(domain, before) && domain.index() == before.index() + 1;
}

/// The properties that the GPUs of a group share.
using GroupKey = std::tuple<DomainKind, std::string, std::optional<bool>>;

GroupKey group_key(const Domain& domain, const std::optional<std::vector<GpuUsage>>& gpus) {
  if (gpus) {
    const auto gpu = std::ranges::find(*gpus, domain, &GpuUsage::domain);
    if (gpu != gpus->end()) return {domain.kind(), gpu->info.model, gpu->used_by_command};
  }
  return {domain.kind(), "", std::nullopt};
}

}  // namespace

std::string names_of(const std::vector<Domain>& domains) {
  std::string names;
  for (std::size_t first = 0; first < domains.size();) {
    std::size_t last = first;
    while (last + 1 < domains.size() && follows(domains[last + 1], domains[last])) ++last;
    const bool continues = first > 0 && is_like(domains[first], domains[first - 1]);
    names += first == 0 ? "" : (continues ? "," : ", ");
    names += continues ? std::to_string(domains[first].index()) : domains[first].name();
    if (last > first) names += fmt::format("-{}", domains[last].index());
    first = last + 1;
  }
  return names;
}

std::vector<GpuGroup> gpu_groups(const Report& report, Detail detail) {
  std::vector<Domain> all;
  for (const DomainFigure& domain : report.energy.domains) {
    if (domain.domain.category() == DomainCategory::gpu) all.push_back(domain.domain);
  }
  if (report.host.gpus) {
    for (const GpuUsage& gpu : *report.host.gpus) all.push_back(gpu.domain);
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  const bool has_many = all.size() > kMostSingleGpus;
  std::vector<GpuGroup> groups;
  std::map<GroupKey, std::size_t> places;
  for (const Domain& domain : all) {
    const GroupKey key = group_key(domain, report.host.gpus);
    const bool folds = detail == Detail::folded && (has_many || std::get<2>(key) == false);
    const auto [place, is_new] = places.try_emplace(key, groups.size());
    if (is_new || !folds) {
      groups.push_back({domain});
    } else {
      groups[place->second].push_back(domain);
    }
  }
  return groups;
}

const GpuGroup* group_of(const std::vector<GpuGroup>& groups, const Domain& domain) {
  const auto group = std::ranges::find_if(groups, [&](const GpuGroup& members) {
    return std::ranges::find(members, domain) != members.end();
  });
  return group == groups.end() ? nullptr : &*group;
}

}  // namespace wattle
