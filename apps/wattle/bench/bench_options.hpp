// The command line of `wattle bench`.
#pragma once

#include <array>
#include <string>

#include "bench/bench_plan.hpp"

namespace wattle::app {

/// Where results go; those that are not asked for are empty.
[[nodiscard]] std::array<std::string, 6> result_paths(const BenchOptions& options);

/// After Ctrl-C it ends the process itself, by that signal.
int execute(const BenchOptions& options);

}  // namespace wattle::app
