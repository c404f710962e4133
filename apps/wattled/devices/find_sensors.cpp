#include "devices/find_sensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/clock.hpp"
#include "sensors/providers.hpp"
#include "serve/log.hpp"

namespace wattle::daemon {
namespace {

DomainKinds kinds_of(GpuBackend backend) {
  switch (backend) {
    case GpuBackend::nvidia:
      return {DomainKind::nvidia_gpu};
    case GpuBackend::amd:
      return {DomainKind::amd_gpu};
    case GpuBackend::all:
      break;
  }
  return DomainKinds::of({DomainCategory::gpu});
}

}  // namespace

void log_refusals(const Survey& found) {
  for (const SensorRefusal& refusal : found.refused) {
    if (refusal.absent) continue;
    log_warning(fmt::format("{} ({}) is not served: {}{}{}", refusal.subject, refusal.source,
                            refusal.reason,
                            refusal.remedy.empty() ? "" : "; remedy: ", refusal.remedy));
  }
}

Survey find_sensors(const System& system, GpuBackend backend, DomainKinds kinds) {
  Survey found = survey(system, machine_clock(), kinds);
  const DomainKinds wanted = kinds_of(backend);
  std::erase_if(found.sensors, [&](const std::unique_ptr<Sensor>& sensor) {
    return is_gpu(*sensor) && !wanted.contains(gpu_domain_of(*sensor).kind());
  });
  std::erase_if(found.refused, [&](const SensorRefusal& refusal) {
    if (!refusal.shows.has(DomainCategory::gpu)) return false;
    return refusal.domain ? !wanted.contains(refusal.domain->kind())
                          : !wanted.overlaps(refusal.shows);
  });
  return found;
}

DomainKinds missing_kinds(const Service& service, GpuBackend backend) {
  DomainKinds unwanted = DomainKinds::of({DomainCategory::gpu});
  unwanted.remove(kinds_of(backend));
  DomainKinds missing = service.missing_kinds();
  missing.remove(unwanted);
  return missing;
}

}  // namespace wattle::daemon
