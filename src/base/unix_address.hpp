// The address of a Unix socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace wattle {

/// Threads: a value type.
class UnixAddress {
 public:
  /// The longest path, in bytes.
  static constexpr std::size_t kMostBytes = sizeof(sockaddr_un::sun_path) - 1;

  /// The address of the socket file at `path`; a first byte of 0 makes an abstract name. Absent:
  /// `path` is empty or too long.
  [[nodiscard]] static std::optional<UnixAddress> of(std::string_view path) noexcept {
    if (path.empty() || path.size() > kMostBytes) return std::nullopt;
    UnixAddress made;
    std::ranges::copy(path, std::begin(made.address_.sun_path));
    const bool is_file = path.front() != '\0';
    made.size_ = offsetof(sockaddr_un, sun_path) + path.size() + (is_file ? 1 : 0);
    return made;
  }

  /// As bind, connect and sendto take it.
  [[nodiscard]] const sockaddr* get() const noexcept {
    return static_cast<const sockaddr*>(static_cast<const void*>(&address_));
  }
  [[nodiscard]] socklen_t size() const noexcept { return static_cast<socklen_t>(size_); }

 private:
  UnixAddress() noexcept = default;

  sockaddr_un address_{.sun_family = AF_UNIX, .sun_path = {}};
  std::size_t size_ = 0;
};

}  // namespace wattle
