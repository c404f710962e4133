// The usage file: what a tracker knows so far, for after a crash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wattle/tracker.hpp"

namespace wattle {

/// A line of a usage file with its end. `tick` counts the samples from 1.
[[nodiscard]] std::string usage_line(const ResourceUsage& usage, std::uint64_t tick);
/// The contents of a usage file of a killed tracker.
struct RecoveredUsage {
  ResourceUsage usage;
  std::uint64_t ticks = 0;  ///< samples that were completed
};
/// The last whole line among `lines`. Throws `FormatError`, which names `path`, where there is
/// none.
[[nodiscard]] RecoveredUsage recovered(std::string_view lines, const std::string& path);

}  // namespace wattle
