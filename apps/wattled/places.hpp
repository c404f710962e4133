// How many connections there may be, and whose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// As many as there are.
inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

struct PlaceLimits {
  std::size_t all = 4096;
  /// Through TCP; the rest of `all` is for Unix sockets alone.
  std::size_t tcp = all;
  std::size_t per_address = kNoLimit;  ///< of TCP: a network of 64 bits with IPv6
  std::size_t per_user = kNoLimit;     ///< of Unix sockets
  /// Beyond `all`: each asks once, and only /health answers.
  std::size_t guests = 0;
  /// Those whose encryption has memory of its own: a handshake or a record that is not whole.
  std::size_t half_records = kNoLimit;
  /// Bytes of all answers together that their clients have not read.
  std::size_t unread_bytes = kNoLimit;
};

/// For so many connections, and so many of each address (0: a quarter). A quarter is reserved for
/// Unix sockets, of which each user gets half of all, and no more than it leaves free.
[[nodiscard]] PlaceLimits place_limits(std::size_t all, std::size_t per_address = 0);

/// Descriptors that are no connections: sensors, drivers, the log.
inline constexpr std::size_t kSpareDescriptors = 256;

/// How many of the connections that are wanted there can be where the process may have so many
/// descriptors. Of few descriptors half are for connections.
[[nodiscard]] std::size_t connections_within(std::size_t descriptors, std::size_t wanted);

/// Why a client gets no place.
enum class NoPlace : std::uint8_t {
  none,        ///< it gets one
  per_client,  ///< its address or user has all that it may have
  tcp,         ///< all places of TCP are taken
  all,
};

/// Counts the connections of each client. Threads: the caller's own.
class Places {
 public:
  explicit Places(const PlaceLimits& limits) : limits_(limits) {}

  [[nodiscard]] NoPlace why_not(std::string_view client, bool is_local) const;
  void take(const std::string& client, bool is_local);
  void give_back(const std::string& client, bool is_local);
  [[nodiscard]] const PlaceLimits& limits() const noexcept { return limits_; }
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }

 private:
  PlaceLimits limits_;
  std::size_t taken_ = 0;
  std::size_t tcp_ = 0;
  std::map<std::string, std::size_t, std::less<>> of_client_;
};

}  // namespace wattle::daemon
