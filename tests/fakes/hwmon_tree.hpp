// Chips and batteries as Linux shows them: the folders, links, files and formats of
// /sys/class/hwmon (Documentation/hwmon/sysfs-interface.rst) and of /sys/class/power_supply
// (Documentation/ABI/testing/sysfs-class-power).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::fakes {

/// `system()` points to it. Threads: one at a time.
class HwmonTree {
 public:
  using Files = std::map<std::string, std::string>;

  /// Both classes, empty.
  HwmonTree();

  /// A chip `name`, `hwmonN`, of the device `device`: "i2c-1/1-0040".
  void add_chip(int number, const std::string& device, std::string_view name, const Files& files);
  /// The same for a driver that has its attributes at the device.
  void add_old_chip(int number, const std::string& device, std::string_view name,
                    const Files& files);
  /// A meter that ACPI shows: 250 W over 1 s, at most 800 W.
  void add_power_meter(int number, int instance, std::string_view label = "");
  /// A monitor of one rail: 12.5 W.
  void add_ina226(int number, const std::string& device);
  /// A monitor of three rails by voltage and current: 19 V x 0.5 A, 5 V x 1 A, and nothing.
  void add_ina3221(int number, const std::string& device);

  /// A power supply: its `type` is among the files.
  void add_supply(const std::string& name, const Files& files);
  /// A battery that discharges with 8.25 W.
  void add_battery(const std::string& name);

  /// Replaces a file of a chip or a supply.
  void write(int chip, const std::string& file, std::string_view content) const;
  void write(const std::string& supply, const std::string& file, std::string_view content) const;
  void remove(int chip, const std::string& file) const;

  [[nodiscard]] std::filesystem::path chip(int number) const;
  [[nodiscard]] std::filesystem::path supply(const std::string& name) const;
  [[nodiscard]] System system() const;

 private:
  TempFolder folder_;
};

}  // namespace wattle::fakes
