// The names of groups.
#pragma once

#include <sys/types.h>

#include <string>

#include "wattle/export.hpp"

namespace wattle {

/// A group's name, safe to print; its number if it has no name. Threads: any.
[[nodiscard]] WATTLE_EXPORT std::string group_name(gid_t gid);

}  // namespace wattle
