#include "client/transport/socket_failure.hpp"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/group_name.hpp"
#include "base/text/text.hpp"
#include "base/unix_address.hpp"

namespace wattle::client {
namespace {

constexpr const char* kStart =
    "start the daemon: sudo systemctl enable --now wattled.socket, or sudo wattled serve";

/// 0, or the `errno` of connecting.
int connect_error(const std::string& path) noexcept {
  const auto address = UnixAddress::of(path);
  if (!address) return ENAMETOOLONG;
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno;
  return ::connect(fd.get(), address->get(), address->size()) == 0 ? 0 : errno;
}

std::string remedy_for_denied(const struct stat& status) {
  // Never recommends joining root's group.
  if (status.st_gid == 0) {
    return "the socket is root's alone; restart the daemon with --socket-group GROUP";
  }
  return "join its group: sudo usermod -aG " + group_name(status.st_gid) +
         " \"$USER\", and log in again";
}

}  // namespace

std::string socket_failure(const std::string& path) {
  const int error = connect_error(path);
  if (error == 0 || error == EAGAIN) return {};
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  const std::string what = printable(path) + ": ";
  if (is_there && !S_ISSOCK(status.st_mode)) {
    return what + "not a socket; give the path of the daemon's socket";
  }
  const std::string reason = what + std::generic_category().message(error) + "; ";
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return reason + kStart;
    case EACCES:
      return reason +
             (is_there ? remedy_for_denied(status) : "a folder above it is closed to this user");
    default:
      return reason + "see what the daemon does: systemctl status wattled";
  }
}

}  // namespace wattle::client
