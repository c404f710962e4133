#include "base/forks.hpp"

#include <pthread.h>

#include <atomic>

namespace wattle {

std::uint64_t forks() noexcept {
  static std::atomic<std::uint64_t> number{0};
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { number.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);  // it fails without memory; then nothing else works either
  return number.load(std::memory_order_relaxed);
}

}  // namespace wattle
