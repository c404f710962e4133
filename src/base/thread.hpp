// Threads that receive no signals; some may never come back.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

#include "wattle/export.hpp"

namespace wattle {

/// Runs `work` in a thread that receives no signals: these are for the threads of the program.
/// `work` must not throw. Throws `std::system_error` where no thread can be had. Exported for the
/// components.
[[nodiscard]] WATTLE_EXPORT std::thread start_thread(std::function<void()> work);

/// Stack of a detached thread. The usual 8 MiB each are too much where address space is limited
/// (ulimit -v); drivers get along with far less than this.
inline constexpr std::size_t kDetachedStackBytes = std::size_t{1} << 20U;

/// Runs `work` in such a thread that nobody joins: what it touches it must own, by `shared_ptr`.
/// Throws as `start_thread`.
void start_detached(std::function<void()> work);

}  // namespace wattle
