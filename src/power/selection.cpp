#include "power/selection.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "power/power_domain.hpp"
#include "sensors/gpu_selection.hpp"
#include "sensors/refusals.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;
using Gpus = std::vector<Selection::SelectedGpu>;
using Numbers = std::map<Domain, std::uint32_t>;

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("cannot monitor power: " + what);
}

void check_domains(const std::optional<std::vector<PowerDomain>>& domains) {
  if (!domains) return;
  if (domains->empty()) refuse("domains is empty; leave it out for all power domains");
  for (const PowerDomain domain : *domains) {
    if (std::ranges::count(*domains, domain) > 1) refuse("domains names a power domain twice");
  }
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

std::vector<std::uint32_t> indices_of(const GpuSelection& selection,
                                      const std::vector<FoundGpu>& found,
                                      std::vector<Refusal>* missing) {
  if (!selection.numbers().empty()) return selection.numbers();
  const Numbers numbers = gpu_numbers(found);
  std::vector<std::uint32_t> indices;
  for (const Domain& gpu : selected_gpus(selection, found, "cannot monitor power", missing)) {
    indices.push_back(numbers.at(gpu));
  }
  return indices;
}

std::string why_not_there(std::uint32_t index, const Gpus& available, const Numbers& numbers,
                          const std::vector<SensorRefusal>& refused) {
  for (const SensorRefusal& refusal : refused) {
    const auto& domain = refusal.domain;
    if (domain && domain->category() == DomainCategory::gpu && numbers.at(*domain) == index) {
      return refusal.reason;
    }
  }
  if (available.empty()) return "no GPU can be read";
  const auto index_of = [](const Selection::SelectedGpu& gpu) { return std::to_string(gpu.index); };
  return fmt::format("there {} {}", available.size() == 1 ? "is only" : "are",
                     joined(available, ", ", index_of));
}

Gpus named(const Gpus& available, const Numbers& numbers, const std::vector<SensorRefusal>& refused,
           const std::vector<std::uint32_t>& indices, std::vector<Refusal>* missing) {
  Gpus chosen;
  for (const std::uint32_t index : indices) {
    const auto found = std::ranges::find(available, index, &Selection::SelectedGpu::index);
    if (found != available.end()) {
      chosen.push_back(*found);
      continue;
    }
    const std::string reason = why_not_there(index, available, numbers, refused);
    const std::string gpu = fmt::format("GPU {}", index);
    if (missing == nullptr) {
      throw NoSuchDevice(fmt::format("cannot monitor {}: {}", gpu, reason));
    }
    missing->push_back({.subject = gpu, .reason = reason});
  }
  return chosen;
}

void require_domains(const Gpus& gpus, const std::optional<std::vector<PowerDomain>>& domains) {
  if (!domains) return;
  for (const PowerDomain domain : *domains) {
    const bool is_there = std::ranges::any_of(gpus, [&](const Selection::SelectedGpu& gpu) {
      return power_channels(*gpu.sensor, std::vector{domain}).any();
    });
    if (is_there) continue;
    Gpus all = gpus;
    for (Selection::SelectedGpu& gpu : all)
      gpu.channels = power_channels(*gpu.sensor, std::nullopt);
    throw CapabilityError(
        fmt::format("cannot monitor {}: {}", to_string(domain),
                    all.empty() ? "there is no GPU that can be read" : domains_text(all)));
  }
}

std::vector<std::string> reasons_of(const Selection& selection,
                                    const std::vector<SensorRefusal>& refused) {
  std::vector<std::string> reasons;
  if (!selection.gpus.empty()) reasons.push_back(domains_text(selection.gpus));
  for (const SharedCause& cause : by_cause(refused)) {
    reasons.push_back(fmt::format("{}: {}", fmt::join(cause.subjects, ", "), cause.refusal.reason));
  }
  if (reasons.empty()) reasons.emplace_back("there is no sensor for it");
  return reasons;
}

}  // namespace

PowerMonitorOptions checked(PowerMonitorOptions options) {
  check_domains(options.domains);
  options.gpus = resolved(options.gpus);
  if (options.max_samples_per_gpu == 0U) {
    refuse("max_samples_per_gpu must be at least 1; leave it out to keep all samples");
  }
  if (options.update_period) options.update_period = checked_period(*options.update_period);
  return options;
}

std::size_t Selection::channels() const noexcept {
  std::size_t count = 0;
  for (const SelectedGpu& gpu : gpus) count += gpu.channels.count() + gpu.counter.count();
  for (const auto& sensor : cpus) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(sensor->channels(), &Channel::counts_energy));
  }
  return count;
}

