// The power of many machines in one program, as their daemons report it: `wattled` and zeusd alike.
// Part of the component stream (`wattle::stream`).
#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/daemon_client.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/units.hpp"

namespace wattle {

enum class ConnectionStatus : std::uint8_t {
  off,         ///< nothing of this type is streamed from this server
  connecting,  ///< not there yet, or lost and tried again
  live,        ///< events or signs of life come
  stale,       ///< connected, but for 3 s nothing has come and the daemon does not answer
  denied,      ///< the daemon refuses (401, 403), or has the group off (404): tried again rarely
  gone,        ///< stopped
};
/// "off", "connecting" ...
[[nodiscard]] WATTLE_EXPORT std::string_view to_string(ConnectionStatus status) noexcept;

/// The stream of one type of device from one server. Threads: a value type.
struct ConnectionState {
  ConnectionStatus status = ConnectionStatus::off;
  TimePoint since{};     ///< when it became that
  std::string reason{};  ///< why it is not live; empty where it is
  friend bool operator==(const ConnectionState&, const ConnectionState&) = default;
};

/// Absent: the daemon does not report it. Threads: a value type.
struct CpuPowerReading {
  std::optional<Watts> cpu{};
  std::optional<Watts> dram{};
  friend bool operator==(const CpuPowerReading&, const CpuPowerReading&) = default;
};

/// The newest powers of one server's devices, by index. Times are Unix seconds by this machine's
/// clock: the daemon's, corrected by `clock_offset_s`. A value stays when its connection is lost:
/// its time and the state show how old it is. Threads: a value type.
struct PowerReadings {
  double timestamp_s = 0;  ///< the latest of its devices; 0: nothing has come yet
  std::map<std::uint32_t, Watts> gpu_power{};
  std::map<std::uint32_t, CpuPowerReading> cpu_power{};
  std::map<std::uint32_t, double> gpu_time_s{};  ///< when each device was read
  std::map<std::uint32_t, double> cpu_time_s{};
  /// Why a power is not known now, as its daemon reports it; only for such devices, and not by
  /// daemons that report none (zeusd).
  std::map<std::uint32_t, std::string> gpu_reason{};
  std::map<std::uint32_t, std::string> cpu_reason{};
  std::map<std::uint32_t, std::string> dram_reason{};
  /// The name of each CPU, as wattled reports it: "package_0", "package_1_die_0", or "psys", the
  /// platform, which overlaps all others. Its DRAM is "dram_..." likewise. zeusd reports none.
  std::map<std::uint32_t, std::string> cpu_domain{};
  /// The name of each GPU likewise: "nvidia_gpu_0", "amd_gpu_1".
  std::map<std::uint32_t, std::string> gpu_domain{};
  double clock_offset_s = 0;  ///< this machine's clock minus the daemon's
  /// The offset lies within +- this; infinite: not known.
  double clock_offset_uncertainty_s = 0;
  ConnectionState gpu{};
  ConnectionState cpu{};
  friend bool operator==(const PowerReadings&, const PowerReadings&) = default;
};
/// By `Server::endpoint`; every server has an entry.
using PowerSnapshot = std::map<std::string, PowerReadings>;

/// One device's new value, or that it is no longer reported. Threads: a value type.
struct PowerUpdate {
  std::size_t server = 0;    ///< place among `PowerStream::servers`
  std::uint32_t device = 0;  ///< index on its server
  bool is_gpu = false;
  bool is_gone = false;    ///< the daemon no longer reports it: there are no values
  bool ends_event = true;  ///< the last one of what came together
  double timestamp_s = 0;  ///< when it was read: as in `PowerReadings`
  std::optional<Watts> power{};
  std::optional<Watts> dram{};
  friend bool operator==(const PowerUpdate&, const PowerUpdate&) = default;
};

/// By device. Absent: never reported by the daemon. Threads: a value type.
struct ServerEnergy {
  std::map<std::uint32_t, MeasuredEnergy> gpus{};
  std::map<std::uint32_t, MeasuredEnergy> cpus{};
  std::map<std::uint32_t, MeasuredEnergy> drams{};
};

/// Threads: a value type.
struct PowerStreamOptions {
  /// The first wait before a lost connection is tried again, 1 ms to 1 h. It doubles while the
  /// daemon answers but its stream does not hold, and stays as it is while no daemon answers. Each
  /// wait is 20 % longer or shorter by chance.
  std::chrono::milliseconds reconnect_delay = std::chrono::seconds(1);
  /// The longest wait, and the wait after `denied`: a restart can enable a group, or a token be
  /// accepted later. 0 to 1 h. If it is at most `reconnect_delay`, each wait is exactly that.
  std::chrono::milliseconds longest_reconnect_delay = std::chrono::seconds(5);
  /// For each request except the streams, and for the constructor; 1 ms to 1 min.
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  /// Servers that cannot be reached at the start are tried again and again, instead of
  /// `ConnectionError`.
  bool start_partial = false;
  /// How many updates wait for a reader before the oldest are dropped, and counted; at least 1.
  std::size_t queue_limit = 65'536;
  /// Called with each update, in order, on the stream's thread: it delays all others. Must not
  /// throw. It may stop the stream, and may be called before the constructor returns.
  std::function<void(const PowerUpdate&)> on_update{};
  /// Where coroutines are resumed: called, on the stream's thread, with what is to be run. Must not
  /// throw. Absent: on the stream's thread.
  std::function<void(std::function<void()>)> executor{};
  /// How far back `energy` can be asked, up to 7 days; 0: not at all, and nothing is kept for it.
  std::chrono::seconds history{0};
  /// How often the daemons' energy counters are read for it; 10 ms to 1 min.
  std::chrono::milliseconds counter_period = std::chrono::seconds(1);
};

/// Threads: a value type.
struct ReaderOptions {
  /// A step brings everything that came since the last one, instead of one event.
  bool latest_only = false;
  /// A change of a connection's state is a step, too. Otherwise it shows at the next step.
  bool states = false;
};

/// Goes through the updates of a stream since the reader was made. Each step is one event of a
/// daemon, in order of arrival, and ends in a consistent view of all servers. A reader more than
/// `PowerStreamOptions::queue_limit` updates behind loses the oldest steps, but no current value.
/// Its view has the newest value of every device that had one.
///
/// A reader may outlive its stream: there are no more steps. One that was moved from has ended, and
/// throws `InvalidArgument` where it is asked for a step. Threads: one at a time; any number of
/// readers beside each other.
class WATTLE_EXPORT PowerReader {
 public:
  class Next;
  class Iterator;
  class Impl;  // of the library alone

