// The interface to systemd (sd_notify(3), sd_listen_fds(3)).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "http/listening.hpp"
#include "http/pace.hpp"

namespace wattle::daemon {

/// The sockets that systemd made for this process; empty: none. Call it once: it removes the
/// variables, so that child processes do not see them. Throws `Error` for an unusable socket.
[[nodiscard]] std::vector<ListeningSocket> adopted_listeners();

/// Does nothing without a service manager. Threads: the loop's.
class ServiceManager {
 public:
  /// From now on, the loop notifies the watchdog, if there is one.
  explicit ServiceManager(Loop& loop);
  static void notify_ready() { notify("READY=1"); }
  static void notify_stopping() { notify("STOPPING=1"); }

 private:
  static void notify(std::string_view state);

  std::unique_ptr<Pace> watchdog_;
};

}  // namespace wattle::daemon
