#include "api/metrics.hpp"

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

/// A family with a sample of each domain that has the value.
struct DomainFamily {
  std::string_view name;
  std::string_view help;
  std::string_view unit;
  std::optional<double> DomainMetrics::*value;
  MetricKind kind = MetricKind::gauge;
  bool is_of_energy = false;  ///< it says something about `energy_j`
};

constexpr std::array kDomainFamilies{
    DomainFamily{"wattle_energy_joules",
                 "Cumulative energy; add up only domains with additive=true.", "joules",
                 &DomainMetrics::energy_j, MetricKind::counter, true},
    DomainFamily{"wattle_energy_uncertainty_joules",
                 "Uncertainty (k = 2) of energies with source=integrated.", "joules",
                 &DomainMetrics::energy_uncertainty_j, MetricKind::gauge, true},
    DomainFamily{"wattle_energy_unknown_seconds",
                 "Time that is missing in an energy since it was 0.", "seconds",
                 &DomainMetrics::energy_unknown_s, MetricKind::counter, true},
    DomainFamily{
        "wattle_power_watts",
        "Mean power since a scrape at least 1 s earlier, or the power that the device reports.",
        "watts", &DomainMetrics::power_w},
    DomainFamily{"wattle_power_limit_watts", "Power limit of the device.", "watts",
                 &DomainMetrics::power_limit_w},
    DomainFamily{"wattle_gpu_utilization_ratio", "Fraction of time the GPU was busy.", "ratio",
                 &DomainMetrics::utilization_ratio},
    DomainFamily{"wattle_memory_used_bytes", "Memory in use on the device.", "bytes",
                 &DomainMetrics::memory_used_bytes},
    DomainFamily{"wattle_memory_total_bytes", "Memory of the device.", "bytes",
                 &DomainMetrics::memory_total_bytes},
    DomainFamily{"wattle_gpu_clock_hertz", "Clock of the GPU's processors.", "hertz",
                 &DomainMetrics::clock_hz},
    DomainFamily{"wattle_memory_clock_hertz", "Clock of the device's memory.", "hertz",
                 &DomainMetrics::memory_clock_hz},
    DomainFamily{"wattle_temperature_celsius", "Temperature of the device.", "celsius",
                 &DomainMetrics::temperature_celsius},
    DomainFamily{"wattle_power_coverage_ratio",
                 "Fraction of time that the sensor of power samples, where that is known.", "ratio",
                 &DomainMetrics::coverage_ratio},
    DomainFamily{"wattle_sensor_last_success_timestamp_seconds",
                 "Unix time of the last successful reading.", "seconds",
                 &DomainMetrics::last_success_unix_s},
};

std::vector<Label> labels_of(const DomainMetrics& domain, const std::string& source) {
  return without_empty({{"domain", printable(domain.domain)},
                        {"device", printable(domain.device)},
                        {"vendor", printable(domain.vendor)},
                        {"source", printable(source)},
                        {"additive", domain.additive ? "true" : "false"}});
}

std::vector<Label> labels_of(const DomainMetrics& domain) {
  return labels_of(domain, domain.source);
}

/// An energy can come from another source than the rest.
std::vector<Label> energy_labels_of(const DomainMetrics& domain) {
  return labels_of(domain, domain.energy_source.empty() ? domain.source : domain.energy_source);
}

MetricFamily family_of(const DaemonMetrics& metrics, const DomainFamily& shown) {
  MetricFamily family{
      .name = shown.name, .help = shown.help, .unit = shown.unit, .kind = shown.kind};
  for (const DomainMetrics& domain : metrics.domains) {
    const std::optional<double>& value = domain.*shown.value;
    if (!value || (shown.is_of_energy && !domain.energy_j)) continue;
    MetricSample& sample = family.samples.emplace_back();
    sample.labels = shown.is_of_energy ? energy_labels_of(domain) : labels_of(domain);
    sample.value = *value;
    if (shown.kind == MetricKind::counter) sample.created_unix_s = domain.created_unix_s;
  }
  return family;
}

MetricFamily up_of(const DaemonMetrics& metrics) {
  MetricFamily family{.name = "wattle_sensor_up",
                      .help = "1 if the last reading succeeded and the counter moves."};
  for (const DomainMetrics& domain : metrics.domains) {
    family.samples.push_back({labels_of(domain), domain.up ? 1.0 : 0.0});
  }
  return family;
}

