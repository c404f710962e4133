#include "sensors/powercap/powercap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/cpu_zones.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/powercap/counter_sensor.hpp"
#include "sensors/powercap/diagnosis.hpp"
#include "sensors/read_status.hpp"

namespace wattle::powercap {
namespace {

namespace fs = std::filesystem;

/// A zone's directory and what its name means.
struct Zone {
  std::string directory;  ///< "intel-rapl:0:1"
  fs::path path;
  Domain domain;
};

/// A top-level zone with the zones inside it.
struct ZoneTree {
  Zone top;
  std::vector<Zone> inner;
};

std::optional<std::uint64_t> read_number(const fs::path& path) {
  const auto line = read_line(path.string());
  return line ? parse_unsigned<std::uint64_t>(*line) : std::nullopt;
}

/// The zones in the order in which they are considered: the processor's own registers
/// (`intel-rapl`) before any other way to the same counters, then by number.
ZoneFolders zones_in_order(const System& system) {
  ZoneFolders found = list_zone_folders(system);
  std::ranges::sort(found.zones, {}, [](const ZoneFolder& zone) {
    const ZoneId id = *parse_zone_id(zone.directory);
    return std::tuple(id.control != "intel-rapl", id.control, id.zone, id.sub);
  });
  return found;
}

/// Why a zone's name is unknown, after `read_line` failed.
std::string no_name(int error) {
  if (error == 0) return "it has no name";
  return fmt::format("its name cannot be read: {}", std::generic_category().message(error));
}

/// AMD's kernels show a package's counter once a die, and a core's as that of all cores.
constexpr const char* kNoVendor = "what its counter counts depends on the vendor, which is unknown";

/// Twice the largest limit that the zone states (docs/sensors/powercap.md), else the default.
Watts max_power(const Zone& zone, Watts fallback) {
  std::uint64_t largest_uw = 0;
  constexpr int kMostConstraints = 8;  // long term, short term, peak
  for (int i = 0; i < kMostConstraints; ++i) {
    for (const char* limit : {"max_power_uw", "power_limit_uw"}) {
      const auto uw = read_number(zone.path / fmt::format("constraint_{}_{}", i, limit));
      largest_uw = std::max(largest_uw, uw.value_or(0));
    }
  }
  return largest_uw > 0 ? Watts(2e-6 * static_cast<double>(largest_uw)) : fallback;
}

/// Finds zones and opens their counters, one probe long.
class PowercapProbe {
 public:
  PowercapProbe(const System& system, const TimeSource& clock, const std::set<Domain>& taken)
      : system_(system), clock_(clock), cpu_(read_cpu_info(system)), taken_(taken) {}

  Survey run() {
    const auto [zones, error, unlisted] = zones_in_order(system_);
    const bool listed = error == 0 || error == ENOENT;
    bool any_reachable = false;
    for (const auto& [directory, path] : zones) {
      any_reachable = sort_in(directory, path) || any_reachable;
    }
    if (!any_reachable) {
      found_.refused = {listed ? no_zones(system_, cpu_, !zones.empty())
                               : not_listed(unlisted.string(), error, {})};
      return std::move(found_);
    }
    count_hidden();
    if (!listed && taken_.empty()) {
      found_.refused.push_back(
          not_listed(unlisted.string(), error, {DomainKind::package, DomainKind::dram}));
    }
    for (auto& [key, family] : families_) open_family(family);
    return std::move(found_);
  }

 private:
  void refuse(std::string subject, std::string reason, std::string proof,
              std::optional<Domain> domain = std::nullopt,
              RefusalScope scope = RefusalScope::part) {
    found_.refused.push_back({.subject = std::move(subject),
                              .reason = std::move(reason),
                              .proof = std::move(proof),
                              .domain = domain,
                              .scope = scope});
  }

  /// The domain of a top-level zone. AMD's counters are those of the package: Linux 6.9 to 6.11
  /// shows the same one for each core complex, as if these were dies with counters of their own.
  [[nodiscard]] Domain scope_of(const Domain& domain) const {
    const bool is_package = domain.kind() == DomainKind::package;
    return is_package && cpu_.is_amd() ? Domain::package(domain.index()) : domain;
  }

  /// Puts a zone into its family, or refuses it. False where the link to it leads nowhere.
  bool sort_in(const std::string& directory, const fs::path& path) {
    const auto id = parse_zone_id(directory);
    if (!id) return false;
    const std::string name_path = (path / "name").string();
    const auto name = read_line(name_path);
    if (!name) {
      const int error = errno;
      std::error_code ignored;
      if (fs::status(path, ignored).type() == fs::file_type::not_found) return false;
      refuse_unplaced(directory, no_name(error), name_path,
                      id->sub ? DomainKind::dram : DomainKind::package);
      return true;
    }
    const auto key = std::tuple(id->control != "intel-rapl", std::string(id->control), id->zone);
    if (!id->sub) {
      if (const auto domain = parse_top_zone_name(*name)) {
        families_.emplace(key, ZoneTree{.top = {directory, path, scope_of(*domain)}, .inner = {}});
        return true;
      }
    } else if (const auto kind = parse_sub_zone_name(*name)) {
      const auto family = families_.find(key);
      if (family != families_.end() && family->second.top.domain.kind() == DomainKind::package) {
        family->second.inner.push_back({directory, path, family->second.top.domain.as(*kind)});
        return true;
      }
      refuse(directory, fmt::format("this {} lies in no package that Wattle knows", *name),
             name_path);
      if (*kind == DomainKind::dram) found_.refused.back().hidden.kinds = {DomainKind::dram};
      return true;
    }
    refuse(directory, fmt::format("unknown zone name: {}", printable(*name)), name_path);
    return true;
  }

