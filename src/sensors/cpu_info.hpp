// What /proc/cpuinfo says of the machine's processors.
#pragma once

#include <string>
#include <string_view>

#include "wattle/system.hpp"

namespace wattle {

/// Empty strings where the file does not say.
struct CpuInfo {
  std::string vendor;       ///< "GenuineIntel", "AuthenticAMD" ...
  std::string model_name;   ///< "AMD EPYC 7543 32-Core Processor"
  bool hypervisor = false;  ///< this system runs as a virtual machine
  /// The `errno` of a failed read; 0 if the file was read or does not exist.
  int error = 0;

  /// AMD, or Hygon's licensed copy of it.
  [[nodiscard]] bool is_amd() const noexcept {
    return vendor == "AuthenticAMD" || vendor == "HygonGenuine";
  }
  [[nodiscard]] bool is_intel() const noexcept { return vendor == "GenuineIntel"; }
};

/// From the text of /proc/cpuinfo: its first processor stands for all.
[[nodiscard]] CpuInfo parse_cpu_info(std::string_view text);

/// From what sysfs calls the kind of the processors (devices/system/cpu/modalias): no model name.
[[nodiscard]] CpuInfo parse_cpu_alias(std::string_view alias);

/// From the files; everything empty if none can be read, and `error` set if /proc/cpuinfo exists.
[[nodiscard]] CpuInfo read_cpu_info(const System& system);

/// The file and why it could not be read, for a refusal's proof.
[[nodiscard]] std::string cpu_info_proof(const System& system, const CpuInfo& cpu);

}  // namespace wattle
