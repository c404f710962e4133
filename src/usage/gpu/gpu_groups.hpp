// The groups of resource usage that are about GPUs.
#pragma once

#include <optional>
#include <string>

#include "usage/gpu/gpu_usage.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// Fills `max_gpu_ram` (in its unit), `gpu_utilization`, and why parts of them are unknown.
/// `on_machine`: how many GPUs there are; absent where not every vendor's can be listed.
void fill_gpu_groups(ResourceUsage& usage, const GpusUsage& all,
                     std::optional<unsigned> on_machine);

}  // namespace wattle
