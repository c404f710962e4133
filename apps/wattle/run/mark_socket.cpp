#include "run/mark_socket.hpp"

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <string_view>
#include <system_error>

#include "base/clock.hpp"
#include "base/cpu_time.hpp"
#include "base/files/fd.hpp"
#include "base/unix_address.hpp"

namespace wattle::app {
namespace {

constexpr std::string_view kFolderStart = "wattle-run-";
constexpr const char* kSocketName = "/marks";

/// True if nobody receives at a socket that is there: its wattle was killed.
bool is_abandoned(const std::string& socket) noexcept {
  const auto address = UnixAddress::of(socket);
  const Fd probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return address && probe && ::connect(probe.get(), address->get(), address->size()) != 0 &&
         errno == ECONNREFUSED;
}

/// Removes what runs that were killed left in `parent`. Only the owner of a folder can.
void remove_abandoned(const char* parent) noexcept {
  DIR* const folder = ::opendir(parent);
  if (folder == nullptr) return;
  constexpr int kMostEntries = 1000;  // /tmp may have a million
  for (int i = 0; i < kMostEntries; ++i) {
    const dirent* const entry = ::readdir(folder);  // NOLINT(concurrency-mt-unsafe): one stream
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (!name.starts_with(kFolderStart)) continue;
    const std::string path = std::string(parent) + "/" + std::string(name);
    if (!is_abandoned(path + kSocketName)) continue;
    ::unlink((path + kSocketName).c_str());
    ::rmdir(path.c_str());
  }
  ::closedir(folder);
}

/// A folder with the mode 0700; empty with `errno` set where that fails.
std::string make_private_folder() {
  // /dev/shm is in memory: on a disk, making and removing the folder is a tenth of what a run
  // costs.
  for (const char* const parent : std::initializer_list<const char*>{
           ::secure_getenv("XDG_RUNTIME_DIR"), ::secure_getenv("TMPDIR"), "/dev/shm", "/tmp"}) {
    if (parent == nullptr || *parent != '/') continue;
    std::string folder = std::string(parent) + "/" + std::string(kFolderStart) + "XXXXXX";
    // The address of a socket has room for 107 bytes.
    constexpr std::size_t kMostBytes = 100;
    if (folder.size() > kMostBytes || ::mkdtemp(folder.data()) == nullptr) continue;
    return folder;
  }
  return {};
}

/// 0, or an `errno`.
int bind_to(int fd, const std::string& path) noexcept {
  const auto address = UnixAddress::of(path);
  if (!address) return ENAMETOOLONG;
  if (::bind(fd, address->get(), address->size()) != 0) return errno;
  const int on = 1;
  return ::setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0 ? errno : 0;
}

/// The steady time at which the kernel received a datagram, from the wall time `stamp` of it. Wrong
/// by the step if the wall clock was set since.
TimePoint sent_at(const timespec& stamp) noexcept {
  const auto wall = clock_time(CLOCK_REALTIME);
  const TimePoint now = machine_clock().now();
  const auto age =
      wall - std::chrono::seconds(stamp.tv_sec) - std::chrono::nanoseconds(stamp.tv_nsec);
  constexpr std::chrono::seconds kMost{10};
  return age >= std::chrono::nanoseconds(0) && age < kMost ? now - age : now;
}

std::optional<timespec> stamp_of(msghdr& message) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp{};
    std::memcpy(&stamp, CMSG_DATA(part), sizeof stamp);
    return stamp;
  }
  return std::nullopt;
}

}  // namespace

MarkSocket::MarkSocket() noexcept {
  try {
    folder_ = make_private_folder();
    if (!folder_.empty()) {
      socket_ = Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      path_ = folder_ + kSocketName;
    }
    const int error = folder_.empty() || !socket_ ? errno : bind_to(socket_.get(), path_);
    if (error == 0) return;
    failure_ = "the socket for marks cannot be made: " + std::generic_category().message(error);
  } catch (const std::exception&) {
    failure_ = "the socket for marks cannot be made";
  }
  close();
}

MarkSocket::~MarkSocket() { close(); }

void MarkSocket::close() noexcept {
  socket_.reset();
  if (!path_.empty()) ::unlink(path_.c_str());
  if (!folder_.empty()) {
    ::rmdir(folder_.c_str());
    // The parent is looked through after long runs alone: it costs a short one as much as its
    // start.
    constexpr auto kLong = std::chrono::seconds(2);
    const bool was_long = Clock::now() - opened_ >= kLong;
    if (was_long) remove_abandoned(folder_.substr(0, folder_.rfind('/')).c_str());
  }
  path_.clear();
  folder_.clear();
}

void MarkSocket::receive(const Take& take, std::size_t most) {
  for (std::size_t i = 0; i < most && socket_; ++i) {
    // More than the longest mark: one that is longer is cut off, as its name would be.
    std::array<char, 1024> text{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control{};
    sockaddr_un sender{};
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    msghdr message{};
    message.msg_name = &sender;
    message.msg_namelen = sizeof sender;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    const auto stamp = stamp_of(message);
    const std::string reply = take(stamp ? sent_at(*stamp) : machine_clock().now(),
                                   parse_mark({text.data(), static_cast<std::size_t>(count)}));
    // Who does not wait for it, or has no address, gets none.
    if (reply.empty() || message.msg_namelen <= sizeof sender.sun_family) continue;
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    message.msg_flags = 0;
    part = {.iov_base =
                const_cast<char*>(reply.data()),  // NOLINT(cppcoreguidelines-pro-type-const-cast)
            .iov_len = reply.size()};
    (void)::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
}

}  // namespace wattle::app
