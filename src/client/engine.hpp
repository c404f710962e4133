// The thread of a stream.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"
#include "client/followed_server.hpp"
#include "client/stream_context.hpp"
#include "client/transport/curl_transport.hpp"
#include "client/update_hub.hpp"
#include "sampling/recorder.hpp"

namespace wattle::client {

/// Follows servers in its own thread, which keeps it alive: `stop` need not wait for a stuck
/// thread.
///
/// Threads: any.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  struct Options {
    std::chrono::milliseconds reconnect_delay;
    std::chrono::milliseconds longest_reconnect_delay;
    std::chrono::milliseconds timeout;
    /// The history of powers and counters; null: none.
    std::shared_ptr<StreamHistory> book{};
  };
  /// How the start went.
  struct StartResult {
    std::optional<Trouble> trouble{};
    bool has_streams = false;  ///< at least one stream is available
  };
  /// The longest wait of `stop` for the connections to close.
  static constexpr std::chrono::milliseconds kPatience{80};

  /// Throws like `CurlTransport`.
  Engine(std::shared_ptr<UpdateHub> hub, const Options& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Starts the thread. Call it once. Throws `Error` if no thread can be started.
  void start();
  /// Waits until each server has answered or failed, until one has trouble, or until `deadline`.
  /// With `tolerates_connection_trouble`, an unreachable or slow server is no trouble.
  [[nodiscard]] StartResult wait_for_start(TimePoint deadline, bool tolerates_connection_trouble);
  /// From another thread: after it returns, no callback of the user runs. From the own thread: the
  /// thread ends after the current callback.
  void stop() noexcept;

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): only for want of memory, which ends the program
  void run() noexcept;
  void follow();
  void report_progress();
  void check_for_suspend();

  const std::shared_ptr<UpdateHub> hub_;
  const std::shared_ptr<StreamHistory> book_;
  const std::uint64_t forks_;
  Fd wake_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::thread::id> thread_{};

  // The thread's own.
  Timers timers_;
  std::unique_ptr<CurlTransport> transport_;
  std::unique_ptr<StreamContext> context_;
  std::deque<FollowedServer> servers_;
  SuspendWatch suspend_{machine_clock()};
  TimePoint suspend_checked_{};
  bool has_started_ = false;  ///< progress no longer matters

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread worker_;  ///< until it is joined
  std::vector<FollowedServer::ServerProgress> progress_;
  std::optional<Trouble> connection_trouble_;
  std::optional<Trouble> other_trouble_;
  bool has_streams_ = false;
  bool is_quiet_ = false;  ///< no callback of the user runs any more
  bool has_ended_ = false;
};

}  // namespace wattle::client
