// Threads that receive no signals; some may never come back.
#pragma once

#include <functional>
#include <thread>

#include "wattle/export.hpp"

namespace wattle {

/// Runs `work` in a thread that receives no signals: these are for the threads of the program.
/// `work` must not throw. Throws `std::system_error` where no thread can be had. Exported for the
/// components.
[[nodiscard]] WATTLE_EXPORT std::thread start_thread(std::function<void()> work);

/// Runs `work` in such a thread that nobody joins: what it touches it must own, by `shared_ptr`.
void start_detached(std::function<void()> work);

}  // namespace wattle