  PowerReader(PowerReader&&) noexcept;
  PowerReader& operator=(PowerReader&&) noexcept;
  /// Who still waits for it in a coroutine is not resumed any more, and can be destroyed.
  ~PowerReader();

  /// Waits for the next step, and gives the view after it; null after `stop`. What is pointed to
  /// stays as it is until the next step.
  [[nodiscard]] const PowerSnapshot* wait();
  /// The same, until `deadline` at most: null if nothing came, or after `stop` (`has_ended`).
  [[nodiscard]] const PowerSnapshot* wait_until(TimePoint deadline);
  /// The same as an awaitable: `co_await reader.next()` is a `const PowerSnapshot*`, null after
  /// `stop`. Where nothing is there yet, the coroutine is resumed on the stream's thread, or by the
  /// executor. One that waits may be destroyed by the thread that would resume it, or by any after
  /// `stop`. Throws `InvalidArgument` where another coroutine waits for this reader.
  [[nodiscard]] Next next();

  /// The values as of the last step or, before the first, of when the reader was made. The states
  /// of connections are those of the last `wait` or `wait_until` that found them changed.
  [[nodiscard]] const PowerSnapshot& readings() const noexcept;
  /// The changes of the last step, in order; empty if it changed only states. Valid until the next
  /// step.
  [[nodiscard]] std::span<const PowerUpdate> updates() const noexcept;
  /// Updates that had no step of their own since the reader fell behind. With `latest_only`: 0.
  [[nodiscard]] std::uint64_t dropped() const noexcept;
  /// True after `stop`: there will be no more steps.
  [[nodiscard]] bool has_ended() const noexcept;

  /// `for (const PowerSnapshot& readings : reader)`: as `wait`, until `stop`.
  [[nodiscard]] Iterator begin();
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 private:
  friend class PowerStream;
  explicit PowerReader(std::shared_ptr<Impl> impl) noexcept;
  [[nodiscard]] Impl& impl() const;

  std::shared_ptr<Impl> impl_;
};

/// See `PowerReader::next`. Threads: as its reader.
class WATTLE_EXPORT PowerReader::Next {
 public:
  Next(const Next&) = delete;
  Next& operator=(const Next&) = delete;
  ~Next();

  [[nodiscard]] bool await_ready();
  /// False: there is something now.
  [[nodiscard]] bool await_suspend(std::coroutine_handle<> who);
  [[nodiscard]] const PowerSnapshot* await_resume();

