// Accepts connections and holds them to their limits.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "hub.hpp"
#include "listening.hpp"
#include "loop.hpp"
#include "peer.hpp"
#include "places.hpp"
#include "service.hpp"

namespace wattle::daemon {

struct ServerOptions {
  /// Past them, whoever has waited longest without asking for anything makes room.
  PlaceLimits places{};
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
  ~Server() override;  // NOLINT(bugprone-exception-escape): see there

  [[nodiscard]] std::size_t connections() const noexcept {
    return waiting_.size() + busy_.size() + guests_.size();
  }

  /// Ends what has no right to go on: who took too long, streams whose token is no good any more.
  void end_overdue();

  // For connections.
  [[nodiscard]] Loop& loop() noexcept override { return loop_; }
  [[nodiscard]] Service& service() noexcept override { return service_; }
  [[nodiscard]] std::span<char> scratch() noexcept override { return scratch_; }
  void set_busy(Connection& connection, bool is_busy) override;
  void set_half(Connection& connection, bool is_half) override;
  void set_unread(Connection& connection, std::size_t bytes) override;
  void schedule(Connection& connection) override;
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
  /// A place for this one; another may lose its own.
  [[nodiscard]] NoPlace find_place(const Peer& peer);
  /// Closes whoever has waited longest among those whose place would do; false where all of them
  /// are busy.
  [[nodiscard]] bool make_room(NoPlace shortage, std::string_view client);
  /// A place beyond the limits, for one request.
  [[nodiscard]] bool find_guest_place();
  /// Reads what the scheduled have sent, for a short time.
  void take_turns();
  /// Closes the one of TCP that has not read its answer for longest, or else one of a Unix socket;
  /// false where there is none.
  bool cut_unread();
  [[nodiscard]] Connections& list_of(const Connection& connection) noexcept;
  void sweep();

  Loop& loop_;
  Service& service_;
  ServerOptions options_;
  std::list<Door> doors_;
  Connections waiting_;  ///< for a request, the longest first
  Connections busy_;
  Connections guests_;  ///< beyond the limits, the longest first
  Places places_;
  std::size_t half_records_ = 0;
  std::size_t unread_bytes_ = 0;
  std::deque<std::shared_ptr<Connection>> scheduled_;
  bool has_turn_ = false;
  std::array<char, 8192> scratch_{};
  Pace sweeper_;
  std::unique_ptr<Timer> pause_;
};

}  // namespace wattle::daemon
