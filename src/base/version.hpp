// The version text of a program.
#pragma once

#include <string>

namespace wattle {

/// "0.1.0 (commit 0123456789ab)": `version()`, and the commit if the build was given one
/// (WATTLE_COMMIT). Thread-safe.
[[nodiscard]] std::string version_text();

}  // namespace wattle
