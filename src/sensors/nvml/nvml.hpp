// NVIDIA GPUs through the driver's management library (NVML), libnvidia-ml.so.1, and a cheap check
// for the hardware before the library is searched for. Facts, quirks and where they come from:
// docs/sensors/nvml.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

#include "sensors/sensor.hpp"
#include "wattle/system.hpp"

namespace wattle::nvml {

/// One sensor for each GPU that the driver names; CUDA_VISIBLE_DEVICES plays no part. GPUs are
/// asked at the same time, each in a thread of its own. One that has not answered by the deadline
/// is refused, and its thread abandoned: it owns what it touches, and its results are dropped.
/// Where there is no library this costs one failing search for it, and no thread.
/// No other interface shows these GPUs, so none is ever `taken`.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken);
[[nodiscard]] Survey probe_within(const System& system, const TimeSource& clock,
                                  std::chrono::nanoseconds deadline);

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
