#include "usage/gpu_brand.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace wattle {
namespace {

using Brand = std::pair<std::string_view, DomainKind>;
/// The first that is there is taken where none is asked for.
constexpr std::array kBrands = {Brand{"nvidia", DomainKind::nvidia_gpu},
                                Brand{"amd", DomainKind::amd_gpu},
                                Brand{"intel", DomainKind::intel_gpu}};

bool is_integrated(const Domain& gpu, const std::vector<Refusal>& refused) {
  return std::ranges::any_of(refused, [&](const Refusal& refusal) {
    return refusal.absent && refusal.subject == gpu.name() + " energy";
  });
}

}  // namespace

std::set<Domain> gpus_of_brand(const std::set<Domain>& gpus, const std::vector<Refusal>& refused,
                               const std::optional<std::string>& brand) {
  std::set<Domain> found;
  for (const bool integrated : {false, true}) {
    for (const auto& [name, kind] : kBrands) {
      if (brand && *brand != name) continue;
      for (const Domain& gpu : gpus) {
        if (gpu.kind() == kind && is_integrated(gpu, refused) == integrated) found.insert(gpu);
      }
      if (!found.empty()) return found;
    }
  }
  return found;
}

}  // namespace wattle
