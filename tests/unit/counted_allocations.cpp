#include "counted_allocations.hpp"

#include <atomic>
#include <cstddef>

namespace {

std::atomic<std::uint64_t> allocation_count{0};

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATTLE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATTLE_TEST_SANITIZED 1
#endif
#endif

#ifndef WATTLE_TEST_SANITIZED

// Takes the place of the C library's functions, on which operator new stands too.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);

[[gnu::visibility("default")]] void* malloc(std::size_t size) noexcept {
  ++allocation_count;
  return __libc_malloc(size);
}
[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocation_count;
  return __libc_calloc(count, size);
}
[[gnu::visibility("default")]] void* realloc(void* memory, std::size_t size) noexcept {
  ++allocation_count;
  return __libc_realloc(memory, size);
}
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

#endif

namespace wattle {

std::uint64_t allocations() noexcept { return allocation_count; }

}  // namespace wattle
