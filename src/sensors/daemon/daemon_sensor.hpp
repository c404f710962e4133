// The energy counters of CPUs as a daemon on this machine shows them: one question, asked again and
// again over a Unix socket, with an end to every wait.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "base/unix_address.hpp"
#include "sensors/cpu_zones.hpp"
#include "sensors/daemon/answer.hpp"
#include "sensors/sensor.hpp"

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

/// A counter whose breaks show: where the daemon was restarted, or lost track, its raw integer
/// falls, which says to who follows it that nothing is known of the time between. The daemon's own
/// number may go on from a higher value by chance.
class RestartAwareCounter {
 public:
  /// The raw integer for what the daemon shows; absent once there were more breaks than could be.
  [[nodiscard]] std::optional<std::uint64_t> update(std::uint64_t shown_uj,
                                                    std::optional<std::uint64_t> since_ms) noexcept;

 private:
  /// Each interval starts one lower than the one before, so below everything that was in it.
  static constexpr std::uint64_t kFirstBegin = std::uint64_t{1} << 20U;

  std::uint64_t begin_ = kFirstBegin + 1;  ///< the raw integer of `base_`
  std::uint64_t base_ = 0;                 ///< the value at the start of the interval
  std::uint64_t last_ = 0;
  std::optional<std::uint64_t> since_ms_{};
  bool has_last_ = false;
};

/// Reads all packages with one question. `may_block` is false: a daemon on the same machine answers
/// within about 0.1 ms, has `kPatience` at most, and one that kept us waiting is left alone for
/// `kRest`. A lane would put a thread's wake-up between the end of a run and its reading.
/// Threads: one at a time.
class DaemonSensor final : public Sensor {
 public:
  static constexpr std::chrono::milliseconds kPatience{200};
  static constexpr std::chrono::seconds kRest{1};

  /// `counters`: what the daemon showed first; a counter that it showed there has a channel, but
  /// each domain one, and those in `taken` none. `zones`: the known meanings of zeusd's numbers on
  /// this machine.
  DaemonSensor(std::unique_ptr<DaemonConnection> connection, const AllCounters& counters,
               const std::vector<CpuZone>& zones, std::set<Domain> taken, const std::string& place,
               const TimeSource& clock);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  struct DaemonCounter {
    std::uint32_t cpu = 0;
    std::string name{};  ///< the daemon's of the CPU; empty: it has none
    std::optional<std::uint64_t> CpuCounters::*shown = nullptr;
    RestartAwareCounter marked{};
  };
  void add(const CpuCounters& cpu, std::optional<std::uint64_t> CpuCounters::*shown, Domain domain,
           const std::string& place);

  std::set<Domain> taken_;
  std::vector<Channel> channels_;
  std::vector<DaemonCounter> counters_;
  std::unique_ptr<DaemonConnection> connection_;
  const TimeSource& clock_;
  TimePoint rests_until_{};
};

}  // namespace wattle::daemon_source
