#include "usage/gpu_brand.hpp"

#include <algorithm>
#include <array>
#include <memory>
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

std::set<Domain> gpus_found(const Survey& found) {
  std::set<Domain> gpus;
  for (const std::unique_ptr<Sensor>& sensor : found.sensors) {
    const DeviceInfo* const device = sensor->device();
    if (device != nullptr && device->kind == DeviceKind::gpu) {
      gpus.insert(sensor->channels().front().domain);
    }
  }
  for (const Refusal& refusal : found.refused) {
    if (refusal.domain && hardware_of(refusal.domain->kind()) != Hardware::cpu) {
      gpus.insert(*refusal.domain);
    }
  }
  return gpus;
}

std::set<Domain> gpus_like(const Domain& example, const std::set<Domain>& gpus,
                           const std::vector<Refusal>& refused) {
  const bool integrated = is_integrated(example, refused);
  std::set<Domain> alike;
  for (const Domain& gpu : gpus) {
    if (gpu.kind() == example.kind() && is_integrated(gpu, refused) == integrated) {
      alike.insert(gpu);
    }
  }
  return alike;
}

std::set<Domain> gpus_of_brand(const std::set<Domain>& gpus, const std::vector<Refusal>& refused,
                               const std::optional<std::string>& brand) {
  for (const bool integrated : {false, true}) {
    for (const auto& [name, kind] : kBrands) {
      if (brand && *brand != name) continue;
      const auto first = std::ranges::find_if(gpus, [&, kind = kind](const Domain& gpu) {
        return gpu.kind() == kind && is_integrated(gpu, refused) == integrated;
      });
      if (first != gpus.end()) return gpus_like(*first, gpus, refused);
    }
  }
  return {};
}

}  // namespace wattle
