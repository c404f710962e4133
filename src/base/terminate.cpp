#include "base/terminate.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>

namespace wattle {
namespace {

// A terminate handler has no argument.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<std::terminate_handler> next_handler{nullptr};
std::atomic<bool> is_ending{false};
thread_local bool is_own_end = false;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

[[noreturn]] void end_once() noexcept {
  if (is_own_end) std::abort();  // the handler itself failed
  is_own_end = true;
  if (is_ending.exchange(true)) {
    for (;;) ::pause();
  }
  if (const std::terminate_handler next = next_handler) next();
  std::abort();
}

}  // namespace

void let_one_thread_terminate() noexcept {
  static const bool is_installed = [] {
    const std::terminate_handler before = std::get_terminate();
    next_handler = before;
    std::set_terminate(end_once);
    return true;
  }();
  (void)is_installed;
}

}  // namespace wattle
