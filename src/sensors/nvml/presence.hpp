// A cheap check for NVIDIA hardware, before the driver's library is searched for.
#pragma once

#include <filesystem>
#include <string>

#include "wattle/system.hpp"

namespace wattle::nvml {

/// Where a sign of NVIDIA hardware may be. Tests name folders of their own.
struct PresencePlaces {
  std::filesystem::path sysfs;
  std::filesystem::path procfs;
  std::filesystem::path dev = "/dev";
};

/// Empty if NVIDIA's library may find a GPU: the driver is loaded, a device file of NVIDIA or of
/// WSL is there, or the PCI bus has a device of NVIDIA (or cannot be listed). Else one line with
/// the signs that are missing: then searching all folders of libraries, which takes about 100
/// system calls, finds nothing to read.
[[nodiscard]] std::string why_no_gpu(const PresencePlaces& places);

}  // namespace wattle::nvml
