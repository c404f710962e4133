#include "http/listening.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "base/unix_address.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr int kBacklog = 1024;

std::string error_text(int number) { return std::generic_category().message(number); }

constexpr std::string_view kOtherPath = "name another path with --socket-path";

[[noreturn]] void fail(const std::string& where, std::string_view reason, std::string_view remedy) {
  throw Error(fmt::format("cannot listen at {}: {}; {}", printable(where), reason, remedy));
}

[[noreturn]] void fail_at_file(const std::string& path, std::string_view reason) {
  fail(path, reason, kOtherPath);
}

/// `what` failed with the `errno` `number`.
[[noreturn]] void fail_at_file(const std::string& path, std::string_view what, int number) {
  const bool is_denied = number == EACCES || number == EPERM;
  fail(path, fmt::format("{}: {}", what, error_text(number)),
       is_denied ? fmt::format("run wattled as root, or {}", kOtherPath) : std::string(kOtherPath));
}

std::string_view tcp_remedy(int number) {
  if (number == EADDRINUSE) return "name another port with --tcp-bind-address";
  if (number == EACCES) return "name a port above 1023 with --tcp-bind-address";
  return "name an address of this machine with --tcp-bind-address";
}

sockaddr* generic(void* address) { return static_cast<sockaddr*>(address); }

void make_folder(const SocketFileOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(options.path).parent_path();
  if (folder.empty()) return;
  std::error_code error;
  const bool is_made = std::filesystem::create_directories(folder, error);
  if (error) fail_at_file(options.path, "cannot make its folder", error.value());
  if (!is_made || !options.folder_owner) return;
  constexpr auto kSameGroup = static_cast<gid_t>(-1);
  [[maybe_unused]] const int socket_stays_at_worst =
      ::lchown(folder.c_str(), *options.folder_owner, kSameGroup);
}

/// Removes the socket file of an earlier daemon. Throws if it is anything else.
void remove_stale_socket(const std::string& path, const UnixAddress& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    fail_at_file(path, "cannot read the folder", errno);
  }
  if (!S_ISSOCK(status.st_mode)) {
    fail_at_file(path, "a file of that name is there, and it is not a socket");
  }
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(probe.get(), address.get(), address.size()) == 0 || errno == EAGAIN) {
    fail(path, "another program is listening there", fmt::format("stop it, or {}", kOtherPath));
  }
  if (errno != ECONNREFUSED) {
    fail_at_file(path, "cannot check whether the socket is in use", errno);
  }
  if (::unlink(path.c_str()) != 0) fail_at_file(path, "cannot remove the old socket", errno);
}

