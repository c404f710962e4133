// Accepts connections and enforces their limits.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include "http/connection.hpp"
#include "http/listening.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"
#include "http/peer.hpp"
#include "http/places.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {

struct HttpServerOptions {
  /// At a limit, the connection that has been idle longest is closed to make room.
  PlaceLimits places{};
  /// For every socket except Unix sockets; null: no encryption. Outlives the server.
  const TlsServer* tls = nullptr;
};

/// Threads: the loop's.
class HttpServer final : public ConnectionOwner {
 public:
  HttpServer(Loop& loop, Service& service, std::vector<ListeningSocket> listeners,
             const HttpServerOptions& options = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Closes everything at once. Streams get no final chunk: clients must see a break, not an end.
  ~HttpServer() override;  // NOLINT(bugprone-exception-escape): see there

  [[nodiscard]] std::size_t connections() const noexcept {
    return waiting_.size() + busy_.size() + guests_.size();
  }

  /// Ends connections that took too long, and streams whose token is no longer valid.
  void end_overdue();

  // For connections.
  [[nodiscard]] Loop& loop() noexcept override { return loop_; }
  [[nodiscard]] Service& service() noexcept override { return service_; }
  [[nodiscard]] std::span<char> scratch() noexcept override { return scratch_; }
  void set_busy(Connection& connection, bool is_busy) override;
  void set_partial_record(Connection& connection, bool has_partial_record) override;
  void set_unread(Connection& connection, std::size_t bytes) override;
  void schedule(Connection& connection) override;
  void remove(Connection& connection) override;

 private:
  /// A listening socket.
  struct Door {
    ListeningSocket listener;
    std::unique_ptr<Watch> watch;
    bool is_waiting = false;
  };
  void wait_at(Door& door);
  void accept_at(Door& door);
  void admit(const Door& door, Fd fd);
  /// Accepts no connections for a moment.
  void rest();
  /// Finds a place for `peer`; may close another connection for it. `none`: it has one.
  [[nodiscard]] Shortage find_place(const Peer& peer);
  /// Closes the connection that has been idle longest among those whose place helps. False: all of
  /// them are busy.
  [[nodiscard]] bool make_room(Shortage shortage, std::string_view client);
  /// Finds a place beyond the limits, for one request.
  [[nodiscard]] bool find_guest_place();
  /// Handles the scheduled connections, for a short time.
  void take_turns();
  /// Closes the TCP connection that has not read its answer for longest, or else such a one of a
  /// Unix socket. False: there is none.
  bool cut_unread();
  [[nodiscard]] Connections& list_of(const Connection& connection) noexcept;
  void sweep();

  Loop& loop_;
  Service& service_;
  HttpServerOptions options_;
  std::list<Door> doors_;
  Connections waiting_;  ///< idle, longest first
  Connections busy_;
  Connections guests_;  ///< beyond the limits, longest first
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
