#include "shares/divided_energy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers/uint128.hpp"

namespace wattle::daemon {
namespace {

/// At most `most`.
std::uint64_t microjoules(Watts power, Seconds length, std::uint64_t most) {
  const double uj = std::floor((power * length).si() * 1e6);
  return uj >= static_cast<double>(most) ? most : static_cast<std::uint64_t>(std::max(uj, 0.0));
}

/// Where the share of a group lies that used `used_us` of `busy_us` of CPU time.
GroupRange range_of(std::uint64_t measured_uj, Seconds length, const IdleRange& idle,
                    std::uint64_t used_us, std::uint64_t busy_us, std::uint64_t share_uj) {
  const auto seconds = [](std::uint64_t us) { return Seconds(static_cast<double>(us) * 1e-6); };
  const auto part = part_of(seconds(used_us), seconds(busy_us - used_us), length);
  if (!part) return {share_uj, share_uj};
  const auto of = [&](double one, Watts idle_power) {
    const std::uint64_t above = measured_uj - microjoules(idle_power, length, measured_uj);
    return static_cast<std::uint64_t>(static_cast<double>(above) * one);
  };
  return {.low_uj = std::min(of(part->low, idle.high), share_uj),
          .high_uj = std::clamp(of(part->high, idle.low), share_uj, measured_uj)};
}

}  // namespace

std::vector<std::uint64_t> parts_of(std::uint64_t total, std::span<const std::uint64_t> weights) {
  Uint128 sum = 0;
  for (const std::uint64_t weight : weights) sum += weight;
  std::vector<std::uint64_t> parts(weights.size(), 0);
  if (sum == 0) return parts;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    parts[i] = static_cast<std::uint64_t>(Uint128{total} * weights[i] / sum);
  }
  return parts;
}

DividedEnergy divide_cpu(std::uint64_t measured_uj, Seconds length, const CpuUse& use,
                         const IdlePower& idle) {
  DividedEnergy divided{.measured_uj = measured_uj};
  const bool has_baseline = idle.baseline && Joules(static_cast<double>(measured_uj) * 1e-6) >=
                                                 idle.baseline->low * length;
  const std::uint64_t of_idle =
      microjoules(has_baseline ? idle.baseline->typical : idle.lowest, length, measured_uj);
  (has_baseline ? divided.idle_uj : divided.unexplained_uj) = of_idle;
  std::vector<std::uint64_t> weights;
  weights.reserve(use.groups_us.size() + 1);
  std::uint64_t seen_us = 0;
  for (const auto& [group, used_us] : use.groups_us) {
    weights.push_back(used_us);
    seen_us += used_us;
  }
  // The weight of everything else. Groups can add up to more, by the rounding of the ticks of
  // /proc/stat.
  const std::uint64_t busy_us = std::max(use.busy_us.value_or(seen_us), seen_us);
  weights.push_back(busy_us - seen_us);
  const std::uint64_t above = measured_uj - of_idle;
  const IdleRange bounds =
      has_baseline ? *idle.baseline
                   : IdleRange{.low = Watts(0.0), .typical = idle.lowest, .high = idle.lowest};
  const std::vector<std::uint64_t> parts = parts_of(above, weights);
  divided.rest_uj = above;
  std::size_t place = 0;
  for (const auto& [group, used_us] : use.groups_us) {
    const std::uint64_t part = parts[place++];
    if (part == 0) continue;
    divided.groups_uj.emplace(group, part);
    divided.ranges_uj.emplace(group, range_of(measured_uj, length, bounds, used_us, busy_us, part));
    divided.rest_uj -= part;
  }
  return divided;
}

template <class Group>
EnergyAmong<Group> divide_gpu_energy(std::uint64_t measured_uj, const GpuParts& parts,
                                     const std::vector<std::type_identity_t<Group>>& groups,
                                     const std::optional<std::type_identity_t<Group>>& owner) {
  EnergyAmong<Group> divided{.measured_uj = measured_uj};
  const bool has_unseen = std::ranges::any_of(parts.parts, [&](const GpuPart& part) {
    return !part.group || *part.group >= groups.size();
  });
  if (owner && (has_unseen || !parts.unknown.empty())) {
    divided.groups_uj.emplace(*owner, measured_uj);
    return divided;
  }
  if (!parts.unknown.empty()) return undivided<Group>(measured_uj, parts.unknown);
  if (parts.parts.empty()) {
    divided.idle_uj = measured_uj;
    return divided;
  }
  constexpr double kOne = 1e12;
  std::vector<std::uint64_t> weights;
  weights.reserve(parts.parts.size());
  for (const GpuPart& part : parts.parts) {
    weights.push_back(
        static_cast<std::uint64_t>(std::llround(std::clamp(part.part, 0.0, 1.0) * kOne)));
  }
  const std::vector<std::uint64_t> all = parts_of(measured_uj, weights);
  divided.undivided_uj = measured_uj;
  const Group* largest = nullptr;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& place = parts.parts[i].group;
    if (!place || *place >= groups.size()) continue;
    divided.groups_uj[groups[*place]] += all[i];
    divided.undivided_uj -= all[i];
    if (largest == nullptr || all[i] > divided.groups_uj[*largest]) largest = &groups[*place];
  }
  if (has_unseen || largest == nullptr) {
    divided.undivided_reason = kUserNotSeen;
  } else {
    // The remainder of the rounding belongs to one of those that are known to have all of it.
    divided.groups_uj[*largest] += std::exchange(divided.undivided_uj, 0);
  }
  if (divided.groups_uj.size() > 1 || has_unseen) {
    for (const auto& [group, uj] : divided.groups_uj) {
      divided.ranges_uj.emplace(group, GroupRange{.low_uj = 0, .high_uj = measured_uj});
    }
  }
  return divided;
}

template <class Group>
EnergyAmong<Group> undivided(std::uint64_t measured_uj, std::string reason) {
  return {.measured_uj = measured_uj,
          .undivided_uj = measured_uj,
          .undivided_reason = std::move(reason)};
}

template DividedEnergy divide_gpu_energy<CgroupGroup>(std::uint64_t, const GpuParts&,
                                                      const std::vector<CgroupGroup>&,
                                                      const std::optional<CgroupGroup>&);
template EnergyAmong<GpuProcess> divide_gpu_energy<GpuProcess>(std::uint64_t, const GpuParts&,
                                                               const std::vector<GpuProcess>&,
                                                               const std::optional<GpuProcess>&);
template DividedEnergy undivided<CgroupGroup>(std::uint64_t, std::string);
template EnergyAmong<GpuProcess> undivided<GpuProcess>(std::uint64_t, std::string);

}  // namespace wattle::daemon
