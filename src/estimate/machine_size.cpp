#include "estimate/machine_size.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files/file.hpp"
#include "base/text/text.hpp"
#include "sensors/proc_tables.hpp"

namespace wattle {
namespace {

/// Families of instances of Amazon EC2 whose vCPUs are cores, although the processor has two
/// threads a core (docs.aws.amazon.com, "CPU options": threads per core 1). What DMI calls the
/// product is the name of the type there: "m7a.large".
constexpr std::array<std::string_view, 9> kCoreFamilies = {"m7a", "c7a", "r7a", "hpc6a", "hpc7a",
                                                           "m8a", "c8a", "r8a", "hpc8a"};

bool has_cores_for_vcpus(const System& system) {
  const auto name = read_line((system.sysfs / "class/dmi/id/product_name").string());
  if (!name) return false;
  const std::string_view family = std::string_view(*name).substr(0, name->find('.'));
  return family.size() < name->size() &&
         std::ranges::find(kCoreFamilies, family) != kCoreFamilies.end();
}

/// True where an idle core may leave its clock gate: a state beyond polling and C1.
bool is_deep(const std::filesystem::path& state) {
  const auto name = read_line((state / "name").string());
  if (!name || *name == "POLL" || name->starts_with("C1") || name->ends_with("HLT")) return false;
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
    if (is_deep(state)) return true;
  }
  return !has_states;
}

}  // namespace

MachineSize read_machine_size(const System& system, const Processors& processors) {
  MachineSize size{.threads = processors.threads,
                   .cores = processors.cores,
                   .packages = processors.packages,
                   .is_virtual = processors.hypervisor};
  if (const auto text = read_file((system.procfs / "meminfo").string())) {
    constexpr double kGigabyte = 1e9;
    if (const auto memory = parse_memory(*text)) {
      size.memory_gb = static_cast<double>(memory->total_bytes) / kGigabyte;
    }
  }
  size.vcpu_is_core = has_cores_for_vcpus(system);
  size.sleeps = processors.hypervisor || can_sleep(system);
  return size;
}

}  // namespace wattle
