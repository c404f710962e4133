// Finds what a meter reads: the sensors of the domains that were asked for, or the reason why not.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/forks.hpp"
#include "base/text/text.hpp"
#include "energy/metered_domains.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {
namespace {

using Domains = std::vector<Domain>;

/// The domains measured by default. The platform overlaps everything, a custom domain may.
constexpr DomainKinds kDefaultKinds = DomainKinds::of({DomainCategory::cpu, DomainCategory::gpu});

bool contains(const Domains& domains, const Domain& domain) {
  return std::ranges::find(domains, domain) != domains.end();
}

void check(const EnergyMeterOptions& options) {
  if (!options.domains) return;
  if (options.domains->empty() && options.sources.empty()) {
    throw InvalidArgument(
        "cannot measure an empty list of domains: name some, or leave the list out for all");
  }
  std::set<Domain> seen;
  for (const Domain& domain : *options.domains) {
    if (!seen.insert(domain).second) {
      throw InvalidArgument("cannot measure " + domain.name() + " twice: name it once");
    }
  }
}

/// Drivers of GPUs are asked only where a GPU is wanted: that can take two seconds.
DomainKinds kinds_for(const Domains& domains) {
  const bool are_processors = std::ranges::all_of(
      domains, [](const Domain& domain) { return kProcessorKinds.contains(domain.kind()); });
  return are_processors ? kProcessorKinds : DomainKinds::all();
}

std::string names_of(const Domains& domains) {
  return domains.empty() ? "none" : joined(domains, ", ", &Domain::name);
}

/// Refusals of the hardware that `domains` belong to; all of them if none are named.
std::vector<const SensorRefusal*> refused_of(const Survey& found, const Domains& domains) {
  std::vector<const SensorRefusal*> refused;
  for (const SensorRefusal& refusal : found.refused) {
    const bool concerns = std::ranges::any_of(
        domains, [&](const Domain& domain) { return refusal.shows.contains(domain.kind()); });
    if (domains.empty() || concerns) refused.push_back(&refusal);
  }
  return refused;
}

std::string reasons_of(const std::vector<const SensorRefusal*>& refused) {
  return joined(refused, "; ", [](const SensorRefusal* refusal) {
    return refusal->subject + ": " + refusal->reason;
  });
}

/// None of `domains` can be read: the reason, as an exception.
[[noreturn]] void fail(const Survey& found, const Domains& domains) {
  const std::vector<const SensorRefusal*> refused = refused_of(found, domains);
  for (const SensorRefusal* refusal : refused) {
    if (!refusal->denied_path.empty()) {
      throw PermissionDenied(refusal->denied_path, refusal->remedy);
    }
  }
  const std::string reasons = reasons_of(refused);
  throw NoSuchDevice(
      "cannot measure energy: " + (reasons.empty() ? "no energy counter was found" : reasons) +
      "; see `wattle doctor`");
}

/// There is no such domain, among those of its kind or at all.
[[noreturn]] void fail_for(const Domain& domain, const Survey& found, const Domains& present) {
  const DomainKinds hardware = shown_with(domain.kind());
  const bool is_hardware_present = std::ranges::any_of(
      present, [&](const Domain& other) { return hardware.contains(other.kind()); });
  // Where nothing of its kind is shown, the reason is worth more than the list.
  if (!is_hardware_present && !refused_of(found, {domain}).empty()) fail(found, {domain});
  throw NoSuchDomain("cannot measure " + domain.name() +
                         ": there is no such domain here; there are: " + names_of(present),
                     domain.name());
}

bool ignores(const EnergyMeterOptions& options) noexcept {
  return options.if_unavailable == IfUnavailable::ignore;
}

Survey find_sensors(const EnergyMeterOptions& options) {
  if (options.domains) {
    return with_kept_updates(survey(options.system, machine_clock(), kinds_for(*options.domains)));
  }
  return with_kept_updates(
      survey_chosen(options.system, machine_clock(),
                    {.kinds = kDefaultKinds,
                     .gpus = options.gpus,
                     .who = "cannot measure energy",
                     .absent = ignores(options) ? AbsentGpu::is_missing : AbsentGpu::fails}));
}

/// The domains: those that were asked for, or all of CPUs and GPUs: others may overlap them.
Domains domains_to_measure(const EnergyMeterOptions& options, const Survey& found) {
  const Domains present = domains_of(found);
  Domains domains;
  if (!options.domains) {
    std::ranges::copy_if(present, std::back_inserter(domains), [](const Domain& domain) {
      return kDefaultKinds.contains(domain.kind());
    });
    if (domains.empty() && options.sources.empty() && !ignores(options)) fail(found, {});
    return domains;
  }
  for (const Domain& domain : *options.domains) {
    const bool is_refused = std::ranges::any_of(
        found.refused, [&](const SensorRefusal& refusal) { return refusal.domain == domain; });
    if (!contains(present, domain) && !is_refused && !ignores(options))
      fail_for(domain, found, present);
    domains.push_back(domain);
  }
  const bool is_any_present =
      std::ranges::any_of(domains, [&](const Domain& domain) { return contains(present, domain); });
  if (!is_any_present && options.sources.empty() && !ignores(options)) fail(found, domains);
  return domains;
}

/// Adds the reasons that no refusal gives. Only without them the constructor throws.
void add_reasons(const EnergyMeterOptions& options, const Survey& found,
                 std::vector<Refusal>& missing) {
  const Domains present = domains_of(found);
  for (const Domain& domain : options.domains.value_or(Domains{})) {
    if (contains(present, domain)) continue;
    const std::string name = domain.name();
    if (std::ranges::count(missing, name, &Refusal::subject) > 0) continue;
    missing.push_back({.subject = name,
                       .reason = "this machine has no such domain; it has: " + names_of(present),
                       .remedy = {}});
  }
  if (present.empty() && missing.empty()) {
    missing.push_back({.subject = "energy",
                       .reason = "no energy counter was found",
                       .remedy = "see `wattle doctor`"});
  }
}

/// Columns that meters share: those of one process, which are of no use to its children.
struct SharedDomains {
  EnergyMeterOptions options;
  std::uint64_t forks = 0;
  std::weak_ptr<MeteredDomains> domains;

