// What the daemon says to systemd, and takes from it (sd_notify(3), sd_listen_fds(3)).
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "hub.hpp"
#include "listening.hpp"

namespace wattle::daemon {

/// The sockets that it made for this process; empty where there are none. To be asked once: what
/// this process starts is not told of them. Throws `Error` for what cannot be served at.
[[nodiscard]] std::vector<Listener> adopted_listeners();

/// Does nothing where there is no service manager. Threads: the loop's.
class ServiceManager {
 public:
  /// From now on a watchdog, where there is one, hears from the loop.
  explicit ServiceManager(Loop& loop);
  static void notify_ready() { notify("READY=1"); }
  static void notify_stopping() { notify("STOPPING=1"); }

 private:
  static void notify(std::string_view state);

  std::unique_ptr<Pace> watchdog_;
};

}  // namespace wattle::daemon
