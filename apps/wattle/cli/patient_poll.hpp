// Waiting for descriptors, also while the kernel has no memory for that.
#pragma once

#include <poll.h>

#include <span>

namespace wattle::app {

/// As poll(2); `timeout_ms` -1: no limit. If the kernel fails (ENOMEM), waits for 10 ms and marks
/// every descriptor as ready: for callers that read without blocking. An interruption marks none.
void patient_poll(std::span<pollfd> waited, int timeout_ms) noexcept;

}  // namespace wattle::app
