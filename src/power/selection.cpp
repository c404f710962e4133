#include "power/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "power/power_domain.hpp"
#include "sensors/refusals.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;
using Gpus = std::vector<Selection::Gpu>;

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("cannot monitor power: " + what);
}

template <class Value>
bool has_repeated(std::vector<Value> values) {
  std::ranges::sort(values);
  return std::ranges::adjacent_find(values) != values.end();
}

void check_indices(const std::optional<std::vector<std::uint32_t>>& indices) {
  if (!indices) return;
  if (indices->empty()) refuse("gpu_indices names no GPU; leave it out for all GPUs");
  if (has_repeated(*indices)) {
    refuse(fmt::format("gpu_indices names a GPU twice: {}", fmt::join(*indices, ", ")));
  }
}

void check_domains(const std::optional<std::vector<PowerDomain>>& domains) {
  if (!domains) return;
  if (domains->empty()) refuse("domains is empty; leave it out for all power domains");
  if (has_repeated(*domains)) refuse("domains names a power domain twice");
}

/// The period that is used for the one asked for.
nanoseconds checked_period(nanoseconds period) {
  constexpr nanoseconds kShortest = std::chrono::milliseconds(1);
  constexpr nanoseconds kUnwise = std::chrono::milliseconds(50);
  constexpr nanoseconds kLongest = std::chrono::hours(24);
  if (period <= nanoseconds(0) || period > kLongest) {
    refuse(fmt::format("update_period must be above 0 and at most a day, not {} s",
                       Seconds(period).count()));
  }
  if (period < kShortest) {
    log("power monitor: update_period is raised to 1 ms, the shortest");
    return kShortest;
  }
  if (period < kUnwise) {
    log(
        fmt::format("power monitor: update_period is {} ms; GPUs renew their power every 20 to 100 "
                    "ms, and reading it more often than that costs power and shows nothing new",
                    Seconds(period).count() * 1e3));
  }
  return period;
}

std::vector<std::uint32_t> indices_of(const Gpus& gpus) {
  std::vector<std::uint32_t> indices;
  for (const Selection::Gpu& gpu : gpus) indices.push_back(gpu.index);
  return indices;
}

using Numbers = std::map<Domain, std::uint32_t>;

bool is_of_gpu(const SensorRefusal& refusal) {
  return refusal.domain && refusal.domain->category() == DomainCategory::gpu;
}

/// Of all GPUs that were found, readable or not.
Numbers numbers_of(const std::vector<std::shared_ptr<Sensor>>& sensors,
                   const std::vector<SensorRefusal>& refused) {
  std::set<Domain> gpus;
  for (const auto& sensor : sensors) {
    if (is_gpu(*sensor)) gpus.insert(gpu_domain_of(*sensor));
  }
  for (const SensorRefusal& refusal : refused) {
    if (refusal.domain && is_of_gpu(refusal)) gpus.insert(*refusal.domain);
  }
  return gpu_numbers(gpus);
}

[[noreturn]] void refuse_gpu(std::uint32_t index, const Gpus& there, const Numbers& numbers,
                             const std::vector<SensorRefusal>& refused) {
  for (const SensorRefusal& refusal : refused) {
    if (refusal.domain && is_of_gpu(refusal) && numbers.at(*refusal.domain) == index) {
      throw NoSuchDevice(fmt::format("cannot monitor GPU {}: {}", index, refusal.reason));
    }
  }
  const std::string others = there.empty()
                                 ? "no GPU can be read"
                                 : fmt::format("there {} {}", there.size() == 1 ? "is only" : "are",
                                               fmt::join(indices_of(there), ", "));
  throw NoSuchDevice(fmt::format("cannot monitor GPU {}: {}", index, others));
}

Gpus named(const Gpus& there, const Numbers& numbers, const std::vector<SensorRefusal>& refused,
           const std::vector<std::uint32_t>& indices) {
  Gpus chosen;
  for (const std::uint32_t index : indices) {
    const auto found = std::ranges::find(there, index, &Selection::Gpu::index);
    if (found == there.end()) refuse_gpu(index, there, numbers, refused);
    chosen.push_back(*found);
  }
  return chosen;
}

void require_domains(const Gpus& gpus, const std::optional<std::vector<PowerDomain>>& domains) {
  if (!domains) return;
  for (const PowerDomain domain : *domains) {
    const bool is_there = std::ranges::any_of(gpus, [&](const Selection::Gpu& gpu) {
      return power_channels(*gpu.sensor, std::vector{domain}).any();
    });
    if (is_there) continue;
    Gpus all = gpus;
    for (Selection::Gpu& gpu : all) gpu.channels = power_channels(*gpu.sensor, std::nullopt);
    throw CapabilityError(
        fmt::format("cannot monitor {}: {}", to_string(domain),
                    all.empty() ? "there is no GPU that can be read" : domains_text(all)));
  }
}

std::string reasons_text(const Selection& selection, const std::vector<SensorRefusal>& refused) {
  std::string text = selection.gpus.empty() ? "" : domains_text(selection.gpus);
  for (const SharedCause& cause : by_cause(refused)) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", fmt::join(cause.subjects, ", "), cause.refusal.reason);
  }
  return text.empty() ? "there is no sensor for it" : text;
}

}  // namespace

