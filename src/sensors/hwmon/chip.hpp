// The chips under /sys/class/hwmon: what their rails are called, and which files they have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/hwmon/device.hpp"

namespace wattle::hwmon {

/// An attribute that shows a quantity: "power2_average".
struct Attribute {
  Metric metric;
  std::uint32_t number;  ///< 2
};
/// Absent for anything but powers, energies and limits of power.
[[nodiscard]] std::optional<Attribute> parse_attribute(std::string_view name) noexcept;

/// The chips in `names`, entries of `folder`, in the order of their names, those of one name by the
/// place of their device. Chips of graphics cards are left out, and those called as in `covered`.
[[nodiscard]] std::vector<HwmonDevice> find_chips(const std::filesystem::path& folder,
                                                  const std::vector<std::string>& names,
                                                  const std::set<std::string>& covered);

}  // namespace wattle::hwmon
