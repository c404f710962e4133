#include "usage/tracker_mark.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "base/unix_address.hpp"

namespace wattle {
namespace {

Fd make_socket() noexcept { return Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

/// The start of the names of this PID namespace: "wattle.tracker/pid:[4026531836]/".
std::array<char, 96> prefix() noexcept {
  std::array<char, 64> space{};
  const ssize_t length = ::readlink("/proc/self/ns/pid", space.data(), space.size());
  std::array<char, 96> text{};
  (void)std::snprintf(text.data(), text.size(), "wattle.tracker/%.*s/",
                      static_cast<int>(std::max<ssize_t>(length, 0)), space.data());
  return text;
}

/// A name that starts with a zero byte is no file's: it goes with the process.
std::optional<UnixAddress> address_of(const std::array<char, 96>& prefix, pid_t pid) noexcept {
  std::array<char, UnixAddress::kMostBytes> name{};
  const int length = std::snprintf(&name[1], name.size() - 1, "%s%d", prefix.data(), pid);
  const auto fits =
      std::min<std::size_t>(static_cast<unsigned>(std::max(length, 0)), name.size() - 2);
  return UnixAddress::of({name.data(), 1 + fits});
}

}  // namespace

TrackerMark::TrackerMark() : socket_(make_socket()) {
  const auto address = address_of(prefix(), ::getpid());
  if (socket_ && ::bind(socket_.get(), address->get(), address->size()) != 0) socket_.reset();
}

bool TrackerMarks::is_marked(pid_t pid) noexcept {
  if (prefix_.front() == '\0') {
    socket_ = make_socket();
    prefix_ = prefix();
  }
  // Nothing comes of it at the other end: no byte is sent.
  const auto address = address_of(prefix_, pid);
  return socket_ && ::connect(socket_.get(), address->get(), address->size()) == 0;
}

}  // namespace wattle
