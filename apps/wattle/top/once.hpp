// `wattle top --once`: one table, or one line of JSON.
#pragma once

#include "top/top_options.hpp"

namespace wattle::app {

/// The exit status of the program.
[[nodiscard]] int top_once(const TopOptions& options);

}  // namespace wattle::app
