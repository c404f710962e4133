// One client: reads requests, writes answers, within deadlines.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>

#include "base/files/fd.hpp"
#include "http/frame_queue.hpp"
#include "http/loop.hpp"
#include "http/places.hpp"
#include "http/transport.hpp"
#include "serve/service.hpp"

namespace wattle::daemon {

class Connection;
using Connections = std::list<std::shared_ptr<Connection>>;

/// The interface of its server for a connection. Threads: the loop's.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  [[nodiscard]] virtual Loop& loop() noexcept = 0;
  [[nodiscard]] virtual Service& service() noexcept = 0;
  /// The read buffer that all connections share: a waiting connection has no buffer of its own.
  [[nodiscard]] virtual std::span<char> scratch() noexcept = 0;
  /// A busy connection is not closed to make room for others.
  virtual void set_busy(Connection& connection, bool is_busy) = 0;
  /// `has_partial_record`: the connection holds memory for a partial TLS handshake or record. May
  /// close it.
  virtual void set_partial_record(Connection& connection, bool has_partial_record) = 0;
  /// The connection holds `bytes` of an answer that its client has not read. May close it.
  virtual void set_unread(Connection& connection, std::size_t bytes) = 0;
  /// Calls `take_turn` later, in the order of the calls.
  virtual void schedule(Connection& connection) = 0;
  virtual void remove(Connection& connection) = 0;
};

/// Threads: the loop's.
class Connection final : public HttpExchange,
                         public Subscriber,
                         public std::enable_shared_from_this<Connection> {
 public:
  /// `transport` writes to `fd`. With a shortage, the connection is a guest: it gets one answer,
  /// which is the shortage, except for /health.
  Connection(ConnectionOwner& owner, Fd fd, std::unique_ptr<SocketTransport> transport, Peer peer,
             Shortage shortage = Shortage::none);
  ~Connection() override;

  /// False: the kernel cannot watch its descriptor; close it.
  [[nodiscard]] bool is_watched() const noexcept { return watch_ != nullptr; }
  void start();
  /// Handles the next requests of the client.
  void take_turn();
  /// Reads what the client has sent so far.
  void read();
  /// Closes the socket at once. No other call has an effect after it.
  void close();
  /// Closes it to make room. Counts it as turned away if its client does not read an answer.
  void cut();
  /// Its deadline is over, or the token of its stream is no longer valid.
  [[nodiscard]] bool is_overdue(TimePoint now) const;
  /// Ends it if it is overdue. The server may cut others to make room for the answer.
  void end_overdue(TimePoint now);

  // HttpExchange
  void answer(const Response& response) override;
  [[nodiscard]] Subscriber* begin_stream(std::shared_ptr<const StreamRight> right) override;
  // Subscriber
  void deliver(const Frame& frame) override;

  /// The answer for a client without a place, and the reason that counts it.
  [[nodiscard]] static Response response_of(Shortage shortage);
  [[nodiscard]] static TurnedAway reason_of(Shortage shortage) noexcept;

  // For the server's lists.
  [[nodiscard]] const Peer& peer() const noexcept { return peer_; }
  [[nodiscard]] bool is_guest() const noexcept { return shortage_ != Shortage::none; }
  [[nodiscard]] bool has_partial_record() const noexcept { return has_partial_record_; }
  [[nodiscard]] std::size_t unread_bytes() const noexcept { return unread_bytes_; }
  void set_unread_bytes(std::size_t bytes) noexcept { unread_bytes_ = bytes; }
  [[nodiscard]] Connections::iterator place() const noexcept { return place_; }
  [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }
  void set_place(Connections::iterator place, bool is_busy) noexcept {
    place_ = place;
    is_busy_ = is_busy;
  }

 private:
  enum class ConnectionStage : std::uint8_t {
    reading,    ///< waits for a request, or the rest of one
    answering,  ///< a request is being answered
    writing,    ///< an answer waits for room
    streaming,
    ending,  ///< everything is sent; waits for the client to close
    closed,
  };

  void wait_readable();
  /// Likewise, if something may have arrived already.
  void listen_again();
  void ask_for_turn();
  /// Reports to the server whether it holds a partial record.
  void report_partial_record();
  [[nodiscard]] bool is_unread() const noexcept;
  /// The token of its stream is no longer valid.
  [[nodiscard]] bool has_lost_its_right() const;
  /// Reports to the server how much of an answer waits here.
  void note_unread();
  void wait_writable();
  /// False if nothing has arrived, or the client is gone.
  [[nodiscard]] bool read_some();
  void take(std::span<const char> bytes);
  /// Handles the complete requests in `in_`.
  void process();
  void handle_head(std::string_view head);
  void refuse(const Response& response);
  /// Sends `out_`.
  void begin_writing();
  void write();
  void answered();
  void end();
  /// Closes it later, when no caller uses it.
  void fail_later();
  /// Bytes sent; 0: no room; absent: the client is gone.
  [[nodiscard]] std::optional<std::size_t> send_some(std::string_view bytes) noexcept;
  void set_deadline(std::chrono::seconds patience);
  /// The deadline of an answer that the client is reading.
  void set_answer_deadline();

  ConnectionOwner& owner_;
  Fd fd_;
  std::unique_ptr<SocketTransport> transport_;
  std::unique_ptr<Watch> watch_;
  Peer peer_;
  std::string in_;      ///< received, not handled yet
  std::string out_;     ///< of an answer, not sent yet
  std::string reader_;  ///< the origin of the page of another machine that asks; empty: none
  std::size_t unread_bytes_ = 0;
  FrameQueue frames_;
  std::shared_ptr<const StreamRight> right_;  ///< to the stream; null: none is needed
  TimePoint deadline_;
  TimePoint answer_deadline_;  ///< however fast the client reads
  Shortage shortage_;
  Connections::iterator place_;
  ConnectionStage state_ = ConnectionStage::reading;
  bool is_busy_ = false;
  bool keeps_alive_ = true;
  bool is_old_ = false;   ///< the request is of HTTP/1.0
  bool is_head_ = false;  ///< the request is a HEAD
  bool is_processing_ = false;
  bool has_partial_record_ = false;
  bool is_scheduled_ = false;
  bool has_requests_ = false;  ///< requests wait for its next turn
  bool is_waiting_to_read_ = false;
  bool is_waiting_to_write_ = false;
  bool has_failed_ = false;
};

}  // namespace wattle::daemon
