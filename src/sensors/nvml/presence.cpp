#include "sensors/nvml/presence.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "base/files/file.hpp"
#include "base/text/split.hpp"

namespace wattle::nvml {
namespace {

namespace fs = std::filesystem;

/// Lines of /proc/bus/pci/devices: bus and device, then vendor and device ("10de2330"), then more.
bool lists_nvidia(std::string_view devices) noexcept {
  while (!devices.empty()) {
    std::string_view line = take_line(devices);
    take_word(line);
    if (take_word(line).starts_with("10de")) return true;
  }
  return false;
}

/// Also true if that cannot be found out.
bool may_exist(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) || error;
}

}  // namespace

std::string why_no_gpu(const PresencePlaces& places) {
  const fs::path driver = places.procfs / "driver/nvidia";
  if (may_exist(driver)) return {};
  // dxg is the GPU of the Windows host (WSL), nvmap that of a Tegra: neither is on the PCI bus.
  if (may_exist(places.dev / "dxg") || may_exist(places.dev / "nvmap")) return {};
  // The driver may not be loaded yet: the library loads it.
  const std::string bus = (places.procfs / "bus/pci/devices").string();
  if (const auto devices = read_file(bus)) {
    if (lists_nvidia(*devices)) return {};
    return fmt::format("no {}; no device of vendor 10de in {}", driver.string(), bus);
  }
  if (errno != ENOENT) return {};
  // No PCI bus, or a service that sees processes alone in its /proc.
  for (const fs::path& sign : {places.dev / "nvidiactl", places.sysfs / "module/nvidia",
                               places.sysfs / "module/nouveau"}) {
    if (may_exist(sign)) return {};
  }
  return fmt::format("no {}, no {}, no {}", driver.string(), bus,
                     (places.dev / "nvidiactl").string());
}

}  // namespace wattle::nvml
