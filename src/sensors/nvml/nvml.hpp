// NVIDIA GPUs through the driver's management library (NVML), libnvidia-ml.so.1.
// Facts, quirks and where they come from: docs/sensors/nvml.md.
#pragma once

#include <chrono>
#include <set>

#include "sensors/sensor.hpp"

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

}  // namespace wattle::nvml