Gpus select_gpus(const std::vector<std::shared_ptr<Sensor>>& sensors,
                 const std::vector<SensorRefusal>& refused, const GpuSelection& selection,
                 std::vector<Refusal>* missing,
                 const std::optional<std::vector<PowerDomain>>& domains) {
  const std::vector<FoundGpu> found = found_gpus(sensors, refused);
  const Numbers numbers = gpu_numbers(found);
  Gpus available;
  for (const auto& sensor : sensors) {
    if (!is_gpu(*sensor)) continue;
    available.push_back({.index = numbers.at(gpu_domain_of(*sensor)),
                         .sensor = sensor,
                         .channels = power_channels(*sensor, domains),
                         .counter = domains ? ChannelSet() : energy_channels(*sensor)});
  }
  std::ranges::sort(available, {}, &Selection::SelectedGpu::index);
  Gpus chosen = selection.is_all() ? std::move(available)
                                   : named(available, numbers, refused,
                                           indices_of(selection, found, missing), missing);
  require_domains(chosen, domains);
  return chosen;
}

namespace {

void warn_of_modules(const Gpus& gpus) {
  for (const Selection::SelectedGpu& gpu : gpus) {
    const std::vector<PowerDomain> shown = domains_of(*gpu.sensor, gpu.channels);
    const auto module = std::ranges::find_if(shown, is_of_module);
    if (module == shown.end()) continue;
    log(
        fmt::format("power monitor: {} shows no power of its own; that of its module, which holds "
                    "a CPU too, is reported as {}",
                    gpu_text(gpu.index, gpu_domain_of(*gpu.sensor)), to_string(*module)));
  }
}

/// The refused sensors that were selected.
std::vector<SensorRefusal> missed(const Selection& selection,
                                  const std::vector<SensorRefusal>& refused,
                                  const PowerMonitorOptions& options) {
  std::vector<Domain> measured;
  for (const Selection::SelectedGpu& gpu : selection.gpus) {
    if (gpu.channels.any()) measured.push_back(gpu_domain_of(*gpu.sensor));
  }
  std::vector<SensorRefusal> missed;
  std::ranges::copy_if(refused, std::back_inserter(missed), [&](const SensorRefusal& refusal) {
    const bool is_cpu = refusal.shows.has(DomainCategory::cpu);
    const bool is_wanted = is_cpu ? options.cpus : options.gpus.is_all();
    return is_wanted && !is_of_counter(refusal, measured);
  });
  return missed;
}

}  // namespace

Selection select(Survey& found, const PowerMonitorOptions& options) {
  std::vector<std::shared_ptr<Sensor>> sensors;
  std::ranges::move(found.sensors, std::back_inserter(sensors));
  const bool ignores = options.if_unavailable == IfUnavailable::ignore;
  std::vector<Refusal> absent;
  Selection selection{.gpus = select_gpus(sensors, found.refused, options.gpus,
                                          ignores ? &absent : nullptr, options.domains)};
  std::ranges::copy_if(sensors, std::back_inserter(selection.cpus), [&](const auto& sensor) {
    return options.cpus && !is_gpu(*sensor) &&
           std::ranges::any_of(sensor->channels(), &Channel::counts_energy);
  });
  if (!options.domains) warn_of_modules(selection.gpus);
  selection.missing = missing_of(missed(selection, found.refused, options));
  selection.missing.insert(selection.missing.end(), absent.begin(), absent.end());
  if (selection.channels() > 0) return selection;
  const std::vector<std::string> reasons = reasons_of(selection, found.refused);
  if (!ignores) {
    throw NoSuchDevice(fmt::format("cannot monitor power: nothing can be read here\n  {}",
                                   fmt::join(reasons, "\n  ")));
  }
  if (selection.missing.empty()) {
    selection.missing.push_back(
        {.subject = "power", .reason = joined(reasons, "; "), .remedy = "see `wattle doctor`"});
  }
  return selection;
}

void log_unmonitored(const Selection& selection, const std::vector<SensorRefusal>& refused,
                     const PowerMonitorOptions& options) {
  for (const Selection::SelectedGpu& gpu : selection.gpus) {
    if (gpu.channels.any() || gpu.counter.any()) continue;
    Selection::SelectedGpu shown = gpu;
    shown.channels = power_channels(*gpu.sensor, std::nullopt);
    log(fmt::format("power is measured without {}: {}",
                    gpu_text(gpu.index, gpu_domain_of(*gpu.sensor)), domains_text({shown})));
  }
  log_missing("power", missed(selection, refused, options));
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
  return joined(gpus, ", ", [](const Selection::SelectedGpu& gpu) {
    const std::string names = joined(domains_of(*gpu.sensor, gpu.channels), " and ",
                                     [](PowerDomain domain) { return to_string(domain); });
    return fmt::format("{} has {}", gpu_text(gpu.index, gpu_domain_of(*gpu.sensor)),
                       names.empty() ? "no power sensor" : names);
  });
}

}  // namespace wattle
