// Waiting for somebody to want an end.
#pragma once

#include "base/fd.hpp"

namespace wattle::app {

/// Readable when INT, TERM or HUP has come. What was ignored when the program began stays so.
/// To be called before there are threads: they inherit the blocked signals.
[[nodiscard]] Fd end_signals();
/// True if one of them has come. Takes it; does not wait.
[[nodiscard]] bool has_come(const Fd& end) noexcept;

}  // namespace wattle::app
