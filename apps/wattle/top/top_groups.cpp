#include "top/top_groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace wattle::app {

std::string name_in_cgroup(const std::string& cgroup, TopKey key) {
  const auto or_none = [](std::string found, const char* none) {
    return found.empty() ? std::string(none) : found;
  };
  if (key == TopKey::container) return or_none(container_in(cgroup), "no container");
  if (key == TopKey::pod) return or_none(pod_in(cgroup), "no pod");
  return cgroup;
}

TopGroups group_uses(const std::vector<ProcessUse>& uses, Seconds busy,
                     const std::function<std::string(const ProcessUse&)>& name_of) {
  std::map<std::string, TopGroup> by_name;
  Seconds seen{0};
  for (const ProcessUse& use : uses) {
    std::string name = name_of(use);
    TopGroup& group = by_name[name];
    group.name = std::move(name);
    ++group.processes;
    group.cpu += use.cpu;
    seen += use.cpu;
  }
  TopGroups top{.groups = {},
                .rest = {.name = "interrupts, and processes that ended",
                         .cpu = std::max(busy - seen, Seconds(0))},
                .cpu = std::max(busy, seen)};
  for (auto& [name, group] : by_name) top.groups.push_back(std::move(group));
  std::ranges::stable_sort(top.groups, std::ranges::greater(), &TopGroup::cpu);
  const auto percent = [&](Seconds cpu) {
    return top.cpu > Seconds(0) ? 100.0 * (cpu / top.cpu) : 0.0;
  };
  for (TopGroup& group : top.groups) group.percent = percent(group.cpu);
  top.rest.percent = percent(top.rest.cpu);
  return top;
}

Joules share_energy(TopGroups& top, Seconds wall, Joules measured, const IdleRange& idle) {
  const Joules of_idle = std::min(idle.typical * wall, measured);
  const Joules above = measured - of_idle;
  const auto share = [&](TopGroup& group) {
    const std::array span = {
        ShareSpan{.wall = wall, .energy = measured, .command = group.cpu, .busy = top.cpu}};
    EnergyRange range = balance_of(span, measured, idle).command;
    range.typical = top.cpu > Seconds(0) ? above * (group.cpu / top.cpu) : Joules(0.0);
    range.low = std::min(range.low, range.typical);
    range.high = std::max(range.high, range.typical);
    group.energy = range;
  };
  for (TopGroup& group : top.groups) share(group);
  share(top.rest);
  return of_idle;
}

}  // namespace wattle::app
