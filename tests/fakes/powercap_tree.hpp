// A powercap tree as the kernel shows it: the same folders, links, file names and roundings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "fakes/temp_folder.hpp"
#include "wattle/system.hpp"

namespace wattle::fakes {

/// How a kernel turns a counter's ticks into micro-joules.
struct KernelUnit {
  double tick_j;             ///< what one tick of the hardware is
  std::uint64_t nanojoules;  ///< what the kernel multiplies by

  /// `energy_uj` for a 32-bit counter that shows `ticks`.
  [[nodiscard]] constexpr std::uint64_t energy_uj(std::uint64_t ticks) const noexcept {
    return (ticks & 0xFFFFFFFFU) * nanojoules / 1000;
  }
  [[nodiscard]] constexpr std::uint64_t range_uj() const noexcept {
    return 0xFFFFFFFFU * nanojoules / 1000;
  }
};

inline constexpr KernelUnit kPackageUnit{1.0 / 16384.0, 61035};     // 2^-14 J
inline constexpr KernelUnit kFineUnit{1.0 / 65536.0, 15258};        // 2^-16 J
inline constexpr KernelUnit kServerDramUnit{1.0 / 65536.0, 15300};  // 2^-16 J, as 15.3 uJ
inline constexpr KernelUnit kServerPsysUnit{1.0, 1'000'000'000};    // 1 J

/// `system()` points to it. Threads: one at a time.
class PowercapTree {
 public:
  /// No zones; /proc holds the cpuinfo of an Intel server.
  PowercapTree();

  /// Adds a zone such as "intel-rapl:0" or "intel-rapl:0:1".
  void add_zone(const std::string& directory, std::string_view name,
                const KernelUnit& unit = kPackageUnit, std::uint64_t ticks = 0);
  /// Replaces or adds one file of a zone.
  void write_file(const std::string& directory, std::string_view file, std::string_view content);
  void remove_file(const std::string& directory, std::string_view file);
  /// Replaces /proc/cpuinfo.
  void set_cpu_info(std::string_view text);
  /// Replaces or adds a file of /proc.
  void write_proc(const std::string& file, std::string_view content);

  [[nodiscard]] std::filesystem::path zone_path(const std::string& directory) const;
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }
  [[nodiscard]] System system() const;

 private:
  TempFolder folder_;
};

/// Sets `energy_uj` in place: one write of always the same length, so that a reader sees the old
/// number or the new one, never an empty file.
void set_energy_uj(const std::filesystem::path& zone, std::uint64_t energy_uj);

}  // namespace wattle::fakes
