#include "estimate/energy_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string_view>
#include <utility>

#include "base/environment.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "estimate/machine_power.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// Energy of threads that were available for `thread_seconds` in all. What is not known of a
/// machine (its idle power, its power at full load, its curve) is combined in quadrature.
EnergyRange machine_energy(const MachinePower& power, double thread_seconds, double load) {
  const ActiveParts parts = active_parts(load);
  const double span_w = power.full.typical - power.idle.typical;
  const double typical_w = power.idle.typical + span_w * parts.typical;
  const auto off_w = [&](double idle_w, double full_w, double part) {
    return std::hypot((idle_w - power.idle.typical) * (1.0 - parts.typical),
                      (full_w - power.full.typical) * parts.typical,
                      span_w * (part - parts.typical));
  };
  const double low_w = typical_w - off_w(power.idle.low, power.full.low, parts.low);
  const double high_w = typical_w + off_w(power.idle.high, power.full.high, parts.high);
  return {.low = Joules(thread_seconds * low_w),
          .typical = Joules(thread_seconds * typical_w),
          .high = Joules(thread_seconds * high_w)};
}

/// The energy that `own`, a part of the load `all`, adds to idle. Where others run beside it that
/// is a convention: from what it adds to them to what it would take alone; see docs/estimates.md.
/// Not more than the energy of the machine.
EnergyRange own_energy(const MachinePower& power, const EnergyRange& machine, double thread_seconds,
                       double own, double all) {
  const MarginalParts convex = marginal_parts(own, all, kLowExponent);
  const MarginalParts concave = marginal_parts(own, all, kHighExponent);
  const double typical = all > 0.0 ? active_part(all, kTypicalExponent) * own / all : 0.0;
  const auto energy = [&](double above_w, double part) {
    return Joules(thread_seconds * above_w * part);
  };
  const Joules low = energy(power.above.low, std::min(convex.first, concave.last));
  const Joules middle = std::min(energy(power.above.typical, typical), machine.typical);
  const Joules high = std::min(
      energy(power.above.high, kHighScale * std::max(concave.first, convex.last)), machine.high);
  return {.low = std::min(low, middle), .typical = middle, .high = std::max(high, middle)};
}

std::string covers_text(const CpuLoad& load, const MachineSize& size) {
  const bool is_virtual = size.is_virtual;
  const char* const what =
      is_virtual ? "a part of a server at the wall" : "the whole server at the wall";
  if (load.quota) {
    return fmt::format("a part of a server at the wall: {:g} CPUs, by the CPU quota", load.threads);
  }
  const char* const units = !is_virtual         ? "hardware threads"
                            : size.vcpu_is_core ? "vCPUs as cores"
                                                : "vCPUs as hardware threads";
  std::string text = fmt::format("{}: {:g} {}", what, load.threads, units);
  if (!is_virtual && size.cores > 0) text += fmt::format(" of {} cores", size.cores);
  const double stolen_percent = std::round(load.stolen_part * 100.0);
  if (stolen_percent >= 1.0) {
    text += fmt::format(", without the {:g} % of their time that was stolen", stolen_percent);
  }
  return text;
}

/// Server or guest, or why it is not known.
struct ExtentOrReason {
  std::optional<MachineExtent> known{};
  std::string unknown{};
};

ExtentOrReason extent_of(const EstimatorOptions& options, const Processors& processors,
                         const Product& product) {
  if (options.extent) return {.known = options.extent};
  const char* const value = environment_variable("WATTLE_ESTIMATE_AS");
  const std::string_view wanted = value == nullptr ? "" : value;
  if (wanted == "server") return {.known = MachineExtent::server};
  if (wanted == "guest") return {.known = MachineExtent::guest};
  if (!wanted.empty()) {
    return {.unknown = fmt::format("WATTLE_ESTIMATE_AS is '{}'; it must be server or guest",
                                   printable(wanted))};
  }
  const HypervisorFlag flag{.is_set = processors.hypervisor, .is_stated = processors.states_flags};
  if (const auto found = recognize_extent(options.system, flag, product)) {
    return {.known = found->extent};
  }
  return {.unknown =
              "unknown whether this is a virtual machine; set WATTLE_ESTIMATE_AS to server or "
              "guest"};
}

}  // namespace

EnergyEstimate estimate_energy(const Microarchitecture& machine, const MachineSize& size,
                               const CpuLoad& load, std::optional<Seconds> cpu_time) {
  EnergyEstimate estimate{
      .method = "server_power_model",
      .covers = covers_text(load, size),
      .excludes = {"cooling and losses of the building (PUE)", "GPUs and other cards",
                   "what a server draws more if it is tuned less well than published ones"},
      .microarchitecture = machine.title,
      .recognized_by = machine.recognized_by,
      .is_known = machine.is_known,
      .machines = machine.machines,
      .threads = load.threads,
      .cpu_quota = load.quota,
      .mean_load = load.mean(),
      .stolen_part = load.stolen_part,
      .is_virtual = size.is_virtual};
  estimate.basis = fmt::format("published SPECpower_ssj2008 results of {} servers, {}; {}",
                               machine.machines, kServerPowerDate, server_power_check());
  const double thread_seconds = load.available.count();
  const double own =
      cpu_time && thread_seconds > 0.0 ? std::min(*cpu_time / load.available, 1.0) : 0.0;
  // The kernel's ticks may show less than what the CPU times of processes add up to.
  const double all = std::max(own, load.mean());
  const MachinePower power = machine_power(machine, size);
  estimate.machine = machine_energy(power, thread_seconds, all);
  if (cpu_time) {
    estimate.own = own_energy(power, *estimate.machine, thread_seconds, own, all);
  }
  return estimate;
}

