// How wattle itself ends: as the command did.
#pragma once

#include "report/report.hpp"

namespace wattle::app {

/// From a status of waitpid(2).
[[nodiscard]] Exit exit_of(int status) noexcept;

/// Ends this process with the command's exit code, or by the signal that killed it.
[[noreturn]] void end_like(const Exit& exit) noexcept;

}  // namespace wattle::app
