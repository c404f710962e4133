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

#include "base/fd.hpp"
#include "client/curl_transport.hpp"
#include "client/followed_server.hpp"
#include "client/surroundings.hpp"
#include "client/timers.hpp"
#include "client/update_hub.hpp"
#include "sampling/recorder.hpp"

namespace wattle::client {

/// Follows servers in a thread that owns it: nobody needs to wait for long for that, whatever it is
/// stuck in.
///
/// Threads: any.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  struct Options {
    std::chrono::milliseconds reconnect_delay;
    std::chrono::milliseconds longest_reconnect_delay;
    std::chrono::milliseconds timeout;
    /// Where powers and counters are booked; null: nowhere.
    std::shared_ptr<EnergyBook> book{};
  };
  /// How the start went.
  struct Start {
    std::optional<Trouble> trouble{};
    bool has_something = false;  ///< to stream
  };
  /// Most that is waited for, at the end, for connections to be given back.
  static constexpr std::chrono::milliseconds kPatience{80};

  /// Throws as `CurlTransport`.
  Engine(std::shared_ptr<UpdateHub> hub, const Options& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Throws `Error` where no thread can be had. Once.
  void start();
  /// Waits until each server has answered or failed, or until one is in trouble; `deadline` at
  /// most. With `tolerates_connection_trouble` a server that cannot be reached, or does not answer
  /// in time, is not in trouble.
  [[nodiscard]] Start wait_for_start(TimePoint deadline, bool tolerates_connection_trouble);
  /// Called by another thread: on return the thread calls nothing of the user's any more. By its
  /// own: it ends when it comes back.
  void stop() noexcept;

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): only for want of memory, which ends the program
  void run() noexcept;
  void follow();
  void report_progress();
  void look_for_suspend();

  const std::shared_ptr<UpdateHub> hub_;
  const std::shared_ptr<EnergyBook> book_;
  const std::uint64_t forks_;
  Fd wake_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::thread::id> thread_{};

  // The thread's own.
  Timers timers_;
  std::unique_ptr<CurlTransport> transport_;
  std::unique_ptr<Surroundings> around_;
  std::deque<FollowedServer> servers_;
  SuspendWatch suspend_{machine_clock()};
  TimePoint suspend_looked_{};
  bool has_started_ = false;  ///< progress is not looked at any more

  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread worker_;  ///< until it is joined
  std::vector<FollowedServer::Progress> progress_;
  std::optional<Trouble> connection_trouble_;
  std::optional<Trouble> other_trouble_;
  bool has_something_ = false;
  bool is_quiet_ = false;  ///< nothing of the user's is called any more
  bool has_ended_ = false;
};

}  // namespace wattle::client
