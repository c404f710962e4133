#include "sensors/perf/perf.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/machine_extent.hpp"
#include "sensors/perf/diagnosis.hpp"
#include "sensors/perf/event_sensor.hpp"

namespace wattle::perf {
namespace {

namespace fs = std::filesystem;

/// A CPU on which counters are read, and the package (or die) that they are of.
struct CounterCpu {
  std::uint32_t cpu;
  std::uint32_t package;
  std::optional<std::uint32_t> die;

  [[nodiscard]] Domain domain(DomainKind kind) const {
    const Domain domain = Domain::package(package).as(kind);
    // A socket has one platform counter, which all of its dies show.
    return die && kind != DomainKind::psys ? domain.on_die(*die) : domain;
  }
};

/// An event that the PMU offers, or why it cannot be used.
struct Event {
  EventName name;
  std::uint64_t config = 0;
  EventScale scale;
  std::string flaw{};
  std::string proof{};
};

/// The contents of a file, as proof.
std::string content_of(const fs::path& path, const std::optional<std::string>& line) {
  const int error = errno;
  if (line) return fmt::format("{} holds '{}'", path.string(), printable(*line));
  return error == 0 ? fmt::format("{} is empty", path.string())
                    : fmt::format("{}: {}", path.string(), std::generic_category().message(error));
}

/// Finds the PMU and opens its events, one probe long.
class PerfProbe {
 public:
  PerfProbe(const System& system, const TimeSource& clock, const std::set<Domain>& taken,
            const SystemCalls& calls)
      : system_(system),
        clock_(clock),
        calls_(calls),
        devices_(system.sysfs / "bus" / "event_source" / "devices"),
        pmu_(devices_ / "power"),
        taken_(taken) {}

  Survey run() {
    const std::optional<std::string> type = read_line((pmu_ / "type").string());
    if (!type && errno == ENOENT) {
      found_.refused.push_back(no_pmu(pmu_.string()));
      return std::move(found_);
    }
    const auto number = type ? parse_unsigned<std::uint32_t>(*type) : std::nullopt;
    if (!number) {
      refuse_all("the PMU's number cannot be read", content_of(pmu_ / "type", type));
      return std::move(found_);
    }
    type_ = *number;
    const std::optional<std::vector<CounterCpu>> units = find_units();
    if (!units) return std::move(found_);
    const std::vector<Event> events = find_events();
    const bool is_platform_alone = std::ranges::all_of(
        events, [](const Event& event) { return event.name.kind == DomainKind::psys; });
    if (!events.empty() && is_platform_alone) {
      if (const auto guest = proof_of_guest(system_, read_cpu_info(system_))) {
        found_.refused.push_back(virtual_platform((pmu_ / "events").string(), *guest));
        return std::move(found_);
      }
    }
    count_hidden(units->size(), events);
    for (const CounterCpu& unit : *units) open_unit(unit, events);
    return std::move(found_);
  }

 private:
  /// Nothing can be read through this PMU.
  void refuse_all(std::string reason, std::string proof) {
    found_.refused.push_back({.subject = "CPU energy",
                              .reason = std::move(reason),
                              .proof = std::move(proof),
                              .scope = RefusalScope::interface});
  }

  void refuse(std::string subject, std::string reason, std::string proof,
              std::optional<Domain> domain = std::nullopt) {
    found_.refused.push_back({.subject = std::move(subject),
                              .reason = std::move(reason),
                              .proof = std::move(proof),
                              .domain = domain});
  }

  /// A CPU whose counters may be those of any package.
  void refuse_unplaced(std::uint32_t cpu, std::string reason, std::string proof) {
    refuse(fmt::format("CPU {}", cpu), std::move(reason), std::move(proof));
    found_.refused.back().hidden.kinds = {DomainKind::package};
    ++unplaced_;
  }
  /// How many packages there are if each unplaced CPU is in another one.
  void count_hidden(std::size_t placed, const std::vector<Event>& events) {
    const bool has_dram = std::ranges::any_of(
        events, [](const Event& event) { return event.name.kind == DomainKind::dram; });
    for (SensorRefusal& refusal : found_.refused) {
      if (refusal.hidden.kinds.empty()) continue;
      if (has_dram) refusal.hidden.kinds.push_back(DomainKind::dram);
      refusal.hidden.expected = placed + unplaced_;
    }
  }

  /// A number of the CPU's topology; refuses the CPU where there is none.
  std::optional<std::uint32_t> topology(std::uint32_t cpu, const char* file) {
    const fs::path path = cpu_topology_file(system_, cpu, file);
    const auto line = read_line(path.string());
    const auto number = line ? parse_unsigned<std::uint32_t>(*line) : std::nullopt;
    if (!number) {
      refuse_unplaced(cpu, "the package of its counters is unknown", content_of(path, line));
    }
    return number;
  }

  /// One unit for each counter; absent, and refused, where the PMU names no CPU.
  std::optional<std::vector<CounterCpu>> find_units() {
    const auto line = read_line((pmu_ / "cpumask").string());
    const auto cpus = line ? parse_cpu_list(*line) : std::nullopt;
    if (!cpus) {
      refuse_all("the PMU does not say on which CPUs to count", content_of(pmu_ / "cpumask", line));
      return std::nullopt;
    }
    std::vector<CounterCpu> units;
    std::map<std::uint32_t, int> cpus_of_package;
    int most = 0;
    for (const std::uint32_t cpu : *cpus) {
      const auto package = topology(cpu, "physical_package_id");
      if (!package) continue;
      units.push_back({.cpu = cpu, .package = *package, .die = std::nullopt});
      most = std::max(most, ++cpus_of_package[*package]);
    }
    if (most > 1) return number_dies(std::move(units));
    return units;
  }