PowerMonitorOptions checked(PowerMonitorOptions options) {
  check_indices(options.gpu_indices);
  check_domains(options.domains);
  if (options.max_samples_per_gpu == 0U) {
    refuse("max_samples_per_gpu must be at least 1; leave it out to keep all samples");
  }
  if (options.update_period) options.update_period = checked_period(*options.update_period);
  return options;
}

std::size_t Selection::channels() const noexcept {
  std::size_t count = 0;
  for (const Gpu& gpu : gpus) count += gpu.channels.count() + gpu.counter.count();
  for (const auto& sensor : cpus) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(sensor->channels(), &Channel::counts_energy));
  }
  return count;
}

Gpus select_gpus(const std::vector<std::shared_ptr<Sensor>>& sensors,
                 const std::vector<SensorRefusal>& refused,
                 const std::optional<std::vector<std::uint32_t>>& gpu_indices,
                 const std::optional<std::vector<PowerDomain>>& domains) {
  check_indices(gpu_indices);
  const Numbers numbers = numbers_of(sensors, refused);
  Gpus there;
  for (const auto& sensor : sensors) {
    if (!is_gpu(*sensor)) continue;
    there.push_back({.index = numbers.at(gpu_domain_of(*sensor)),
                     .sensor = sensor,
                     .channels = power_channels(*sensor, domains),
                     .counter = domains ? ChannelSet() : energy_channels(*sensor)});
  }
  std::ranges::sort(there, {}, &Selection::Gpu::index);
  Gpus chosen = gpu_indices ? named(there, numbers, refused, *gpu_indices) : std::move(there);
  require_domains(chosen, domains);
  return chosen;
}

namespace {

void warn_of_modules(const Gpus& gpus) {
  for (const Selection::Gpu& gpu : gpus) {
    const std::vector<PowerDomain> shown = domains_of(*gpu.sensor, gpu.channels);
    const auto module = std::ranges::find_if(shown, is_of_module);
    if (module == shown.end()) continue;
    log(
        fmt::format("power monitor: {} shows no power of its own; that of its module, which holds "
                    "a CPU too, is reported as {}",
                    gpu_text(gpu.index, gpu_domain_of(*gpu.sensor)), to_string(*module)));
  }
}

}  // namespace

Selection select(Survey& found, const PowerMonitorOptions& options) {
  std::vector<std::shared_ptr<Sensor>> sensors;
  std::ranges::move(found.sensors, std::back_inserter(sensors));
  Selection selection{
      .gpus = select_gpus(sensors, found.refused, options.gpu_indices, options.domains),
      .cpus = {}};
  std::ranges::copy_if(sensors, std::back_inserter(selection.cpus), [&](const auto& sensor) {
    return options.cpus && !is_gpu(*sensor) &&
           std::ranges::any_of(sensor->channels(), &Channel::counts_energy);
  });
  if (!options.domains) warn_of_modules(selection.gpus);
  if (selection.channels() == 0) {
    throw NoSuchDevice("cannot monitor power: nothing can be read here: " +
                       reasons_text(selection, found.refused));
  }
  return selection;
}

void log_unmonitored(const Selection& selection, const std::vector<SensorRefusal>& refused,
                     const PowerMonitorOptions& options) {
  std::vector<Domain> measured;
  for (const Selection::Gpu& gpu : selection.gpus) {
    const Domain& domain = gpu_domain_of(*gpu.sensor);
    if (gpu.channels.any()) measured.push_back(domain);
    if (gpu.channels.any() || gpu.counter.any()) continue;
    Selection::Gpu shown = gpu;
    shown.channels = power_channels(*gpu.sensor, std::nullopt);
    log(fmt::format("power is measured without {}: {}", gpu_text(gpu.index, domain),
                    domains_text({shown})));
  }
  std::vector<SensorRefusal> missed;
  std::ranges::copy_if(refused, std::back_inserter(missed), [&](const SensorRefusal& refusal) {
    const bool is_cpu = refusal.shows.has(DomainCategory::cpu);
    const bool is_wanted = is_cpu ? options.cpus : !options.gpu_indices;
    return is_wanted && !is_of_counter(refusal, measured);
  });
  log_missing("power", missed);
}

std::vector<PowerDomain> domains_of(const Sensor& sensor, ChannelSet channels) {
  std::vector<PowerDomain> domains;
  for (std::size_t i = 0; i < std::min(sensor.channels().size(), channels.size()); ++i) {
    const auto domain = power_domain_of(sensor.channels()[i]);
    if (channels[i] && domain) domains.push_back(*domain);
  }
  std::ranges::sort(domains);
  return domains;
}

std::string domains_text(const Gpus& gpus) {
  std::string text;
  for (const Selection::Gpu& gpu : gpus) {
    if (!text.empty()) text += ", ";
    std::vector<std::string_view> names;
    for (const PowerDomain domain : domains_of(*gpu.sensor, gpu.channels)) {
      names.push_back(to_string(domain));
    }
    text += fmt::format(
        "{} has {}", gpu_text(gpu.index, gpu_domain_of(*gpu.sensor)),
        names.empty() ? "no power sensor" : fmt::format("{}", fmt::join(names, " and ")));
  }
  return text;
}

}  // namespace wattle
