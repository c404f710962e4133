// The machine's processors, from /proc/cpuinfo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/system.hpp"

namespace wattle {

/// Empty strings where the file does not say.
struct CpuInfo {
  std::string vendor;         ///< "GenuineIntel", "AuthenticAMD" ...
  std::string model_name;     ///< "AMD EPYC 7543 32-Core Processor"
  bool hypervisor = false;    ///< it has the flag "hypervisor" (x86): this is a virtual machine
  bool states_flags = false;  ///< x86: without that flag it is not virtual, or hides it
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

/// Absent where the file does not say: x86 has the first three, Arm the last two.
struct ProcessorKind {
  std::string vendor;  ///< "GenuineIntel", "AuthenticAMD"; else empty
  std::optional<std::uint32_t> family;
  std::optional<std::uint32_t> model;
  std::optional<std::uint32_t> stepping;
  std::optional<std::uint32_t> implementer;
  std::optional<std::uint32_t> part;

  bool operator==(const ProcessorKind&) const = default;
  /// True if the file says nothing that a microarchitecture is recognized by.
  [[nodiscard]] bool is_unknown() const noexcept {
    return !family && !model && !implementer && !part;
  }
};

/// The kinds of a machine, each once, in the order of the file; at most `kMostKinds`.
struct Processors {
  static constexpr std::size_t kMostKinds = 16;
  std::vector<ProcessorKind> kinds;
  bool hypervisor = false;    ///< the first one has the flag "hypervisor" (x86)
  bool states_flags = false;  ///< x86: without that flag it is not virtual, or hides it
  unsigned threads = 0;       ///< that are online
  unsigned cores = 0;         ///< 0: not known
  unsigned packages = 0;      ///< 0: not known
};

/// From the text of /proc/cpuinfo, all processors of it.
[[nodiscard]] Processors parse_processors(std::string_view text);

/// From the file; empty where it cannot be read. Cores and packages are those of sysfs where the
/// file does not say.
[[nodiscard]] Processors read_processors(const System& system);

/// The CPU numbers of a list such as "0,18" or "0-3,8", rising; absent where the text is no such
/// list, or names a CPU beyond any kernel's limit.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

/// "physical_package_id", "core_id", "die_id": a file in devices/system/cpu/cpuN/topology.
[[nodiscard]] std::filesystem::path cpu_topology_file(const System& system, std::uint32_t cpu,
                                                      std::string_view name);
/// Its number; absent for a CPU that is offline.
[[nodiscard]] std::optional<std::uint32_t> read_cpu_topology(const System& system,
                                                             std::uint32_t cpu,
                                                             std::string_view name);

/// The file and why it could not be read, for a refusal's proof.
[[nodiscard]] std::string cpu_info_proof(const System& system, const CpuInfo& cpu);

}  // namespace wattle
