#include "sensors/cpu_zones.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "base/files/file.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "sensors/cpu_info.hpp"

namespace wattle {
namespace {

/// A control type's name as kernels give it. Anything else, which another tree than the kernel's
/// may hold, is not for a terminal.
bool is_identifier(std::string_view text) noexcept {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// Finds the zones of a tree, one listing long.
class ZoneSearch {
 public:
  /// Zones of the folder itself come first: what is nested replaces only what leads nowhere.
  ZoneFolders run(const std::filesystem::path& root) {
    const FolderListing top = list_folder(root.string());
    note_error(root, top.error);
    add_zones(root, top.names, {});
    for (const std::string& name : top.names) {
      if (is_identifier(name)) add_nested(root / name, name + ":");
    }
    // The map may change while the zones in a zone are added.
    std::vector<std::pair<std::string, std::filesystem::path>> outer(paths_.begin(), paths_.end());
    for (const auto& [directory, path] : outer) {
      if (!parse_zone_id(directory)->sub) add_nested(path, directory + ":");
    }
    for (auto& [directory, path] : paths_) found_.zones.push_back({directory, std::move(path)});
    return std::move(found_);
  }

 private:
  void add_nested(const std::filesystem::path& folder, const std::string& prefix) {
    const FolderListing listing = list_folder(folder.string());
    // Where there are links, the folders hold nothing else.
    const bool is_file = listing.error == ENOTDIR || listing.error == ENOENT;
    if (paths_.empty() && !is_file) note_error(folder, listing.error);
    add_zones(folder, listing.names, prefix);
  }

  void add_zones(const std::filesystem::path& folder, const std::vector<std::string>& names,
                 const std::string& prefix) {
    for (const std::string& name : names) {
      if (!name.starts_with(prefix) || !parse_zone_id(name)) continue;
      const auto [place, is_new] = paths_.try_emplace(name, folder / name);
      std::error_code ignored;
      if (!is_new && !std::filesystem::exists(place->second, ignored))
        place->second = folder / name;
    }
  }

  /// Keeps the first.
  void note_error(const std::filesystem::path& folder, int error) {
    if (error == 0 || found_.error != 0) return;
    found_.unlisted = folder;
    found_.error = error;
  }

  std::map<std::string, std::filesystem::path> paths_;
  ZoneFolders found_;
};

}  // namespace

ZoneFolders list_zone_folders(const System& system) {
  return ZoneSearch().run(system.sysfs / "class" / "powercap");
}

std::optional<ZoneId> parse_zone_id(std::string_view directory) noexcept {
  const bool has_sub = std::ranges::count(directory, ':') > 1;
  const std::string_view control = take_until(directory, ':');
  const auto zone = parse_unsigned<std::uint32_t>(take_until(directory, ':'));
  const auto sub = parse_unsigned<std::uint32_t>(directory);
  if (!is_identifier(control) || !zone || has_sub != sub.has_value()) return std::nullopt;
  return ZoneId{.control = control, .zone = *zone, .sub = sub};
}

std::optional<Domain> parse_top_zone_name(std::string_view name) noexcept {
  if (name == "psys") return Domain::psys();
  if (take_prefix(name, "psys-")) {
    const auto index = parse_unsigned<std::uint32_t>(name);
    if (!index) return std::nullopt;
    return Domain::psys(*index);
  }
  if (!take_prefix(name, "package-")) return std::nullopt;
  const std::size_t dash = name.find('-');
  const auto socket = parse_unsigned<std::uint32_t>(name.substr(0, dash));
  if (!socket) return std::nullopt;
  if (dash == std::string_view::npos) return Domain::package(*socket);
  name.remove_prefix(dash);
  if (!take_prefix(name, "-die-")) return std::nullopt;
  const auto die = parse_unsigned<std::uint32_t>(name);
  if (!die) return std::nullopt;
  return Domain::package(*socket).on_die(*die);
}

std::optional<DomainKind> parse_sub_zone_name(std::string_view name) noexcept {
  if (name == "core") return DomainKind::core;
  if (name == "uncore") return DomainKind::uncore;
  if (name == "dram") return DomainKind::dram;
  return std::nullopt;
}

std::vector<CpuZone> list_cpu_zones(const System& system) {
  const bool is_amd = read_cpu_info(system).is_amd();
  std::vector<CpuZone> zones;
  for (const auto& [directory, path] : list_zone_folders(system).zones) {
    const auto id = parse_zone_id(directory);
    if (!id || id->control != "intel-rapl" || id->sub) continue;
    const auto name = read_line((path / "name").string());
    const auto domain = name ? parse_top_zone_name(*name) : std::nullopt;
    if (!domain) continue;
    const bool is_package = domain->kind() == DomainKind::package;
    zones.push_back({.number = id->zone,
                     .domain = is_package && is_amd ? Domain::package(domain->index()) : *domain});
  }
  std::ranges::sort(zones, {}, &CpuZone::number);
  return zones;
}

}  // namespace wattle
