#include "estimate/machine_power.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "sensors/proc_tables.hpp"

namespace wattle {
namespace {

/// Families of instances of Amazon EC2 whose vCPUs are cores, although the processor has two
/// threads a core (docs.aws.amazon.com, "CPU options": threads per core 1). What DMI calls the
/// product is the name of the type there: "m7a.large".
constexpr std::array<std::string_view, 9> kCoreFamilies = {"m7a", "c7a", "r7a", "hpc6a", "hpc7a",
                                                           "m8a", "c8a", "r8a", "hpc8a"};

bool has_cores_for_vcpus(const Product& product) {
  return !product.size().empty() &&
         std::ranges::find(kCoreFamilies, product.family()) != kCoreFamilies.end();
}

/// The number of "C6" or "LPI-1" after its prefix; absent for other names.
std::optional<unsigned> number_after(std::string_view name, std::string_view prefix) {
  if (!take_prefix(name, prefix)) return std::nullopt;
  const std::size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
  return parse_unsigned<unsigned>(name.substr(0, end));
}

/// True where an idle core does more than to stop its clock, as polling, C1 ("C1E", "C1_ACPI"), HLT
/// and Arm's WFI ("LPI-0" where ACPI names it) do not.
bool is_deep(std::string_view name) {
  if (name == "POLL" || name == "WFI" || name == "haltpoll idle" || name.ends_with("HLT")) {
    return false;
  }
  if (const auto number = number_after(name, "C")) return *number > 1;
  if (const auto number = number_after(name, "LPI-")) return *number > 0;
  return true;
}

/// A deep state that is not disabled.
bool saves_power(const std::filesystem::path& state) {
  const auto name = read_line((state / "name").string());
  if (!name || !is_deep(*name)) return false;
  const auto disabled = read_line((state / "disable").string());
  return !disabled || *disabled == "0";
}

bool can_sleep(const System& system) {
  const std::filesystem::path cpu = system.sysfs / "devices/system/cpu";
  const auto driver = read_line((cpu / "cpuidle/current_driver").string());
  if (!driver) return true;  // nothing says that it cannot
  if (*driver == "none") return false;
  constexpr int kMostStates = 16;
  bool has_states = false;
  for (int i = 0; i < kMostStates; ++i) {
    const std::filesystem::path state = cpu / "cpu0/cpuidle" / ("state" + std::to_string(i));
    if (!read_line((state / "name").string())) break;
    has_states = true;
    if (saves_power(state)) return true;
  }
  return !has_states;
}

/// Watts per GB of memory beyond 1 GB per core. RAPL counts 0.02 to 0.52 on seven hosts of Amazon
/// EC2 (data/cloud-power.csv) when idle, and 0.11 to 1.55 where all cores write to memory. The
/// whole width would make high / low more than 6: docs/estimates.md.
constexpr PowerRange kMemoryIdle{0.05, 0.15, 0.3};
constexpr PowerRange kMemoryFull{0.1, 0.4, 0.8};
/// Code with wide vectors draws 0.85 to 1.32 times the package power of other full load on these
/// hosts.
constexpr double kVectorLoad = 1.3;
/// Idle power of a host whose cores never sleep, relative to full load. Assumed: no such host was
/// measured.
constexpr double kAwakeTypical = 0.35;
constexpr double kAwakeHigh = 0.6;

/// How many cores the threads are.
PowerRange cores_of(const Microarchitecture& machine, const MachineSize& size) noexcept {
  const double threads = std::max(1.0, static_cast<double>(size.threads));
  if (size.vcpu_is_core || !machine.has_smt) return {threads, threads, threads};
  const bool shows_siblings = size.cores > 0 && size.cores < size.threads;
  if (size.cores > 0 && (shows_siblings || !size.is_virtual)) {
    const double cores = size.cores;
    return {cores, cores, cores};
  }
  // A virtual machine may show threads as cores.
  return {threads / 2.0, threads / std::sqrt(2.0), threads};
}

/// A range relative to its typical value.
struct LogSpread {
  double down = 0.0;  ///< of the logarithm
  double up = 0.0;
};

LogSpread log_spread_of(const PowerRange& range, double exponent = 1.0) noexcept {
  const double down = std::log(range.typical / range.low) * std::abs(exponent);
  const double up = std::log(range.high / range.typical) * std::abs(exponent);
  return exponent < 0.0 ? LogSpread{up, down} : LogSpread{down, up};
}

/// Watts of what has these cores, where the size of the whole machine is known or not.
PowerRange power_of(const ServerScale& scale, const PowerRange& factor,
                    const Microarchitecture& machine, const MachineSize& size) noexcept {
  const PowerRange cores = cores_of(machine, size);
  if (!size.is_virtual && size.packages > 0) {
    const double watts = scale.watts(size.packages, cores.typical / size.packages);
    return {watts * factor.low, watts * factor.typical, watts * factor.high};
  }
  constexpr double kPackages = 2.0;  // of most servers
  const PowerRange& each = machine.cores_per_package;
  const double whole_w = scale.watts(kPackages, each.typical) * factor.typical;
  const double watts = whole_w * cores.typical / (kPackages * each.typical);
  const std::array spreads{log_spread_of(factor), log_spread_of(cores),
                           log_spread_of(each, scale.by_cores - 1.0)};
  double down = 0.0;
  double up = 0.0;
  for (const LogSpread& spread : spreads) {
    down = std::hypot(down, spread.down);
    up = std::hypot(up, spread.up);
  }
  return {watts * std::exp(-down), watts, watts * std::exp(up)};
}

PowerRange plus_memory(const PowerRange& power, const PowerRange& watts_per_gb,
                       double beyond_gb) noexcept {
  return {power.low + watts_per_gb.low * beyond_gb,
          power.typical + watts_per_gb.typical * beyond_gb,
          power.high + watts_per_gb.high * beyond_gb};
}

PowerRange per_thread(const PowerRange& power, const MachineSize& size) noexcept {
  const double threads = std::max(1.0, static_cast<double>(size.threads));
  return {power.low / threads, power.typical / threads, power.high / threads};
}

}  // namespace

MachineSize read_machine_size(const System& system, const Processors& processors,
                              const Product& product, MachineExtent extent) {
  const bool is_virtual = extent == MachineExtent::guest;
  MachineSize size{.threads = processors.threads,
                   .cores = processors.cores,
                   .packages = processors.packages,
                   .is_virtual = is_virtual};
  if (const auto text = read_file((system.procfs / "meminfo").string())) {
    constexpr double kGigabyte = 1e9;
    if (const auto memory = parse_memory(*text)) {
      size.memory_gb = static_cast<double>(memory->total_bytes) / kGigabyte;
    }
  }
  size.vcpu_is_core = has_cores_for_vcpus(product);
  size.sleeps = is_virtual || can_sleep(system);
  return size;
}

double ServerScale::watts(double packages, double cores_per_package) const noexcept {
  return std::exp(constant) * std::pow(packages, by_packages) *
         std::pow(cores_per_package, by_cores);
}

MachinePower machine_power(const Microarchitecture& machine, const MachineSize& size) noexcept {
  const ServerScales& scales = server_scales();
  PowerRange idle = power_of(scales.idle, machine.idle, machine, size);
  PowerRange full = power_of(scales.full, machine.full, machine, size);
  PowerRange above = power_of(scales.above, machine.above, machine, size);
  const double beyond_gb = std::max(0.0, size.memory_gb - cores_of(machine, size).typical);
  idle = plus_memory(idle, kMemoryIdle, beyond_gb);
  full = plus_memory(full, kMemoryFull, beyond_gb);
  above.high += kMemoryFull.high * beyond_gb;
  full.high *= kVectorLoad;
  above.high *= kVectorLoad;
  if (!size.sleeps) {
    idle.typical = std::max(idle.typical, kAwakeTypical * full.typical);
    idle.high = std::max(idle.high, kAwakeHigh * full.typical);
  }
  return {.idle = per_thread(idle, size),
          .full = per_thread(full, size),
          .above = per_thread(above, size)};
}

}  // namespace wattle
