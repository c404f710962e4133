// Waiting for the signal to end.
#pragma once

#include "base/files/fd.hpp"

namespace wattle::app {

/// Readable when INT, TERM or HUP has come. Signals that were ignored at the start stay ignored.
/// To be called before there are threads: they inherit the blocked signals.
[[nodiscard]] Fd end_signals();
/// True if one of them has come. Takes it; does not wait.
[[nodiscard]] bool has_come(const Fd& end) noexcept;

}  // namespace wattle::app
