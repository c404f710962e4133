// The zones of powercap's tree: their folders, their names, and what they measure. Everybody may
// list them, also where only root may read their counters. Facts: docs/sensors/powercap.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/domain.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// A zone's directory: "intel-rapl:0" or "intel-rapl:0:1".
struct ZoneId {
  std::string_view control;          ///< control type: "intel-rapl", "intel-rapl-mmio"
  std::uint32_t zone = 0;            ///< number of the top-level zone; no relation to its socket
  std::optional<std::uint32_t> sub;  ///< number below it, absent for a top-level zone
};
[[nodiscard]] std::optional<ZoneId> parse_zone_id(std::string_view directory) noexcept;

/// Where a zone's files are.
struct ZoneFolder {
  std::string directory;  ///< "intel-rapl:0:1"
  std::filesystem::path path;
};

struct ZoneFolders {
  std::vector<ZoneFolder> zones;   ///< each directory once, sorted by its name
  int error = 0;                   ///< the `errno` for which not all of them could be found
  std::filesystem::path unlisted;  ///< the folder that could not be listed; empty without an error
};
/// The zones of class/powercap: the kernel's links to all of them, and, where a copy of the tree
/// has no such links, the zones within the folders of control types and within zones. A zone that
/// is found both ways has the path of its link, unless the link leads nowhere.
[[nodiscard]] ZoneFolders list_zone_folders(const System& system);

/// The `name` of a top-level zone, "package-0", "package-1-die-0", "psys", "psys-1", as a domain;
/// absent for any other.
[[nodiscard]] std::optional<Domain> parse_top_zone_name(std::string_view name) noexcept;

/// The `name` of a zone inside a package: "core", "uncore", "dram"; absent for any other.
[[nodiscard]] std::optional<DomainKind> parse_sub_zone_name(std::string_view name) noexcept;

/// A top-level zone of the processors' own registers ("intel-rapl:1").
struct CpuZone {
  std::uint32_t number = 0;
  Domain domain;  ///< a package, one of its dies, or the platform
};

/// All of them whose names are known, by number; empty if the tree does not exist. zeusd and Zeus
/// number CPUs by them. On AMD processors, zones of several dies have the domain of their package:
/// Linux 6.9 to 6.11 shows its counter once a die.
[[nodiscard]] std::vector<CpuZone> list_cpu_zones(const System& system);

}  // namespace wattle