MetricFamily devices_of(const DaemonMetrics& metrics) {
  MetricFamily family{.name = "wattle_device",
                      .help = "What a device is: join on domain and device.",
                      .kind = MetricKind::info};
  for (const DomainMetrics& domain : metrics.domains) {
    family.samples.push_back({without_empty({{"domain", printable(domain.domain)},
                                             {"device", printable(domain.device)},
                                             {"vendor", printable(domain.vendor)},
                                             {"model", printable(domain.info.model)},
                                             {"uuid", printable(domain.info.uuid)},
                                             {"pci", printable(domain.info.pci_address)},
                                             {"driver", printable(domain.info.driver)}})});
  }
  return family;
}

MetricFamily resets_of(const DaemonMetrics& metrics) {
  MetricFamily family{.name = "wattle_energy_resets",
                      .help = "Number of times the hardware counter restarted.",
                      .kind = MetricKind::counter};
  for (const DomainMetrics& domain : metrics.domains) {
    if (!domain.energy_j || !domain.resets) continue;
    family.samples.push_back(
        {labels_of(domain), static_cast<double>(*domain.resets), metrics.started_unix_s});
  }
  return family;
}

MetricFamily refused_of(const DaemonMetrics& metrics) {
  MetricFamily family{.name = "wattle_sensor_refused",
                      .help = "Sensors that cannot be read, with the reason.",
                      .kind = MetricKind::info};
  std::set<std::vector<Label>> seen;  // a duplicate would invalidate the whole scrape
  const auto add = [&](const std::string& source, const std::string& device,
                       const std::string& reason) {
    auto labels = without_empty({{"source", printable(source)},
                                 {"device", printable(device)},
                                 {"reason", printable(reason)}});
    if (seen.insert(labels).second) family.samples.push_back({std::move(labels)});
  };
  for (const RefusalMetrics& refusal : metrics.refused) {
    add(refusal.source, refusal.device, refusal.reason);
  }
  for (const DomainMetrics& domain : metrics.domains) {
    if (!domain.reason.empty()) add(domain.source, domain.domain, domain.reason);
  }
  return family;
}

MetricFamily counted_of(const DaemonMetrics& metrics, std::string_view name, std::string_view help,
                        const std::vector<ReasonMetrics>& reasons) {
  MetricFamily family{.name = name, .help = help, .kind = MetricKind::counter};
  for (const ReasonMetrics& each : reasons) {
    family.samples.push_back({{{"reason", printable(each.reason)}},
                              static_cast<double>(each.count),
                              metrics.started_unix_s});
  }
  return family;
}

/// Under the names that all programs use.
void add_own_cost(const DaemonMetrics& metrics, std::vector<MetricFamily>& families) {
  const OwnCost& own = metrics.own;
  if (own.cpu_s) {
    families.push_back({.name = "process_cpu_seconds",
                        .help = "CPU time of the daemon.",
                        .unit = "seconds",
                        .kind = MetricKind::counter,
                        .samples = {{{}, *own.cpu_s, metrics.started_unix_s}}});
  }
  if (own.resident_bytes) {
    families.push_back({.name = "process_resident_memory_bytes",
                        .help = "Memory of the daemon.",
                        .unit = "bytes",
                        .samples = {{{}, *own.resident_bytes}}});
  }
}

constexpr std::size_t kMostMetricTags = 64;
// Bounds are powers of 2 from 1 mJ to 1 MJ, which are bounds of the distributions, too, unless
// these span 19 orders of magnitude.
constexpr int kLeastBound = -10;
constexpr int kMostBound = 20;

/// Units of at most each bound.
std::vector<MetricBucket> buckets_of(const UnitDistribution& found) {
  std::vector<MetricBucket> buckets;
  std::uint64_t count = found.none;
  std::size_t place = 0;
  double up_to = found.from.si() * found.ratio;
  for (int power = kLeastBound; power <= kMostBound; ++power) {
    const double bound = std::exp2(power);
    // Products of roots of 2 are a little off.
    for (; place < found.counts.size() && up_to <= bound * (1.0 + 1e-9); ++place) {
      count += found.counts[place];
      up_to *= found.ratio;
    }
    buckets.push_back({bound, count});
  }
  return buckets;
}

/// The distribution's own buckets: their bounds are powers of 2^(2^-schema).
NativeHistogram native_of(const UnitDistribution& found) {
  constexpr int kFinest = 5;  // of the sketch
  NativeHistogram native{.schema = kFinest, .none = found.none, .counts = found.counts};
  if (found.counts.empty()) return native;
  const double octaves = std::log2(found.ratio);
  native.schema = -static_cast<int>(std::lround(std::log2(octaves)));
  native.first = static_cast<int>(std::lround(std::log2(found.from.si()) / octaves)) + 1;
  return native;
}

