#include "sensors/nvml/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sensors/examination.hpp"
#include "sensors/known_sensors.hpp"
#include "sensors/nvml/diagnosis.hpp"

namespace wattle::nvml {
namespace {

constexpr double kMilli = 1e-3;
constexpr double kMega = 1e6;

/// A channel that a GPU may have.
struct ChannelDefinition {
  Metric metric;
  Scope scope;
  Query query;
  std::uint8_t item;
  double scale;
  std::string_view place;
};

constexpr std::array kDefinitions = {
    ChannelDefinition{Metric::energy, Scope::device, Query::energy, 0, kMilli,
                      "nvmlDeviceGetTotalEnergyConsumption"},
    ChannelDefinition{Metric::power_instant, Scope::device, Query::fields, 0, kMilli,
                      "nvmlDeviceGetFieldValues 186, scope GPU"},
    ChannelDefinition{Metric::power_average, Scope::device, Query::fields, 1, kMilli,
                      "nvmlDeviceGetFieldValues 185, scope GPU"},
    ChannelDefinition{Metric::power_instant, Scope::module, Query::fields, 2, kMilli,
                      "nvmlDeviceGetFieldValues 186, scope module"},
    ChannelDefinition{Metric::power_average, Scope::module, Query::fields, 3, kMilli,
                      "nvmlDeviceGetFieldValues 185, scope module"},
    ChannelDefinition{Metric::power_memory, Scope::memory, Query::fields, 4, kMilli,
                      "nvmlDeviceGetFieldValues 185, scope memory"},
    ChannelDefinition{Metric::power_instant, Scope::device, Query::usage, 0, kMilli,
                      "nvmlDeviceGetPowerUsage"},
    ChannelDefinition{Metric::power_limit, Scope::device, Query::limit, 0, kMilli,
                      "nvmlDeviceGetEnforcedPowerLimit"},
    ChannelDefinition{Metric::utilization, Scope::device, Query::utilization, 0, 1.0,
                      "nvmlDeviceGetUtilizationRates"},
    ChannelDefinition{Metric::memory_utilization, Scope::device, Query::utilization, 1, 1.0,
                      "nvmlDeviceGetUtilizationRates"},
    ChannelDefinition{Metric::memory_used, Scope::device, Query::memory, 0, 1.0,
                      "nvmlDeviceGetMemoryInfo"},
    ChannelDefinition{Metric::memory_total, Scope::device, Query::memory, 1, 1.0,
                      "nvmlDeviceGetMemoryInfo"},
    ChannelDefinition{Metric::temperature, Scope::device, Query::temperature, 0, 1.0,
                      "nvmlDeviceGetTemperature"},
    ChannelDefinition{Metric::clock_sm, Scope::device, Query::sm_clock, 0, kMega,
                      "nvmlDeviceGetClockInfo, SM"},
    ChannelDefinition{Metric::clock_memory, Scope::device, Query::memory_clock, 0, kMega,
                      "nvmlDeviceGetClockInfo, memory"},
};

/// Drivers that know the power fields but not their scopes give the GPU's power for each: the very
/// same number, not another sensor's.
void drop_ignored_scopes(Answers& fields) noexcept {
  for (std::size_t i = 0; i < kPowerFields.size(); ++i) {
    if (kPowerFields[i].scope == kScopeGpu) continue;
    const std::size_t of_gpu = kPowerFields[i].id == kFieldPowerInstant ? 0 : 1;
    const QueryAnswer& gpu = fields[of_gpu];
    if (gpu.result == Return::success && fields[i].result == Return::success &&
        gpu.raw == fields[i].raw && gpu.raw != 0) {
      fields[i].result = Return::not_supported;
    }
  }
}

std::string pci_address(const Api& api, Handle handle) {
  PciInfo pci;
  if (call(api.pci_info, handle, &pci) != Return::success) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

/// Twice the largest limit that the board states, else the default.
Watts max_power(const Api& api, Handle handle) {
  Answers limit;
  ask(api, handle, Query::limit, Items(1), limit);
  std::uint64_t largest_mw = limit[0].result == Return::success ? limit[0].raw : 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  if (call(api.power_limit_range, handle, &low, &high) == Return::success) {
    largest_mw = std::max<std::uint64_t>(largest_mw, high);
  }
  if (largest_mw == 0) return traits_of(DomainKind::nvidia_gpu).max_power;
  return Watts(2.0 * kMilli * static_cast<double>(largest_mw));
}

bool has_mig(const Api& api, Handle handle) {
  std::uint32_t current = 0;
  std::uint32_t pending = 0;
  return call(api.mig_mode, handle, &current, &pending) == Return::success && current != 0;
}

/// Examines one GPU, one call long.
class GpuExamination {
 public:
  GpuExamination(const Api& api, std::uint32_t index)
      : api_(api), domain_(Domain::nvidia_gpu(index)) {
    gpu_.index = index;
  }

  NvmlGpu run(const std::string& driver) {
    const Return opened = call(api_.device_by_index, gpu_.index, &gpu_.handle);
    if (opened != Return::success) {
      gpu_.refused = {gpu_refused(api_, domain_, {}, opened, "nvmlDeviceGetHandleByIndex")};
      return std::move(gpu_);
    }
    gpu_.info = {.id = read_text(api_.uuid, gpu_.handle),
                 .pci_address = pci_address(api_, gpu_.handle),
                 .model = read_text(api_.name, gpu_.handle),
                 .driver = driver};
    facts_ = known_gpu(gpu_.info.model, parse_driver_branch(driver));
    for (const Query query : kQueries) {
      if (query == Query::usage && has_power_) continue;
      if (!examine_query(query)) return std::move(gpu_);
    }
    refuse_missing();
    return std::move(gpu_);
  }

 private:
  struct MissingChannel {
    const ChannelDefinition* definition;
    Return result;
  };

  /// False, with nothing left to read, where the GPU is gone.
  bool examine_query(Query query) {
    Answers answers;  // for each item its success if it had one, else its last failure
    // The energy counter takes from microseconds to milliseconds, depending on the driver.
    const bool is_costly =
        cost_of([&] {
          Answers tried;
          ask(api_, gpu_.handle, query, ~Items(), tried);
          for (std::size_t item = 0; item < answers.size(); ++item) {
            if (answers[item].result == Return::success) continue;
            answers[item] = tried[item];
          }
          return std::ranges::all_of(kDefinitions, [&](const ChannelDefinition& one) {
            return one.query != query || tried[one.item].result == Return::success;
          });
        }) > kCostlyRead;
    if (query == Query::fields) drop_ignored_scopes(answers);
    for (const ChannelDefinition& definition : kDefinitions) {
      if (definition.query != query) continue;
      const Return result = answers[definition.item].result;
      if (result == Return::success) {
        add(definition, is_costly);
      } else if (result == Return::gpu_is_lost || result == Return::reset_required) {
        gpu_.channels.clear();
        gpu_.origins.clear();
        gpu_.refused = {gpu_refused(api_, domain_, {}, result, definition.place)};
        return false;
      } else if (query != Query::fields) {
        missing_.push_back({&definition, result});
      }
    }
    return true;
  }

  void add(const ChannelDefinition& definition, bool costly) {
    Channel channel{.domain = domain_,
                    .source = "nvml",
                    .place = std::string(definition.place),
                    .metric = definition.metric,
                    .scope = definition.scope,
                    .gauge = {.scale = definition.scale},
                    .costly = costly};
    if (definition.metric == Metric::energy) {
      // 64 bits of mJ never wrap; a lower value is that of a driver loaded again.
      channel.counter = {.tick = Joules(definition.scale),
                         .modulus = 0,
                         .max_power = max_power(api_, gpu_.handle),
                         .least_power = traits_of(DomainKind::nvidia_gpu).least_power,
                         .feed = facts_.counter_feed};
      channel.update = kNvmlCounterUpdate;
      channel.scope = facts_.energy_scope;
    }
    if (is_power(definition.metric) && definition.scope == Scope::device) {
      describe_power(definition, channel);
      has_power_ = true;
    }
    has_energy_ = has_energy_ || channel.counts_energy();
    gpu_.channels.push_back(std::move(channel));
    gpu_.origins.push_back({definition.query, definition.item});
  }

  void describe_power(const ChannelDefinition& definition, Channel& channel) const {
    const bool instant = definition.metric == Metric::power_instant;
    const GaugeFacts& facts = definition.query == Query::usage ? facts_.usage
                              : instant                        ? facts_.instant
                                                               : facts_.average;
    // The meaning of the old function depends on board and driver.
    if (facts.longest_lag) channel.metric = Metric::power_average;
    channel.gauge.window = facts.window;
    channel.gauge.coverage = facts.coverage();
    channel.gauge.time_constant = facts.time_constant;
    if (channel.metric == Metric::power_average) {
      channel.gauge.longest_lag = facts.longest_lag.value_or(kAverageLongestLag);
      channel.gauge.freezes = kAverageFreezes;
    }
    channel.update = facts.update;
  }

  /// One refusal for all that is missing for the same reason.
  void refuse_missing() {
    if (!has_energy_ && has_module_energy()) refuse_module_energy();
    if (!has_energy_ && !has_power_) refuse_everything_that_counts();
    const bool mig = !missing_.empty() && has_mig(api_, gpu_.handle);
    const auto is_by_mig = [&](const MissingChannel& missing) {
      return mig && missing.definition->query == Query::utilization;
    };
    while (!missing_.empty()) {
      const MissingChannel first = missing_.front();
      std::string what;
      std::erase_if(missing_, [&](const MissingChannel& missing) {
        if (missing.result != first.result || is_by_mig(missing) != is_by_mig(first)) return false;
        what += (what.empty() ? "" : ", ") + std::string(to_string(missing.definition->metric));
        return true;
      });
      gpu_.refused.push_back(
          gpu_refused(api_, domain_, what, first.result, first.definition->place));
      if (is_by_mig(first)) explain_mig();
    }
  }

  /// The GPU draws power that cannot be measured: that is a refusal of its domain.
  void refuse_everything_that_counts() {
    std::erase_if(missing_, [&](const MissingChannel& missing) {
      const bool is_usage = missing.definition->query == Query::usage;
      if (is_usage) {
        SensorRefusal refused =
            gpu_refused(api_, domain_, {}, missing.result, missing.definition->place);
        refused.reason =
            shows_module_power_alone(gpu_.channels)
                ? "its driver shows only the power of the whole module, CPU and memory too: "
                  "wattle power prints that, and no total has it"
                : "neither its energy nor its power can be read: " + refused.reason;
        gpu_.refused.push_back(std::move(refused));
      }
      return is_usage || missing.definition->query == Query::energy;
    });
  }

  [[nodiscard]] bool has_module_energy() const {
    return std::ranges::count(gpu_.channels, Metric::energy, &Channel::metric) > 0;
  }

  void refuse_module_energy() {
    gpu_.refused.push_back({.subject = domain_.name() + " energy",
                            .reason = "its counter adds up the whole module, CPU and memory too",
                            .proof = "known of " + gpu_.info.model});
  }

  void explain_mig() {
    gpu_.refused.back().reason = "with MIG on, the driver reports no utilization of the whole GPU";
    gpu_.refused.back().proof += "; nvmlDeviceGetMigMode: on";
  }

  const Api& api_;
  Domain domain_;
  NvmlGpu gpu_;
  GpuFacts facts_;
  bool has_energy_ = false;
  bool has_power_ = false;
  std::vector<MissingChannel> missing_;
};

}  // namespace

NvmlGpu examine(const Api& api, std::uint32_t index, const std::string& driver) {
  return GpuExamination(api, index).run(driver);
}

}  // namespace wattle::nvml
