// One client: reads requests, writes answers, within deadlines.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>

#include "base/fd.hpp"
#include "frame_queue.hpp"
#include "loop.hpp"
#include "places.hpp"
#include "service.hpp"
#include "transport.hpp"

namespace wattle::daemon {

class Connection;
using Connections = std::list<std::shared_ptr<Connection>>;

/// What a connection needs of its server. Threads: the loop's.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  [[nodiscard]] virtual Loop& loop() noexcept = 0;
  [[nodiscard]] virtual Service& service() noexcept = 0;
  /// Room to read into that all share: a connection that waits holds none.
  [[nodiscard]] virtual std::span<char> scratch() noexcept = 0;
  /// A busy one is not closed to make room for others.
  virtual void set_busy(Connection& connection, bool is_busy) = 0;
  /// It began, or ended, to hold memory for what has not come whole. May close it.
  virtual void set_half(Connection& connection, bool is_half) = 0;
  /// It holds so many bytes of an answer that is not read. May close it.
  virtual void set_unread(Connection& connection, std::size_t bytes) = 0;
  /// Calls `take_turn` later, after those that asked before.
  virtual void schedule(Connection& connection) = 0;
  virtual void remove(Connection& connection) = 0;
};

/// Threads: the loop's.
class Connection final : public HttpExchange,
                         public Subscriber,
                         public std::enable_shared_from_this<Connection> {
 public:
  /// `transport` writes to `fd`. With a shortage it is a guest: it asks once, and is told of the
  /// shortage, unless it asks for the daemon's health.
  Connection(ConnectionOwner& owner, Fd fd, std::unique_ptr<SocketTransport> transport, Peer peer,
             NoPlace shortage = NoPlace::none);
  ~Connection() override;

  /// False where the kernel cannot wait for it: then it is of no use.
  [[nodiscard]] bool is_watched() const noexcept { return watch_ != nullptr; }
  void start();
  /// Goes on with what it has sent.
  void take_turn();
  /// Takes what the client has said by now.
  void read();
  /// At once. Nothing happens on it any more.
  void close();
  /// Closes it to make room; counts it where an answer waits that it does not read.
  void cut();
  /// It took too long for what it is about, or may not go on.
  [[nodiscard]] bool is_overdue(TimePoint now) const;
  /// Ends it where it is overdue. The server may cut others to make room for the answer.
  void end_overdue(TimePoint now);

  // HttpExchange
  void answer(const Response& response) override;
  [[nodiscard]] Subscriber* begin_stream(std::shared_ptr<const StreamRight> right) override;
  // Subscriber
  void deliver(const Frame& frame) override;

  /// What a client without a place is told, and counted as.
  [[nodiscard]] static Response response_of(NoPlace shortage);
  [[nodiscard]] static TurnedAway reason_of(NoPlace shortage) noexcept;

  // For the server's lists.
  [[nodiscard]] const Peer& peer() const noexcept { return peer_; }
  [[nodiscard]] bool is_guest() const noexcept { return shortage_ != NoPlace::none; }
  [[nodiscard]] bool is_half() const noexcept { return is_half_; }
  [[nodiscard]] std::size_t unread_bytes() const noexcept { return unread_bytes_; }
  void set_unread_bytes(std::size_t bytes) noexcept { unread_bytes_ = bytes; }
  [[nodiscard]] Connections::iterator place() const noexcept { return place_; }
  [[nodiscard]] bool is_busy() const noexcept { return is_busy_; }
  void set_place(Connections::iterator place, bool is_busy) noexcept {
    place_ = place;
    is_busy_ = is_busy;
  }

 private:
  enum class State : std::uint8_t {
    reading,    ///< waits for a request, or the rest of one
    answering,  ///< a request is being answered
    writing,    ///< an answer waits for room
    streaming,
    ending,  ///< all is said; waits for the client to hear it
    closed,
  };

  void wait_readable();
  /// Likewise, where something may have come already.
  void listen_again();
  void ask_for_turn();
  /// Looks whether it is in the middle of a record.
  void note_half();
  [[nodiscard]] bool is_unread() const noexcept;
  /// The token of its stream is not valid any more.
  [[nodiscard]] bool has_lost_its_right() const;
  /// Tells the server how much of an answer waits here.
  void note_unread();
  void wait_writable();
  /// False where nothing is there, or the client is gone.
  [[nodiscard]] bool read_some();
  void take(std::span<const char> bytes);
  /// Handles the requests that are there.
  void process();
  void handle_head(std::string_view head);
  void refuse(const Response& response);
  /// Sends `out_`.
  void begin_writing();
  void write();
  void answered();
  void end();
  /// Closes it, but not within a call of whoever goes on with it.
  void fail_later();
  /// Bytes sent, 0 where there is no room; nothing where the client is gone.
  [[nodiscard]] std::optional<std::size_t> send_some(std::string_view bytes) noexcept;
  void set_deadline(std::chrono::seconds patience);
  /// Of an answer that is being read.
  void set_answer_deadline();

  ConnectionOwner& owner_;
  Fd fd_;
  std::unique_ptr<SocketTransport> transport_;
  std::unique_ptr<Watch> watch_;
  Peer peer_;
  std::string in_;   ///< read, and not a whole request yet
  std::string out_;  ///< of an answer, not sent yet
  std::size_t unread_bytes_ = 0;
  FrameQueue frames_;
  std::shared_ptr<const StreamRight> right_;  ///< to the stream; null where none is needed
  TimePoint deadline_;
  TimePoint answer_deadline_;  ///< however fast the client reads
  NoPlace shortage_;
  Connections::iterator place_;
  State state_ = State::reading;
  bool is_busy_ = false;
  bool keeps_alive_ = true;
  bool is_old_ = false;   ///< the request is of HTTP/1.0
  bool is_head_ = false;  ///< it asks for the head of an answer alone
  bool is_processing_ = false;
  bool is_half_ = false;
  bool is_scheduled_ = false;
  bool has_requests_ = false;  ///< that wait for its next turn
  bool is_waiting_to_read_ = false;
  bool is_waiting_to_write_ = false;
  bool has_failed_ = false;
};

}  // namespace wattle::daemon
