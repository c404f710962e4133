// The devices that the provider reads: the chips under /sys/class/hwmon that show power or energy,
// and the batteries under /sys/class/power_supply. Finding them reads names and folders only: no
// driver asks its hardware.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/system.hpp"

namespace wattle::hwmon {

/// The name of the provider, and what the names of its rails start with.
inline constexpr const char* kSource = "hwmon";

/// Every file is in microwatts or microjoules.
inline constexpr double kMicro = 1e-6;

/// A chip's name or a label as part of a domain's name: letters in lower case, digits, and one `_`
/// for everything between. Empty where it has neither letters nor digits. At most `kLongestWord`.
[[nodiscard]] std::string word_of(std::string_view text);
inline constexpr std::size_t kLongestWord = 24;

/// The text of a small file; empty where it cannot be read.
[[nodiscard]] std::string line_in(const std::filesystem::path& path);

/// The files of a channel: a number, the product of two, or a difference.
struct Files {
  std::string value{};
  /// Subtracted from the value; empty: none.
  std::array<std::string, 2> less{};
  /// Factor of the value; empty: none.
  std::string factor{};
  std::uint64_t divisor = 1;  ///< of the product
  /// The status of a battery, which must be `kDischarging`; else there is no value. Empty: none.
  std::string status{};
};
inline constexpr std::string_view kDischarging = "Discharging";

/// A channel as it will be, if its files can be read.
struct PlannedChannel {
  Channel channel;
  Files files;
};

/// A chip, or a part of one with very many channels, or a battery.
struct HwmonDevice {
  DeviceInfo info{};
  std::vector<PlannedChannel> found{};
};

struct Devices {
  std::vector<HwmonDevice> devices{};  ///< chips, then batteries
  std::vector<SensorRefusal> refused{};
};
[[nodiscard]] Devices find_devices(const System& system);

}  // namespace wattle::hwmon
