// Environment variables, as a parameter: so that tests set none.
#pragma once

#include <functional>

namespace wattle {

/// Looks up an environment variable: null where it is not set. As std::getenv.
using Environment = std::function<const char*(const char*)>;

/// A variable of this process; null where it is not set. Threads: none that changes variables.
[[nodiscard]] const char* environment_variable(const char* name);

}  // namespace wattle
