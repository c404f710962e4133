// The end of a program by exceptions that nobody catches.
#pragma once

namespace wattle {

/// From now on the first thread that calls `std::terminate` ends the program by the handler that
/// was installed before, and other threads wait for that. Without it a second thread ends the
/// program before the first one has printed its message. A second call does nothing. Threads: any.
void let_one_thread_terminate() noexcept;

}  // namespace wattle
