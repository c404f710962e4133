// Accepts connections and holds them to their limits.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "connection.hpp"
#include "hub.hpp"
#include "listening.hpp"
#include "loop.hpp"
#include "service.hpp"

namespace wattle::daemon {

struct ServerOptions {
  /// Past it, whoever has waited longest without asking for anything makes room.
  std::size_t most_connections = 4096;
  /// For all but Unix sockets; null: no encryption. Outlives the server.
  const TlsServer* tls = nullptr;
};

/// Threads: the loop's.
class Server final : public ConnectionOwner {
 public:
  Server(Loop& loop, Service& service, std::vector<Listener> listeners,
         const ServerOptions& options = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Closes everything at once: streams have no end that clients would take for one.
  ~Server() override;

  [[nodiscard]] std::size_t connections() const noexcept { return waiting_.size() + busy_.size(); }

  // For connections.
  [[nodiscard]] Loop& loop() noexcept override { return loop_; }
  [[nodiscard]] Service& service() noexcept override { return service_; }
  [[nodiscard]] std::span<char> scratch() noexcept override { return scratch_; }
  void set_busy(Connection& connection, bool is_busy) override;
  void remove(Connection& connection) override;

 private:
  struct Door {
    Listener listener;
    std::unique_ptr<Watch> watch;
    bool is_waiting = false;
  };
  void wait_at(Door& door);
  void accept_at(Door& door);
  void admit(const Door& door, Fd fd);
  /// Lets nobody in for a moment.
  void rest();
  /// False where everybody is busy.
  [[nodiscard]] bool make_room();
  void sweep();
  /// Sends away whoever took too long.
  void end_overdue();

  Loop& loop_;
  Service& service_;
  ServerOptions options_;
  std::list<Door> doors_;
  Connections waiting_;  ///< for a request, the longest first
  Connections busy_;
  std::array<char, 8192> scratch_{};
  Pace sweeper_;
  std::unique_ptr<Timer> pause_;
};

}  // namespace wattle::daemon