std::optional<EnergyEstimate> mean_of(std::span<const EnergyEstimate> runs) {
  if (runs.empty()) return std::nullopt;
  const auto unknown = std::ranges::find_if(
      runs, [](const EnergyEstimate& run) { return !run.machine.has_value(); });
  if (unknown != runs.end()) return *unknown;
  EnergyEstimate mean = runs.front();
  const auto part = 1.0 / static_cast<double>(runs.size());
  const auto mean_range = [&](std::optional<EnergyRange> EnergyEstimate::*range) {
    std::optional<EnergyRange> sum(std::in_place);
    for (const EnergyEstimate& run : runs) {
      if (!(run.*range)) return std::optional<EnergyRange>();
      sum->low += (run.*range)->low * part;
      sum->typical += (run.*range)->typical * part;
      sum->high += (run.*range)->high * part;
    }
    return sum;
  };
  mean.machine = mean_range(&EnergyEstimate::machine);
  mean.own = mean_range(&EnergyEstimate::own);
  mean.mean_load = 0.0;
  mean.stolen_part = 0.0;
  for (const EnergyEstimate& run : runs) {
    mean.mean_load += run.mean_load * part;
    mean.stolen_part += run.stolen_part * part;
  }
  return mean;
}

EstimatedMachine::EstimatedMachine(const EstimatorOptions& options) : reader_(options.system) {
  const Processors processors = read_processors(options.system);
  microarchitecture_ = recognize(processors);
  const Product product = read_product(options.system);
  const ExtentOrReason extent = extent_of(options, processors, product);
  unknown_ = extent.unknown;
  size_ = read_machine_size(options.system, processors, product,
                            extent.known.value_or(MachineExtent::guest));
}

EnergyEstimate EstimatedMachine::estimate(const std::optional<CpuMoment>& begin,
                                          const std::optional<CpuMoment>& end,
                                          std::optional<Seconds> cpu_time) const {
  EnergyEstimate none;
  none.unknown = unknown_;
  if (!none.unknown.empty()) return none;
  const auto load = begin && end ? load_between(*begin, *end, reader_.quota()) : std::nullopt;
  if (load) {
    // The threads that are online now: cpuinfo may not name any.
    MachineSize size = size_;
    size.threads = std::max(1U, end->times.processors);
    return estimate_energy(microarchitecture_, size, *load, cpu_time);
  }
  none.unknown = !begin || !end
                     ? "/proc/stat cannot be read, so the load of the CPUs is unknown"
                     : "the CPU times in /proc/stat did not advance (they count in steps of 10 ms)";
  return none;
}

struct EnergyEstimator::Impl {
  explicit Impl(const EstimatorOptions& options) : machine(options) {}

  EstimatedMachine machine;
  bool is_started = false;
  bool is_stopped = false;
  std::optional<CpuMoment> begin{};
  std::optional<CpuMoment> end{};
};

EnergyEstimator::EnergyEstimator(EstimatorOptions options)
    : impl_(std::make_unique<Impl>(options)) {}
EnergyEstimator::EnergyEstimator(EnergyEstimator&& other) noexcept = default;
EnergyEstimator& EnergyEstimator::operator=(EnergyEstimator&& other) noexcept = default;
EnergyEstimator::~EnergyEstimator() = default;

void EnergyEstimator::start() {
  if (!impl_) throw InvalidArgument("EnergyEstimator::start: this object was moved from");
  if (impl_->is_started && !impl_->is_stopped) {
    throw InvalidState("EnergyEstimator::start: already started; call stop first");
  }
  impl_->begin = impl_->machine.read();
  impl_->end.reset();
  impl_->is_started = true;
  impl_->is_stopped = false;
}

void EnergyEstimator::stop() noexcept {
  if (!impl_ || !impl_->is_started || impl_->is_stopped) return;
  impl_->is_stopped = true;
  try {
    impl_->end = impl_->machine.read();
  } catch (...) {  // no memory for the text: the estimate is unknown
    impl_->end.reset();
  }
}

EnergyEstimate EnergyEstimator::estimate(std::optional<Seconds> cpu_time) const {
  if (!impl_ || !impl_->is_started) throw NotStarted("EnergyEstimator::estimate: call start first");
  if (cpu_time && !(*cpu_time >= Seconds(0))) {
    throw InvalidArgument("EnergyEstimator::estimate: a CPU time is not negative");
  }
  const auto end = impl_->is_stopped ? impl_->end : impl_->machine.read();
  return impl_->machine.estimate(impl_->begin, end, cpu_time);
}

std::ostream& operator<<(std::ostream& out, const EnergyRange& range) {
  // Two digits: an estimate knows no more.
  const auto text = [](Joules energy) { return rounded_text(energy, energy * 0.1); };
  return out << '~' << text(range.typical) << " (" << text(range.low) << " to " << text(range.high)
             << ')';
}

std::ostream& operator<<(std::ostream& out, const EnergyEstimate& estimate) {
  if (estimate.machine) return out << *estimate.machine << ", not measured";
  return out << "no estimate: " << estimate.unknown;
}

}  // namespace wattle
