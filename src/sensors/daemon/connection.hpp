// One question, asked again and again over a Unix socket, with an end to every wait.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "base/unix_address.hpp"
#include "sensors/daemon/answer.hpp"

namespace wattle::daemon_source {

/// The bytes that ask for all counters of all CPUs. Absent for a token that no head may hold:
/// blanks, line ends, what is not ASCII. An empty token is none.
[[nodiscard]] std::optional<std::string> question(std::string_view token);

enum class RequestOutcome : std::uint8_t {
  answered,  ///< with whatever status
  absent,    ///< there is no such socket
  deserted,  ///< there is one, and nobody listens
  denied,    ///< this user may not connect
  failed,    ///< nothing could be connected, for another reason
  silent,    ///< no answer, or not all of it, in time
  hung_up,   ///< the connection ended before the answer did
  garbled,   ///< what came is no answer, or too long
};

inline constexpr unsigned kStatusOk = 200;

/// The result of a request. `body` holds until the next one.
struct Reply {
  RequestOutcome outcome = RequestOutcome::failed;
  int error = 0;  ///< `errno` where nothing could be connected
  unsigned status = 0;
  std::string_view body{};
  TimePoint before{};  ///< the question was sent after that
  TimePoint after{};   ///< the answer was there by then
};

/// Keeps its connection. In a child that was forked it makes one of its own: two cannot share one.
/// Threads: one at a time.
class DaemonConnection {
 public:
  /// `question`: as `question` makes it. `clock` gives `before` and `after`; waits are real.
  DaemonConnection(std::string_view path, std::string question, const TimeSource& clock);

  /// Takes at most `patience`, however the other side behaves. Allocates nothing, never throws. A
  /// kept connection that the daemon has closed, as daemons do with idle ones, is made again.
  [[nodiscard]] Reply ask(std::chrono::nanoseconds patience) noexcept;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  [[nodiscard]] Reply connect() noexcept;
  [[nodiscard]] Reply send_and_receive(SteadyTime until) noexcept;
  [[nodiscard]] RequestOutcome receive(SteadyTime until, Head& head) noexcept;

  std::optional<UnixAddress> address_;  ///< absent: the path is too long
  std::string question_;
  const TimeSource& clock_;
  Fd socket_;
  std::uint64_t forks_;
  /// A package takes about 100 bytes of an answer, its head 200.
  std::array<char, 8192> room_{};
  std::size_t received_ = 0;
};

}  // namespace wattle::daemon_source
