// AMD and Intel GPUs through the kernel's own drivers: /sys/class/drm, their hwmon, and
// /proc/PID/fdinfo. Facts, quirks and where they come from: docs/sensors/drm.md.
#pragma once

#include <chrono>
#include <functional>
#include <set>

#include "sensors/drm/card.hpp"
#include "sensors/drm/gpu.hpp"
#include "sensors/sensor.hpp"

namespace wattle::drm {

/// One sensor for each GPU of amdgpu, i915 or xe with readable values. They are examined at the
/// same time, each in a thread of its own. One that has not answered by the deadline is refused,
/// and its thread abandoned: it owns what it touches, and its results are dropped. Without such
/// GPUs there is no thread. No other interface shows these GPUs, so none is ever `taken`.
[[nodiscard]] Survey probe(const System& system, const TimeSource& clock,
                           const std::set<Domain>& taken);
/// `examine_card`: what is done in those threads.
[[nodiscard]] Survey probe_within(
    const System& system, const TimeSource& clock, std::chrono::nanoseconds deadline,
    const std::function<DrmGpu(const GpuCard&)>& examine_card = examine);

}  // namespace wattle::drm
