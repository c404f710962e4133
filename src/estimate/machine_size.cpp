#include "estimate/machine_size.hpp"

#include <algorithm>
#include <array>
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

}  // namespace wattle
