// The GPUs that the kernel's DRM drivers show under /sys/class/drm, and what they are. Looking for
// them asks no driver and wakes no GPU up.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/domain.hpp"
#include "wattle/system.hpp"

namespace wattle::drm {

/// The PCI device in `device/uevent`. Views into its text; empty if not given.
struct PciDevice {
  std::string_view driver{};   ///< "amdgpu"
  std::string_view ids{};      ///< "1002:73BF": vendor and device
  std::string_view address{};  ///< "0000:03:00.0"
};
[[nodiscard]] PciDevice parse_uevent(std::string_view text) noexcept;

/// A card with a number, of any vendor.
struct Card {
  std::string name;              ///< "card1"
  std::filesystem::path folder;  ///< /sys/class/drm/card1
  std::string driver;            ///< "amdgpu"; empty where it has none
  std::string ids;               ///< "1002:73bf"; empty where it is no PCI device
  std::string pci_address;       ///< "0000:03:00.0"
  int error = 0;                 ///< the `errno` for which none of the last three is known

  [[nodiscard]] std::filesystem::path device() const { return folder / "device"; }
};

/// The processor's own bus: a board is on the other side of a bridge. (Intel's integrated GPU has
/// been device 2 on it since it exists.)
inline constexpr std::string_view kProcessorBus = "0000:00:";

/// A card whose driver Wattle knows.
struct GpuCard : Card {
  Domain domain;

  [[nodiscard]] bool is_amd() const noexcept { return domain.kind() == DomainKind::amd_gpu; }
  /// A GPU inside a processor: its power is part of that of the package.
  [[nodiscard]] bool is_integrated_intel() const;
};

/// Each ordered by PCI address.
struct Cards {
  /// Numbered in that order for each vendor, whatever can be read of them, so that a number does
  /// not depend on rights.
  std::vector<GpuCard> gpus;
  std::vector<Card> others;
  int error = 0;  ///< the `errno` for which they cannot be listed; 0 where there are none
};
[[nodiscard]] Cards find_cards(const System& system);

/// Where the driver's own sensors are: `device/hwmon/hwmonN`, whose number changes at every start.
/// Empty where it has none.
[[nodiscard]] std::filesystem::path find_hwmon(const Card& card);

/// The names of the card's files under /dev/dri: "card1", "renderD128".
[[nodiscard]] std::vector<std::string> find_nodes(const Card& card);

}  // namespace wattle::drm