 private:
  friend class PowerReader;
  friend class PowerStream;
  explicit Next(std::shared_ptr<Impl> impl) noexcept;

  std::shared_ptr<Impl> impl_;
  bool waits_ = false;
};

/// An input iterator over the steps of a reader. Threads: as its reader.
class WATTLE_EXPORT PowerReader::Iterator {
 public:
  // The standard library's names. NOLINTBEGIN(readability-identifier-naming)
  using value_type = PowerSnapshot;
  using difference_type = std::ptrdiff_t;
  // NOLINTEND(readability-identifier-naming)

  /// Waits for the first step.
  explicit Iterator(std::shared_ptr<Impl> impl);

  [[nodiscard]] const PowerSnapshot& operator*() const noexcept { return *step_; }
  [[nodiscard]] const PowerSnapshot* operator->() const noexcept { return step_; }
  /// Waits for the next step.
  Iterator& operator++();
  void operator++(int) { ++*this; }
  [[nodiscard]] friend bool operator==(const Iterator& at, std::default_sentinel_t) noexcept {
    return at.step_ == nullptr;
  }

 private:
  std::shared_ptr<Impl> impl_;
  const PowerSnapshot* step_ = nullptr;
};

/// Follows the power of the devices of any number of servers, with one thread for all of them.
///
/// A daemon sends a device's power when it changes: where nothing comes but the daemon lives, the
/// last value holds. A connection that is lost is made again, with what the daemon serves by then.
/// A daemon that refuses one type of device, or lacks it, ends that stream alone. States and their
/// reasons are in the snapshot. Invalid data in a daemon's answers is logged (`set_log`), at most
/// once a minute per stream.
///
/// After `fork` the child's copy does nothing: its snapshot is empty, its readers have ended.
///
/// Threads: everything but the constructor and the destructor from any, at any time; `next` one at
/// a time.
class WATTLE_EXPORT PowerStream {
 public:
  /// Asks all servers at once, and returns when each has answered or failed, `timeout` at the
  /// latest. If there is nothing to stream yet (no readable device), it logs a warning and
  /// continues: a daemon may serve more after a restart. Throws `InvalidArgument` for no server, a
  /// server without devices, an endpoint twice, or an option out of its range. Throws
  /// `NoSuchDevice` or `CapabilityError` if a requested index is not served or not permitted, and
  /// `AuthError` if the token is invalid. Throws `ConnectionError` if a server cannot be reached,
  /// except with `start_partial`; `Error` if no thread can be started. Nothing is left over then.
  explicit PowerStream(std::vector<Server> servers, PowerStreamOptions options = {});
  PowerStream(const PowerStream&) = delete;
  PowerStream& operator=(const PowerStream&) = delete;
  /// As `stop`. On the stream's thread it returns at once, and the thread ends after it.
  ~PowerStream();

  /// Ends within 100 ms, whatever the servers do; a reader that waits for a step gets none. On
  /// return nothing is called or resumed any more, which it waits for. A second time it does
  /// nothing. On the stream's thread (in a callback, or a coroutine that was resumed there) it
  /// returns at once, and the stream ends when that does.
  void stop() noexcept;

  [[nodiscard]] const std::vector<Server>& servers() const noexcept;
  /// A copy of everything that is known now.
  [[nodiscard]] PowerSnapshot snapshot() const;

  /// The energy of each device between two times, by endpoint. It is from the daemon's counter if
  /// there is one. Else, and after its last reading (`estimated`), it is from powers: each holds
  /// until the next, while the daemon lives. What was not received (before the start, without
  /// connection, while a daemon restarted) is in `unknown`, flagged `gap` or `reset`. Throws
  /// `InvalidArgument` where `end` lies before `begin`, for what is no time, and without
  /// `PowerStreamOptions::history`.
  [[nodiscard]] std::map<std::string, ServerEnergy> energy(TimePoint begin, TimePoint end) const;
  [[nodiscard]] std::map<std::string, ServerEnergy> energy(double begin_unix_s,
                                                           double end_unix_s) const;

  /// A reader of everything from now on.
  [[nodiscard]] PowerReader reader(const ReaderOptions& options = {}) const;
  /// `co_await stream.next()`: the next step of a reader that the first call makes.
  [[nodiscard]] PowerReader::Next next();
  /// `for (const PowerSnapshot& readings : stream)`: the steps of a reader of its own.
  [[nodiscard]] PowerReader::Iterator begin() const;
  [[nodiscard]] static std::default_sentinel_t end() noexcept { return {}; }

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace wattle