/// Changes the owner of the socket file, but not of another file that has replaced it.
void change_owner(const SocketFileOptions& options) {
  const Fd file(::open(options.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_ours = ::fstat(file.get(), &status) == 0 && S_ISSOCK(status.st_mode) &&
                       status.st_uid == ::geteuid() && (status.st_mode & 07777U) == options.mode;
  if (!is_ours) fail_at_file(options.path, "another program has replaced its file");
  const uid_t owner = options.owner.value_or(static_cast<uid_t>(-1));
  const gid_t group = options.group.value_or(static_cast<gid_t>(-1));
  if (::fchownat(file.get(), "", owner, group, AT_EMPTY_PATH) == 0) return;
  const int number = errno;
  ::unlink(options.path.c_str());
  fail(options.path,
       fmt::format("cannot give the socket to that user or group: {}", error_text(number)),
       "run wattled as root, or name a group that you are a member of");
}

std::string tcp_name(sockaddr_storage address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  ::getnameinfo(generic(&address), sizeof address, host.data(), host.size(), port.data(),
                port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  const bool is_v6 = address.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host.data(), is_v6 ? "]" : "", port.data());
}

/// The path of the socket file, or "@" and the name of an abstract socket.
std::string unix_name(const sockaddr_storage& address, socklen_t length) {
  sockaddr_un local{};
  std::memcpy(&local, &address, sizeof local);
  constexpr std::size_t kPath = offsetof(sockaddr_un, sun_path);
  const std::size_t bytes =
      length > kPath ? std::min<std::size_t>(length, sizeof local) - kPath : 0;
  const std::string path(local.sun_path, bytes);
  if (path.empty() || path.front() == '\0') return "@" + path.substr(path.empty() ? 0 : 1);
  return path.substr(0, path.find('\0'));
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return (ntohl(v4.sin_addr.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

}  // namespace

ListeningSocket listen_at_file(const SocketFileOptions& options) {
  const std::string& path = options.path;
  const auto address = UnixAddress::of(path);
  if (!address) fail_at_file(path, "the path of a socket has 1 to 107 bytes");
  make_folder(options);
  remove_stale_socket(path, *address);
  ListeningSocket listener{
      .fd = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      .is_local_socket = true,
      .is_loopback = true,
      .name = path};
  // The file gets the mode of the socket: no chmod by name is needed.
  if (::fchmod(listener.fd.get(), options.mode) != 0) {
    fail_at_file(path, "cannot set its permissions", errno);
  }
  const mode_t umask_before = ::umask(0);
  const int bound = ::bind(listener.fd.get(), address->get(), address->size());
  const int bind_error = errno;
  ::umask(umask_before);
  if (bound != 0) fail_at_file(path, "cannot make the socket", bind_error);
  if (options.owner || options.group) change_owner(options);
  struct stat made {};
  if (::lstat(path.c_str(), &made) == 0) {
    listener.device = made.st_dev;
    listener.inode = made.st_ino;
  }
  // No client can connect before this.
  if (::listen(listener.fd.get(), kBacklog) != 0) {
    const int error = errno;
    remove_socket_file(listener);
    fail_at_file(path, "cannot open the socket for clients", error);
  }
  return listener;
}

TcpAddress parse_tcp_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : parse_unsigned<std::uint16_t>(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon == std::string::npos ? 0 : colon);
  const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (has_brackets) host = host.substr(1, host.size() - 2);
  const bool is_clear = has_brackets || host.find(':') == std::string::npos;
  if (!port || host.empty() || !is_clear) {
    throw InvalidArgument(
        fmt::format("--tcp-bind-address takes HOST:PORT, or [ADDRESS]:PORT for IPv6, not '{}'",
                    printable(text)));
  }
  return {.host = host, .port = *port};
}

ListeningSocket listen_at_tcp(const TcpAddress& address) {
  const std::string wanted = fmt::format("{}:{}", address.host, address.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int found =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &list);
  if (found != 0) fail(wanted, ::gai_strerror(found), tcp_remedy(0));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  ListeningSocket listener{
      .fd = Fd(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const int on = 1;
  ::setsockopt(listener.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.fd.get(), list->ai_addr, list->ai_addrlen) != 0 ||
      ::listen(listener.fd.get(), kBacklog) != 0) {
    fail(wanted, error_text(errno), tcp_remedy(errno));
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  ::getsockname(listener.fd.get(), generic(&bound), &length);
  listener.is_loopback = is_loopback(bound);
  listener.name = tcp_name(bound);
  return listener;
}

ListeningSocket adopt_listener(Fd fd) {
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  int listens = 0;
  socklen_t listens_length = sizeof listens;
  const bool is_listening =
      ::getsockname(fd.get(), generic(&bound), &length) == 0 &&
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_length) == 0 &&
      listens != 0;
  if (!is_listening)
    throw Error("cannot use a descriptor of the service manager: it is not a listening socket");
  ListeningSocket listener{.fd = std::move(fd), .name = {}};
  if (bound.ss_family == AF_UNIX) {
    listener.is_local_socket = listener.is_loopback = true;
    listener.name = unix_name(bound, length);
  } else {
    listener.is_loopback = is_loopback(bound);
    listener.name = tcp_name(bound);
  }
  return listener;
}

void remove_socket_file(const ListeningSocket& listener) noexcept {
  struct stat now {};
  const bool is_ours = listener.inode != 0 && ::lstat(listener.name.c_str(), &now) == 0 &&
                       now.st_dev == listener.device && now.st_ino == listener.inode;
  if (is_ours) ::unlink(listener.name.c_str());
}

}  // namespace wattle::daemon
