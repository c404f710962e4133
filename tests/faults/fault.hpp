// What the preloaded library is told, and what it reports: a file that both sides map.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wattle::faults {

/// The variable that names the file; without it the library changes nothing.
inline constexpr const char* kPlanVariable = "WATTLE_TEST_FAULT_PLAN";

/// Kinds of calls, each counted by itself.
enum class Call : std::uint8_t {
  open,  ///< open, openat, opendir
  read,
  pread,
  write,  ///< write, pwrite, writev
  fsync,  ///< fsync, fdatasync
  rename,
  mmap,
  clone,  ///< fork, pthread_create
  poll,
  epoll_ctl,
  epoll_wait,
  accept,
  send,  ///< send, sendmsg
  recv,  ///< recv, recvmsg
  wait,  ///< wait4
  allocate,
  resize,  ///< ftruncate, fallocate
  close,   ///< the descriptor is closed all the same, as the kernel does it
  remove,  ///< unlink
};
inline constexpr std::size_t kCalls = 19;
inline constexpr std::array<std::string_view, kCalls> kCallNames = {
    "open",  "read",     "pread",     "write",      "fsync",  "rename", "mmap",
    "clone", "poll",     "epoll_ctl", "epoll_wait", "accept", "send",   "recv",
    "wait",  "allocate", "resize",    "close",      "remove"};

/// Which call fails, and how many there were. All zero: none fails.
struct Plan {
  std::uint32_t call = 0;
  std::int32_t error = 0;    ///< 0: no call fails
  std::uint64_t number = 0;  ///< the first call of the kind is 1
  std::uint32_t sticky = 0;  ///< all later ones fail too
  std::uint32_t unused = 0;
  std::array<std::atomic<std::uint64_t>, kCalls> counts{};
  std::atomic<std::uint64_t> failed{0};  ///< calls that failed
};

}  // namespace wattle::faults
