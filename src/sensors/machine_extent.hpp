// Whether this system has a machine for itself or is a guest (a virtual machine) on one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sensors/cpu_info.hpp"
#include "wattle/estimate.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// The machine's DMI texts; empty if absent.
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
};

[[nodiscard]] Product read_product(const System& system);

/// The CPU flag "hypervisor" of x86.
struct HypervisorFlag {
  bool is_set = false;
  bool is_stated = false;  ///< /proc/cpuinfo lists flags: without this one there is no hypervisor
};

struct ShownExtent {
  MachineExtent extent;
  std::string proof{};  ///< of a guest: "/proc/cpuinfo has the flag 'hypervisor'"; else empty
};

/// By the CPU flag "hypervisor" (x86), /sys/hypervisor/type, the device tree and the names of
/// vendor and product. Bare metal of Amazon EC2 ("m7g.metal") is a server. Absent if nothing shows
/// it.
[[nodiscard]] std::optional<ShownExtent> recognize_extent(const System& system, HypervisorFlag flag,
                                                          const Product& product);

/// The proof that this system is a guest; absent if it is none, or nothing shows it.
[[nodiscard]] std::optional<std::string> proof_of_guest(const System& system, const CpuInfo& cpu);

}  // namespace wattle
