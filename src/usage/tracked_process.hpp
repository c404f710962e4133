// The observation of a tracker, from its options.
#pragma once

#include <cstddef>

#include "base/clock.hpp"
#include "usage/usage_observation.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// Checks the options, finds the process and the devices, and opens the files; throws as the
/// constructor of `Tracker`. Files that it made are there for good from `begin` on.
[[nodiscard]] UsageObservation observe_process(const TrackerOptions& options,
                                               const TimeSource& clock,
                                               std::size_t usage_file_bytes = kUsageFileBytes);

}  // namespace wattle
