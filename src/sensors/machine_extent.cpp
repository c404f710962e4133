#include "sensors/machine_extent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// DMI vendors and products of virtual machines: the start of the text. After the table of systemd
/// (src/basic/virt.c).
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

bool is_bare_metal(const Product& product) {
  return product.vendor == "Amazon EC2" && product.size().starts_with("metal");
}

bool names_guest(const Product& product, HypervisorFlag flag) {
  // "Virtual Machine" of Microsoft, "Parallels ARM Virtual Machine", "VMware Virtual Platform".
  for (const std::string_view word : {"Virtual Machine", "Virtual Platform"}) {
    if (product.name.find(word) != std::string::npos) return true;
  }
  return std::ranges::any_of(kGuestNames, [&](const GuestName& guest) {
    return (product.name.starts_with(guest.text) || product.vendor.starts_with(guest.text)) &&
           !(guest.names_servers_too && flag.is_stated);
  });
}

/// A vendor, and a chassis other than "other" (1) and "unknown" (2; SMBIOS 7.4.1), which
/// hypervisors state.
bool has_chassis(const Product& product) {
  return !product.vendor.empty() && !product.chassis_type.empty() && product.chassis_type != "1" &&
         product.chassis_type != "2";
}

ShownExtent guest_by(std::string proof) {
  return {.extent = MachineExtent::guest, .proof = std::move(proof)};
}

/// By the signs that systemd looks for (detect_vm_device_tree): the node of a hypervisor, a
/// partition of POWER, devices of QEMU, and QEMU's board "virt". Absent where the tree describes no
/// machine: on Arm servers with ACPI the kernel makes a nearly empty one, without a model.
std::optional<ShownExtent> extent_in_device_tree(const fs::path& tree) {
  const auto has = [&](const char* name) {
    std::error_code error;
    return fs::exists(tree / name, error);
  };
  const std::string compatible = read_line((tree / "compatible").string()).value_or("");
  const FolderListing nodes = list_folder(tree.string());
  const bool has_qemu_device = std::ranges::any_of(
      nodes.names, [](const std::string& name) { return name.starts_with("fw-cfg"); });
  if (has("hypervisor") || has("ibm,partition-name") || has_qemu_device ||
      compatible.starts_with("linux,dummy-virt") || compatible.starts_with("qemu,")) {
    return guest_by(
        fmt::format("the device tree in {} is that of a virtual machine", tree.string()));
  }
  return has("model") ? std::optional(ShownExtent{.extent = MachineExtent::server}) : std::nullopt;
}

/// /proc/device-tree is a link to the other; a container may show one of them.
std::optional<ShownExtent> extent_in_device_tree(const System& system) {
  const auto extent = extent_in_device_tree(system.procfs / "device-tree");
  return extent ? extent : extent_in_device_tree(system.sysfs / "firmware/devicetree/base");
}

}  // namespace

Product read_product(const System& system) {
  const auto attribute = [&](const char* name) {
    return read_line((system.sysfs / "class/dmi/id" / name).string()).value_or("");
  };
  return {.vendor = attribute("sys_vendor"),
          .name = attribute("product_name"),
          .chassis_type = attribute("chassis_type")};
}

std::optional<ShownExtent> recognize_extent(const System& system, HypervisorFlag flag,
                                            const Product& product) {
  if (flag.is_set) return guest_by("/proc/cpuinfo has the flag 'hypervisor'");
  if (is_bare_metal(product)) return ShownExtent{.extent = MachineExtent::server};
  const fs::path hypervisor = system.sysfs / "hypervisor/type";
  if (const auto type = read_line(hypervisor.string())) {
    return guest_by(fmt::format("{} is '{}'", hypervisor.string(), printable(*type)));
  }
  if (names_guest(product, flag)) {
    return guest_by(fmt::format("{} names '{}' of '{}'", (system.sysfs / "class/dmi/id").string(),
                                printable(product.name), printable(product.vendor)));
  }
  if (flag.is_stated) return ShownExtent{.extent = MachineExtent::server};
  if (auto extent = extent_in_device_tree(system)) return extent;
  if (has_chassis(product)) return ShownExtent{.extent = MachineExtent::server};
  return std::nullopt;
}

std::optional<std::string> proof_of_guest(const System& system, const CpuInfo& cpu) {
  const HypervisorFlag flag{.is_set = cpu.hypervisor, .is_stated = cpu.states_flags};
  auto found = recognize_extent(system, flag, read_product(system));
  if (!found || found->extent != MachineExtent::guest) return std::nullopt;
  return std::move(found->proof);
}

}  // namespace wattle
