#include "usage/tracker_mark.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>

namespace wattle {
namespace {

Fd make_socket() noexcept { return Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

/// The begin of the names of this PID namespace: "wattle.tracker/pid:[4026531836]/".
std::array<char, 96> prefix() noexcept {
  std::array<char, 64> space{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", space.data(), space.size());
  std::array<char, 96> text{};
  (void)std::snprintf(text.data(), text.size(), "wattle.tracker/%.*s/",
                      static_cast<int>(std::max<ssize_t>(length, 0)), space.data());
  return text;
}

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;

  Address(const std::array<char, 96>& prefix, pid_t pid) noexcept {
    name.sun_family = AF_UNIX;
    // A name that begins with a zero byte is no file's: it goes with the process.
    constexpr std::size_t kRoom = sizeof name.sun_path - 1;
    const int length = std::snprintf(&name.sun_path[1], kRoom, "%s%d", prefix.data(), pid);
    const auto fits = std::min(static_cast<std::size_t>(std::max(length, 0)), kRoom - 1);
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + fits);
  }
  [[nodiscard]] const sockaddr* get() const noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as the system call wants it
    return reinterpret_cast<const sockaddr*>(&name);
  }
};

}  // namespace

TrackerMark::TrackerMark() : socket_(make_socket()) {
  const Address address(prefix(), ::getpid());
  if (socket_ && ::bind(socket_.get(), address.get(), address.bytes) != 0) socket_.reset();
}

bool TrackerMarks::is_marked(pid_t pid) noexcept {
  if (prefix_.front() == '\0') {
    socket_ = make_socket();
    prefix_ = prefix();
  }
  // Nothing comes of it at the other end: no byte is sent.
  const Address address(prefix_, pid);
  return socket_ && ::connect(socket_.get(), address.get(), address.bytes) == 0;
}

}  // namespace wattle
