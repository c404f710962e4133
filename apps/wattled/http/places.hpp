// Limits on the number of connections, in total and per client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// No limit.
inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

struct PlaceLimits {
  std::size_t all = 4096;
  /// The places for TCP; the rest of `all` is for Unix sockets only.
  std::size_t tcp = all;
  std::size_t per_address = kNoLimit;  ///< of TCP; for IPv6 per /64 network
  std::size_t per_user = kNoLimit;     ///< of Unix sockets
  /// Beyond `all`: each may send one request, and only /health is answered.
  std::size_t guests = 0;
  /// Connections with a partial TLS handshake or record, which takes memory.
  std::size_t half_records = kNoLimit;
  /// Bytes of all unread answers together.
  std::size_t unread_bytes = kNoLimit;
};

/// The limits for `all` connections, `per_address` for each address (0: a quarter). A quarter is
/// reserved for Unix sockets. There, each user gets at most half of all, and never more than it
/// leaves free.
[[nodiscard]] PlaceLimits place_limits(std::size_t all, std::size_t per_address = 0);

/// Descriptors for other uses: sensors, drivers, the log.
inline constexpr std::size_t kSpareDescriptors = 256;

/// The number of connections that `descriptors` allow, at most `wanted`. With few descriptors, half
/// of them are for connections.
[[nodiscard]] std::size_t connections_within(std::size_t descriptors, std::size_t wanted);

/// Why a client does not get a place.
enum class Shortage : std::uint8_t {
  none,        ///< it gets one
  per_client,  ///< its address or user has reached its limit
  tcp,         ///< all places of TCP are taken
  all,
};

/// Counts the connections of each client. Not thread-safe.
class Places {
 public:
  explicit Places(const PlaceLimits& limits) : limits_(limits) {}

  [[nodiscard]] Shortage shortage_for(std::string_view client, bool is_local) const;
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