void add_units(const UnitMetrics& units, std::vector<MetricFamily>& families) {
  MetricFamily energy{.name = "wattle_unit_energy_joules",
                      .help = "Energy of each unit of work that has ended: its share.",
                      .unit = "joules",
                      .kind = MetricKind::histogram};
  MetricFamily work{.name = "wattle_unit_work",
                    .help = "Work that units counted, such as tokens.",
                    .kind = MetricKind::counter};
  MetricFamily unknown{.name = "wattle_units_unknown",
                       .help = "Units of work whose energy is unknown.",
                       .kind = MetricKind::counter};
  for (const auto& [name, tag] : served_tags(units.report)) {
    const std::vector<Label> labels = {{"tag", name}};
    energy.samples.push_back({.labels = labels,
                              .value = tag->sum.si(),
                              .created_unix_s = units.since_unix_s,
                              .buckets = buckets_of(tag->distribution),
                              .count = tag->count,
                              .native = native_of(tag->distribution)});
    work.samples.push_back({labels, tag->work, units.since_unix_s});
    unknown.samples.push_back({labels, static_cast<double>(tag->unknown), units.since_unix_s});
  }
  families.push_back(std::move(energy));
  families.push_back(std::move(work));
  families.push_back(std::move(unknown));
  families.push_back({.name = "wattle_units_running",
                      .help = "Units of work that have not ended.",
                      .samples = {{{}, static_cast<double>(units.report.running)}}});
  families.push_back({.name = "wattle_units_timed_out",
                      .help = "Units of work that ended because their timeout passed.",
                      .kind = MetricKind::counter,
                      .samples = {{{}, static_cast<double>(units.timed_out), units.since_unix_s}}});
  families.push_back(
      {.name = "wattle_units_beyond_tags",
       .help = "Units of work that count as other: there were too many tags.",
       .kind = MetricKind::counter,
       .samples = {{{}, static_cast<double>(units.report.beyond_tags), units.since_unix_s}}});
}

MetricFamily build_of(const DaemonMetrics& metrics) {
  return {.name = "wattle_build",
          .help = "Version of wattled.",
          .kind = MetricKind::info,
          .samples = {{{{"version", printable(metrics.version)}}}}};
}

}  // namespace

std::vector<ServedTag> served_tags(const UnitsReport& report) {
  std::vector<ServedTag> served;
  std::set<std::string> seen;  // as in `refused_of`
  for (const UnitTag& tag : report.tags) {
    if (!tag.phase.empty()) continue;
    if (served.size() == kMostMetricTags) break;
    std::string name = printable(tag.tag, std::string::npos);
    if (seen.insert(name).second) served.push_back({.name = std::move(name), .tag = &tag});
  }
  return served;
}

std::vector<MetricFamily> families_of(const DaemonMetrics& metrics) {
  std::vector<MetricFamily> families(kDomainFamilies.size());
  std::ranges::transform(kDomainFamilies, families.begin(),
                         [&](const DomainFamily& shown) { return family_of(metrics, shown); });
  families.push_back(up_of(metrics));
  families.push_back(refused_of(metrics));
  families.push_back(devices_of(metrics));
  families.push_back(resets_of(metrics));
  families.push_back(counted_of(metrics, "wattle_samples_dropped",
                                "Samples dropped because a stream client was too slow.",
                                metrics.dropped));
  families.push_back(counted_of(metrics, "wattle_clients_turned_away",
                                "Clients refused or disconnected to make room, by reason.",
                                metrics.turned_away));
  if (metrics.units) add_units(*metrics.units, families);
  add_own_cost(metrics, families);
  families.push_back(build_of(metrics));
  return families;
}

std::optional<double> PowerSinceScrape::at(TimePoint time, double energy_j, std::uint64_t losses) {
  const CounterMark now{time, energy_j};
  const bool fell = next_ && energy_j < next_->energy_j;
  const bool lost = std::exchange(losses_, losses) != losses || fell;
  if (!next_ || lost) {
    has_restarted_ = next_.has_value();
    base_.reset();
    next_ = now;
    return std::nullopt;
  }
  if (time - next_->time >= kMinWindow) base_ = std::exchange(next_, now);
  if (!base_) return std::nullopt;
  return (energy_j - base_->energy_j) / Seconds(time - base_->time).count();
}

}  // namespace wattle::daemon
