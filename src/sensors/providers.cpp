#include "sensors/providers.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "sensors/daemon/daemon.hpp"
#include "sensors/drm/drm.hpp"
#include "sensors/nvml/nvml.hpp"
#include "sensors/perf/perf.hpp"
#include "sensors/powercap/powercap.hpp"
#include "sensors/refusals.hpp"

namespace wattle {
namespace {

Survey probe_perf(const System& system, const Clock& clock, const std::set<Domain>& taken) {
  return perf::probe(system, clock, taken);
}

constexpr std::array kProviders = {
    Provider{.name = "perf",
             .what = "CPU energy counters (RAPL) through perf_event_open",
             .hardware = Hardware::cpu,
             .probe = probe_perf},
    Provider{.name = "powercap",
             .what = "CPU energy counters (RAPL) through /sys/class/powercap",
             .hardware = Hardware::cpu,
             .probe = powercap::probe},
    Provider{.name = "daemon",
             .what = "CPU energy counters (RAPL) through a daemon on this machine: wattled, zeusd",
             .hardware = Hardware::cpu,
             .probe = daemon_source::probe},
    Provider{.name = "nvml",
             .what = "NVIDIA GPUs through the driver's library libnvidia-ml.so.1",
             .hardware = Hardware::nvidia_gpu,
             .probe = nvml::probe,
             .may_block = true},
    Provider{.name = "drm",
             .what = "AMD and Intel GPUs through /sys/class/drm",
             .hardware = Hardware::drm_gpu,
             .probe = drm::probe,
             .may_block = true},
};

Survey probe_one(const Provider& provider, const System& system, const Clock& clock,
                 const std::set<Domain>& taken) {
  Survey found = provider.probe(system, clock, taken);
  for (Refusal& refusal : found.refused) refusal.hardware = provider.hardware;
  return found;
}

/// The domains of a survey whose energy can be measured, in order, each once.
std::vector<Domain> domains_of(const Survey& survey) {
  std::set<Domain> domains;
  for (const auto& sensor : survey.sensors) {
    for (const Channel& channel : sensor->channels()) {
      if (channel.tells_energy()) domains.insert(channel.domain);
    }
  }
  return {domains.begin(), domains.end()};
}

}  // namespace

std::span<const Provider> providers() noexcept { return kProviders; }

Survey survey(const System& system, const Clock& clock, Asked asked) {
  Survey all;
  std::set<Domain> read;
  for (const Provider& provider : kProviders) {
    if (provider.may_block && asked == Asked::prompt) continue;
    Survey found = probe_one(provider, system, clock, read);
    for (const auto& sensor : found.sensors) {
      for (const Channel& channel : sensor->channels()) {
        if (channel.tells_energy()) read.insert(channel.domain);
      }
    }
    std::ranges::move(found.sensors, std::back_inserter(all.sensors));
    std::ranges::move(found.refused, std::back_inserter(all.refused));
  }
  all.refused = worth_telling(std::move(all.refused), read);
  return all;
}

std::vector<Survey> survey_each(const System& system, const Clock& clock) {
  std::vector<Survey> surveys;
  surveys.reserve(kProviders.size());
  for (const Provider& provider : kProviders) {
    surveys.push_back(probe_one(provider, system, clock, {}));
  }
  return surveys;
}

std::vector<Domain> available_domains(const System& system) {
  return domains_of(survey(system, machine_clock(), Asked::all));
}

std::vector<Domain> available_domains(DomainKind kind, const System& system) {
  // GPUs' drivers are asked for GPUs alone: that can take two seconds.
  const bool is_gpu = kind == DomainKind::nvidia_gpu || kind == DomainKind::amd_gpu ||
                      kind == DomainKind::intel_gpu;
  std::vector<Domain> domains =
      domains_of(survey(system, machine_clock(), is_gpu ? Asked::all : Asked::prompt));
  std::erase_if(domains, [kind](const Domain& domain) { return domain.kind() != kind; });
  return domains;
}

}  // namespace wattle