  [[nodiscard]] bool serves(const EnergyMeterOptions& other) const {
    return forks == wattle::forks() && options.domains == other.domains &&
           options.gpus == other.gpus && options.aligned == other.aligned &&
           options.if_unavailable == other.if_unavailable && options.system == other.system;
  }
};

}  // namespace

std::shared_ptr<MeteredDomains> MeteredDomains::share(const EnergyMeterOptions& options) {
  if (!options.sources.empty()) return open(options);
  static std::mutex mutex;
  static std::vector<SharedDomains> all;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const SharedDomains& shared) { return shared.domains.expired(); });
  for (const SharedDomains& shared : all) {
    if (!shared.serves(options)) continue;
    if (auto domains = shared.domains.lock()) return domains;
  }
  auto domains = open(options);
  all.push_back({.options = options, .forks = forks(), .domains = domains});
  return domains;
}

std::shared_ptr<MeteredDomains> MeteredDomains::open(const EnergyMeterOptions& options) {
  check(options);
  Survey found = find_sensors(options);
  Domains domains = domains_to_measure(options, found);
  std::vector<Refusal> missing = missing_of(found.refused);
  missing.insert(missing.end(), found.missing.begin(), found.missing.end());
  if (!options.domains) log_missing("energy", found.refused);
  if (ignores(options)) add_reasons(options, found, missing);
  return std::make_shared<MeteredDomains>(MeterParts{.sensors = std::move(found.sensors),
                                                     .domains = std::move(domains),
                                                     .sources = options.sources,
                                                     .missing = std::move(missing),
                                                     .aligned = options.aligned,
                                                     .may_lack_domains = ignores(options)},
                                          machine_clock());
}

}  // namespace wattle::detail
