#include "usage/gpu/gpu_brand.hpp"

#include <algorithm>

#include "sensors/gpu_selection.hpp"

namespace wattle {
namespace {

bool is_integrated(const Domain& gpu, const std::vector<SensorRefusal>& refused) {
  return std::ranges::any_of(refused, [&](const SensorRefusal& refusal) {
    return refusal.absent && refusal.subject == gpu.name() + " energy";
  });
}

}  // namespace

std::set<Domain> gpus_found(const Survey& found) {
  std::set<Domain> gpus;
  for (const FoundGpu& gpu : found_gpus(found)) gpus.insert(gpu.domain);
  return gpus;
}

std::set<Domain> gpus_like(const Domain& example, const std::set<Domain>& gpus,
                           const std::vector<SensorRefusal>& refused) {
  const bool integrated = is_integrated(example, refused);
  std::set<Domain> alike;
  for (const Domain& gpu : gpus) {
    if (gpu.kind() == example.kind() && is_integrated(gpu, refused) == integrated) {
      alike.insert(gpu);
    }
  }
  return alike;
}

std::set<Domain> gpus_of_brand(const std::set<Domain>& gpus,
                               const std::vector<SensorRefusal>& refused,
                               const std::optional<std::string>& brand) {
  for (const bool integrated : {false, true}) {
    // Domains are in the order of their kinds: where no brand is asked for, NVIDIA's come first.
    const auto first = std::ranges::find_if(gpus, [&](const Domain& gpu) {
      return (!brand || *brand == traits_of(gpu).vendor) &&
             is_integrated(gpu, refused) == integrated;
    });
    if (first != gpus.end()) return gpus_like(*first, gpus, refused);
  }
  return {};
}

}  // namespace wattle
