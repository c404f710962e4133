// Whether this process is still the one that made a thing.
#pragma once

#include <cstdint>

#include "wattle/export.hpp"

namespace wattle {

/// How often this process and its ancestors have forked since `forks` was first called: a child
/// sees another number than its parent did. Cheaper than to ask the kernel who one is. Threads:
/// any. Exported for the components.
[[nodiscard]] WATTLE_EXPORT std::uint64_t forks() noexcept;

}  // namespace wattle