  /// As `refuse`, for a zone that may be a domain of this kind.
  void refuse_unplaced(const std::string& directory, std::string reason, std::string proof,
                       DomainKind may_be) {
    refuse(directory, std::move(reason), std::move(proof));
    found_.refused.back().hidden.kinds = {may_be};
  }
  /// Number of domains of `kind` that the zones' names show.
  [[nodiscard]] std::size_t named(DomainKind kind) const {
    std::set<Domain> domains;
    for (const auto& [key, family] : families_) {
      domains.insert(family.top.domain);
      for (const Zone& zone : family.inner) domains.insert(zone.domain);
    }
    return static_cast<std::size_t>(std::ranges::count(domains, kind, &Domain::kind));
  }
  /// How many domains there are if each unplaced zone is another one.
  void count_hidden() {
    const std::vector<SensorRefusal> refused = found_.refused;
    for (SensorRefusal& refusal : found_.refused) {
      if (refusal.hidden.kinds.empty()) continue;
      const auto alike = std::ranges::count_if(refused, [&](const SensorRefusal& other) {
        return other.hidden.kinds == refusal.hidden.kinds;
      });
      refusal.hidden.expected =
          named(refusal.hidden.kinds.front()) + static_cast<std::size_t>(alike);
    }
  }

  /// True if another provider reads all of it.
  [[nodiscard]] bool is_taken(const ZoneTree& family) const {
    return taken_.contains(family.top.domain) &&
           std::ranges::all_of(family.inner,
                               [&](const Zone& zone) { return taken_.contains(zone.domain); });
  }

  void open_family(const ZoneTree& family) {
    if (is_taken(family)) return;
    std::vector<OpenCounter> counters;
    const Watts top_power = max_power(family.top, traits_of(family.top.domain).max_power);
    open_zone(family.top, top_power, counters);
    for (const Zone& zone : family.inner) {
      // Cores and integrated GPU lie inside the package and cannot exceed it.
      const bool inside = zone.domain.kind() != DomainKind::dram;
      open_zone(zone, max_power(zone, inside ? top_power : traits_of(DomainKind::dram).max_power),
                counters);
    }
    if (!counters.empty()) {
      found_.sensors.push_back(std::make_unique<CounterSensor>(std::move(counters), clock_));
    }
  }

  void open_zone(const Zone& zone, Watts power, std::vector<OpenCounter>& counters) {
    if (taken_.contains(zone.domain)) return;
    const std::string name = zone.domain.name();
    const std::string path = (zone.path / "energy_uj").string();
    if (zone.domain.kind() == DomainKind::core && cpu_.is_amd()) {
      refuse(name, "on AMD processors this counter is that of a single core, not of all",
             fmt::format("{}; vendor {}", path, cpu_.vendor), zone.domain);
      return;
    }
    if (opened_.contains(zone.domain)) {
      refuse(zone.directory,
             fmt::format("the same counter as {}, which is read already: counted once", name), path,
             std::nullopt, RefusalScope::spare);
      return;
    }
    if (cpu_.error != 0 && (zone.domain.die() || zone.domain.kind() == DomainKind::core)) {
      refuse(name, kNoVendor, cpu_info_proof(system_, cpu_), zone.domain);
      return;
    }
    const TickScale scale = identify_scale(read_number(zone.path / "max_energy_range_uj"));
    Fd file = open_for_reading(path);
    AttributeText text;
    const ssize_t count = file ? read_at_start(file.get(), text) : -1;
    if (count < 0) {
      found_.refused.push_back(unreadable(zone.domain, path, errno, system_));
      return;
    }
    const std::string_view shown(text.data(), static_cast<std::size_t>(count));
    if (shown.size() == text.size() || !parse_energy(shown, scale)) {
      refuse(name, fmt::format("its counter does not hold an energy: '{}'", printable(shown)), path,
             zone.domain);
      return;
    }
    opened_.insert(zone.domain);
    counters.push_back({.channel = {.domain = zone.domain,
                                    .counter = {.tick = scale.tick,
                                                .modulus = scale.modulus,
                                                .max_power = power,
                                                .least_power = traits_of(zone.domain).least_power},
                                    .update = kRaplUpdate,
                                    .contained_in = parent_of(zone.domain),
                                    .source = "powercap",
                                    .place = path},
                        .energy_uj = std::move(file),
                        .scale = scale});
  }

  const System& system_;
  const TimeSource& clock_;
  CpuInfo cpu_;
  const std::set<Domain>& taken_;
  std::map<std::tuple<bool, std::string, std::uint32_t>, ZoneTree> families_;
  std::set<Domain> opened_;
  Survey found_;
};

}  // namespace

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& taken) {
  return PowercapProbe(system, clock, taken).run();
}

}  // namespace wattle::powercap
