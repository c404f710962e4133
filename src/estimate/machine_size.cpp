#include "estimate/machine_size.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

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

/// What DMI calls the vendor or the product of virtual machines, at the start of the text. After
/// the table of systemd (src/basic/virt.c).
struct GuestName {
  std::string_view text;
  /// Servers of this vendor without a hypervisor have the same name.
  bool names_servers_too = false;
};
constexpr auto kGuestNames = std::to_array<GuestName>({{"KVM"},
                                                       {"QEMU"},
                                                       {"Amazon EC2"},
                                                       {"Google Compute Engine", true},
                                                       {"OpenStack"},
                                                       {"KubeVirt"},
                                                       {"VMware"},
                                                       {"VMW"},
                                                       {"innotek GmbH"},
                                                       {"VirtualBox"},
                                                       {"Xen"},
                                                       {"Bochs"},
                                                       {"Parallels"},
                                                       {"BHYVE"},
                                                       {"Hyper-V"},
                                                       {"Apple Virtualization"}});

/// What DMI says of the machine; empty where it does not.
struct Product {
  std::string vendor;
  std::string name;
  std::string chassis_type;

  /// The part of a type of Amazon EC2 before or after its dot: "m7a" and "large".
  [[nodiscard]] std::string_view family() const {
    return std::string_view(name).substr(0, name.find('.'));
  }
  [[nodiscard]] std::string_view size() const {
    const std::size_t dot = name.find('.');
    return dot == std::string::npos ? std::string_view() : std::string_view(name).substr(dot + 1);
  }
  [[nodiscard]] bool is_bare_metal() const {
    return vendor == "Amazon EC2" && size().starts_with("metal");
  }
  [[nodiscard]] bool has_cores_for_vcpus() const {
    return !size().empty() && std::ranges::find(kCoreFamilies, family()) != kCoreFamilies.end();
  }
  /// `states_flags`: the processor would show that a hypervisor runs.
  [[nodiscard]] bool is_guest(bool states_flags) const {
    // "Virtual Machine" of Microsoft, "Parallels ARM Virtual Machine", "VMware Virtual Platform".
    for (const std::string_view word : {"Virtual Machine", "Virtual Platform"}) {
      if (name.find(word) != std::string::npos) return true;
    }
    return std::ranges::any_of(kGuestNames, [&](const GuestName& guest) {
      return (name.starts_with(guest.text) || vendor.starts_with(guest.text)) &&
             !(guest.names_servers_too && states_flags);
    });
  }
  /// A vendor, and a chassis other than "other" (1) and "unknown" (2; SMBIOS 7.4.1), which
  /// hypervisors state.
  [[nodiscard]] bool has_chassis() const {
    return !vendor.empty() && !chassis_type.empty() && chassis_type != "1" && chassis_type != "2";
  }
};

Product read_product(const System& system) {
  const auto attribute = [&](const char* name) {
    return read_line((system.sysfs / "class/dmi/id" / name).string()).value_or("");
  };
  return {.vendor = attribute("sys_vendor"),
          .name = attribute("product_name"),
          .chassis_type = attribute("chassis_type")};
}

/// By the signs that systemd looks for (detect_vm_device_tree): the node of a hypervisor, a
/// partition of POWER, devices of QEMU, and QEMU's board "virt". Absent where the tree describes no
/// machine: on Arm servers with ACPI the kernel makes a nearly empty one, without a model.
std::optional<MachineExtent> extent_in_device_tree(const std::filesystem::path& tree) {
  const auto has = [&](const char* name) {
    std::error_code error;
    return std::filesystem::exists(tree / name, error);
  };
  if (has("hypervisor") || has("ibm,partition-name")) return MachineExtent::guest;
  const std::string compatible = read_line((tree / "compatible").string()).value_or("");
  if (compatible.starts_with("linux,dummy-virt") || compatible.starts_with("qemu,")) {
    return MachineExtent::guest;
  }
  const FolderListing nodes = list_folder(tree.string());
  const bool has_qemu_device = std::ranges::any_of(
      nodes.names, [](const std::string& name) { return name.starts_with("fw-cfg"); });
  if (has_qemu_device) return MachineExtent::guest;
  return has("model") ? std::optional(MachineExtent::server) : std::nullopt;
}

/// /proc/device-tree is a link to the other; a container may show one of them.
std::optional<MachineExtent> extent_in_device_tree(const System& system) {
  const auto extent = extent_in_device_tree(system.procfs / "device-tree");
  return extent ? extent : extent_in_device_tree(system.sysfs / "firmware/devicetree/base");
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

std::optional<MachineExtent> recognize_extent(const System& system, const Processors& processors) {
  if (processors.hypervisor) return MachineExtent::guest;
  const Product product = read_product(system);
  if (product.is_bare_metal()) return MachineExtent::server;
  if (read_line((system.sysfs / "hypervisor/type").string())) return MachineExtent::guest;
  if (product.is_guest(processors.states_flags)) return MachineExtent::guest;
  if (processors.states_flags) return MachineExtent::server;
  if (const auto extent = extent_in_device_tree(system)) return extent;
  return product.has_chassis() ? std::optional(MachineExtent::server) : std::nullopt;
}

MachineSize read_machine_size(const System& system, const Processors& processors,
                              MachineExtent extent) {
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
  size.vcpu_is_core = read_product(system).has_cores_for_vcpus();
  size.sleeps = is_virtual || can_sleep(system);
  return size;
}

}  // namespace wattle
