#include "fakes/wall_clock.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

namespace wattle::fakes {
namespace {

std::atomic<std::int64_t>& offset_s() noexcept {
  static std::atomic<std::int64_t> seconds{0};
  return seconds;
}

}  // namespace

void set_wall_clock_off(std::int64_t seconds) noexcept { offset_s() = seconds; }

}  // namespace wattle::fakes

extern "C" int clock_gettime(clockid_t id, timespec* time) noexcept {
  const auto status = static_cast<int>(::syscall(SYS_clock_gettime, id, time));
  if (id == CLOCK_REALTIME) time->tv_sec += wattle::fakes::offset_s();
  return status;
}
