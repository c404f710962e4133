#include "machine/fix_facts.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/dynlib.hpp"
#include "base/files/file.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/machine_extent.hpp"
#include "sensors/perf/diagnosis.hpp"

namespace wattle::app {
namespace {

namespace fs = std::filesystem;

/// Entries of a folder; none where it cannot be listed.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

std::vector<PciGpu> find_gpus(const System& system) {
  constexpr std::string_view kDisplay = "0x03";
  std::vector<PciGpu> gpus;
  for (const fs::path& device : entries_of(system.sysfs / "bus/pci/devices")) {
    const std::string kind = read_line((device / "class").string()).value_or("");
    if (!kind.starts_with(kDisplay)) continue;
    std::error_code none;
    gpus.push_back({.address = device.filename().string(),
                    .vendor = read_line((device / "vendor").string()).value_or(""),
                    .driver = fs::read_symlink(device / "driver", none).filename().string()});
  }
  return gpus;
}

/// The name of a user; empty for root and where it has none.
std::string user_name(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> room;
  if (uid != 0) (void)::getpwuid_r(uid, &entry, room.data(), room.size(), &found);
  return found != nullptr ? entry.pw_name : "";
}

/// Who runs this, also by way of sudo.
std::string who_measures() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs
  const char* by_sudo = ::getuid() == 0 ? std::getenv("SUDO_USER") : nullptr;
  const std::string user = by_sudo != nullptr ? by_sudo : user_name(::getuid());
  return user == "root" ? "" : user;
}

bool is_known_user(const char* name) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> room;
  (void)::getpwnam_r(name, &entry, room.data(), room.size(), &found);
  return found != nullptr;
}

bool has_unit() {
  std::error_code none;
  return std::ranges::any_of(
      std::array{"/usr/lib", "/lib", "/etc", "/usr/local/lib"}, [&](const char* folder) {
        return fs::exists(fs::path(folder) / "systemd/system/wattled.service", none);
      });
}

}  // namespace

FixFacts find_facts(const System& system) {
  std::error_code none;
  const std::string release =
      read_line((system.procfs / "sys/kernel/osrelease").string()).value_or("");
  return {.program = fs::read_symlink("/proc/self/exe", none).string(),
          .user = who_measures(),
          .is_virtual = proof_of_guest(system, read_cpu_info(system)).has_value(),
          .has_event =
              fs::exists(system.sysfs / "bus/event_source/devices/power/events/energy-pkg", none),
          .has_zones = !entries_of(system.sysfs / "class/powercap").empty(),
          .has_perfmon = perf::knows_cap_perfmon(release),
          .has_unit = has_unit(),
          .has_user = is_known_user("wattled"),
          .has_nvml = static_cast<bool>(DynamicLibrary::open(system.nvml_library)),
          .gpus = find_gpus(system)};
}

}  // namespace wattle::app
