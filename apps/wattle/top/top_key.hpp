// The keys by which `wattle top` groups processes.
#pragma once

#include <cstdint>

namespace wattle::app {

/// Control groups by their path, or by the container or the pod that it names.
enum class TopKey : std::uint8_t { command, user, cgroup, container, pod, process };

}  // namespace wattle::app
