#include "sensors/providers.hpp"

#include <array>
#include <iterator>
#include <utility>

#include "base/text/printable_text.hpp"
#include "sensors/cray/cray.hpp"
#include "sensors/daemon/daemon.hpp"
#include "sensors/drm/drm.hpp"
#include "sensors/hwmon/hwmon.hpp"
#include "sensors/nvml/nvml.hpp"
#include "sensors/perf/perf.hpp"
#include "sensors/powercap/powercap.hpp"
#include "sensors/refusals.hpp"

namespace wattle {
namespace {

Survey probe_perf(const System& system, const TimeSource& clock, const std::set<Domain>& taken) {
  return perf::probe(system, clock, taken);
}

constexpr std::array kProviders = {
    Provider{.name = "perf",
             .what = "CPU energy counters (RAPL) through perf_event_open",
             .shows = kProcessorKinds,
             .probe = probe_perf},
    Provider{.name = "powercap",
             .what = "CPU energy counters (RAPL) through /sys/class/powercap",
             .shows = kProcessorKinds,
             .probe = powercap::probe},
    Provider{.name = "daemon",
             .what = "CPU energy counters (RAPL) through a daemon on this machine: wattled, zeusd",
             .shows = kProcessorKinds,
             .probe = daemon_source::probe},
    Provider{.name = "nvml",
             .what = "NVIDIA GPUs through the driver's library libnvidia-ml.so.1",
             .shows = {DomainKind::nvidia_gpu},
             .probe = nvml::probe},
    Provider{.name = "drm",
             .what = "AMD and Intel GPUs through /sys/class/drm",
             .shows = {DomainKind::amd_gpu, DomainKind::intel_gpu},
             .probe = drm::probe},
    Provider{.name = "cray",
             .what = "HPE Cray's counters of a node through /sys/cray/pm_counters",
             .shows = {DomainKind::custom},
             .probe = cray::probe},
    Provider{.name = "hwmon",
             .what = "power rails, meters and batteries through /sys/class/hwmon and power_supply",
             .shows = {DomainKind::custom},
             .probe = hwmon::probe},
};

/// Paths of the user's choice and names of devices are foreign.
void make_printable(SensorRefusal& refusal) {
  for (std::string* const text :
       {&refusal.subject, &refusal.reason, &refusal.proof, &refusal.remedy, &refusal.risk}) {
    *text = PrintableText(*text);
  }
}

Survey probe_one(const Provider& provider, const System& system, const TimeSource& clock,
                 const std::set<Domain>& taken) {
  Survey found = provider.probe(system, clock, taken);
  for (SensorRefusal& refusal : found.refused) {
    refusal.source = provider.name;
    refusal.shows = provider.shows;
    make_printable(refusal);
  }
  return found;
}

}  // namespace

std::span<const Provider> providers() noexcept { return kProviders; }

DomainKinds shown_with(DomainKind kind) noexcept {
  DomainKinds kinds = {kind};
  for (const Provider& provider : kProviders) {
    if (provider.shows.contains(kind)) kinds.add(provider.shows);
  }
  return kinds;
}

Survey survey(const System& system, const TimeSource& clock, DomainKinds wanted) {
  Survey all;
  std::set<Domain> read;
  for (const Provider& provider : kProviders) {
    if (!provider.shows.overlaps(wanted)) continue;
    Survey found = probe_one(provider, system, clock, read);
    for (const auto& sensor : found.sensors) add_energy_domains(sensor->channels(), read);
    std::ranges::move(found.sensors, std::back_inserter(all.sensors));
    std::ranges::move(found.refused, std::back_inserter(all.refused));
  }
  all.refused = worth_reporting(std::move(all.refused), read);
  return all;
}

Survey survey_chosen(const System& system, const TimeSource& clock, const SensorChoice& choice) {
  Survey found = survey(system, clock, kinds_to_find(choice.kinds, choice.gpus));
  keep_selected(choice.gpus, found, choice.who, choice.absent);
  return found;
}

std::vector<Survey> survey_each(const System& system, const TimeSource& clock) {
  std::vector<Survey> surveys;
  surveys.reserve(kProviders.size());
  for (const Provider& provider : kProviders) {
    surveys.push_back(probe_one(provider, system, clock, {}));
  }
  return surveys;
}

std::vector<Domain> domains_of(const Survey& survey) {
  std::set<Domain> domains;
  for (const auto& sensor : survey.sensors) add_energy_domains(sensor->channels(), domains);
  return {domains.begin(), domains.end()};
}

std::vector<Domain> available_domains(const System& system) {
  return domains_of(survey(system, machine_clock(), DomainKinds::all()));
}

std::vector<Domain> available_domains(DomainKind kind, const System& system) {
  // GPUs' drivers are asked for GPUs alone: that can take two seconds.
  std::vector<Domain> domains = domains_of(survey(system, machine_clock(), {kind}));
  std::erase_if(domains, [kind](const Domain& domain) { return domain.kind() != kind; });
  return domains;
}

}  // namespace wattle