  /// Several CPUs stand for one package: because the counters are those of dies, or because the
  /// kernel believes so.
  std::vector<CounterCpu> number_dies(std::vector<CounterCpu> units) {
    // AMD's counters are those of the package. Linux 6.9 to 6.11 lists a CPU for each core complex,
    // all of which show the same register.
    const CpuInfo info = read_cpu_info(system_);
    std::vector<CounterCpu> distinct;
    std::set<Domain> seen;
    for (CounterCpu unit : units) {
      if (info.error != 0) {
        refuse_unplaced(unit.cpu, "it is unknown whether its counters are those of a die",
                        cpu_info_proof(system_, info));
        continue;
      }
      if (!info.is_amd()) {
        unit.die = topology(unit.cpu, "die_id");
        if (!unit.die) continue;
      }
      if (seen.insert(unit.domain(DomainKind::package)).second) distinct.push_back(unit);
    }
    return distinct;
  }

  std::vector<Event> find_events() {
    std::vector<Event> events;
    for (const EventName& name : kEventNames) {
      const fs::path path = pmu_ / "events" / name.name;
      const auto text = read_line(path.string());
      if (!text && errno == ENOENT) continue;
      Event event{.name = name};
      const auto config = text ? parse_event(*text) : std::nullopt;
      if (config) {
        event.config = *config;
        find_scale(event, path.string());
      } else {
        event.flaw = "its event cannot be understood";
        event.proof = content_of(path, text);
      }
      events.push_back(std::move(event));
    }
    if (events.empty()) {
      refuse_all("the PMU offers no energy event",
                 fmt::format("none of Wattle's events is in {}", (pmu_ / "events").string()));
    }
    return events;
  }

  static void find_scale(Event& event, const std::string& path) {
    const auto unit = read_line(path + ".unit");
    if (!unit || !is_joules(*unit)) {
      event.flaw = "its unit is unknown";
      event.proof = content_of(path + ".unit", unit);
      return;
    }
    const auto text = read_line(path + ".scale");
    const auto scale = text ? parse_scale(*text) : std::nullopt;
    if (scale) {
      event.scale = *scale;
    } else {
      event.flaw = "its scale cannot be understood";
      event.proof = content_of(path + ".scale", text);
    }
  }

  void open_unit(const CounterCpu& unit, const std::vector<Event>& events) {
    std::vector<EventGroup> groups;
    for (const Event& event : events) {
      const Domain domain = unit.domain(event.name.kind);
      if (!taken_.insert(domain).second) continue;
      if (!event.flaw.empty()) {
        refuse(domain.name(), event.flaw, event.proof, domain);
      } else {
        open(unit, event, domain, groups);
      }
    }
    refuse_single_cores(unit);
    if (!groups.empty()) {
      found_.sensors.push_back(std::make_unique<EventSensor>(std::move(groups), clock_, calls_));
    }
  }

  /// Adds the event to the last group, or starts one with it.
  void open(const CounterCpu& unit, const Event& event, const Domain& domain,
            std::vector<EventGroup>& groups) {
    Fd file;
    const bool has_group = !groups.empty();
    if (has_group) file = open_event(unit, event, groups.back().front().file.get());
    const bool joins = static_cast<bool>(file);
    if (!joins) file = open_event(unit, event, -1);
    if (!file) {
      found_.refused.push_back(not_opened(domain, errno, system_, ::geteuid() == 0));
      return;
    }
    if (!joins) groups.emplace_back();
    groups.back().push_back(
        {.channel = describe(unit, event, domain), .scale = event.scale, .file = std::move(file)});
  }

  Fd open_event(const CounterCpu& unit, const Event& event, int leader) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = type_;
    attributes.config = event.config;
    attributes.read_format = group_read_format();
    return Fd(calls_.open_event(attributes, static_cast<int>(unit.cpu), leader));
  }

  static Channel describe(const CounterCpu& unit, const Event& event, const Domain& domain) {
    return {.domain = domain,
            .counter = {.tick = event.scale.tick,
                        .followed_ticks = event.scale.followed_ticks,
                        .max_power = traits_of(domain).max_power,
                        .least_power = traits_of(domain).least_power},
            .update = kRaplUpdate,
            .contained_in = parent_of(domain),
            .source = "perf",
            .place = fmt::format("power/{}/ on CPU {}", event.name.name, unit.cpu)};
  }

  /// AMD counts each core by itself, in a PMU of its own.
  void refuse_single_cores(const CounterCpu& unit) {
    const fs::path cores = devices_ / "power_core";
    const Domain domain = unit.domain(DomainKind::core);
    std::error_code ignored;
    if (taken_.contains(domain) || !fs::exists(cores, ignored)) return;
    refuse(domain.name(),
           "this processor counts each core by itself: a sum would take a read on every core",
           cores.string(), domain);
  }

  const System& system_;
  const TimeSource& clock_;
  const SystemCalls& calls_;
  fs::path devices_;
  fs::path pmu_;
  std::set<Domain> taken_;
  std::uint32_t type_ = 0;
  std::size_t unplaced_ = 0;  ///< CPUs whose package is unknown
  Survey found_;
};

}  // namespace

Survey probe(const System& system, const TimeSource& clock, const std::set<Domain>& taken,
             const SystemCalls& calls) {
  return PerfProbe(system, clock, taken, calls).run();
}

}  // namespace wattle::perf
