// Threads that may never come back.
#pragma once

#include <functional>

namespace wattle {

/// Runs `work` in a thread that nobody joins: what it touches it must own, by `shared_ptr`. It
/// receives no signals; these are for the threads of the program. `work` must not throw. Throws
/// `std::system_error` where no thread can be had.
void start_detached(std::function<void()> work);

}  // namespace wattle
