// An HTTP server that does what a test tells it, good or bad: each connection has a thread, in
// which a handler writes whatever bytes it likes, in pieces, or none, and closes when it likes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files/fd.hpp"

namespace wattle::fakes {

/// What a client asked.
struct HttpRequest {
  std::string method;
  std::string target;  ///< as it came: path and query
  std::string head;    ///< all lines, with the blank one

  /// The value of a field; empty where there is none. Names differ in case only as it came.
  [[nodiscard]] std::string field(std::string_view name) const;
  /// The target up to its query.
  [[nodiscard]] std::string_view path() const;
};

/// One connection, as a handler has it.
class HttpPeer {
 public:
  HttpPeer(int fd, int stop) noexcept : fd_(fd), stop_(stop) {}
  /// False where the client has gone, or the server stops.
  bool send(std::string_view bytes) const;
  /// Waits so long; false where the client has gone, or the server stops, before that.
  [[nodiscard]] bool wait(std::chrono::milliseconds time) const;
  /// Says nothing until the client has gone, or the server stops.
  void stall() const;
  /// No further request is taken: the connection is closed when the handler returns.
  void close() noexcept { open_ = false; }
  [[nodiscard]] bool is_open() const noexcept { return open_; }

 private:
  int fd_;
  int stop_;
  bool open_ = true;
};

/// A whole answer with a length. `fields`: whole lines, each with its end.
[[nodiscard]] std::string http_answer(int status, std::string_view body,
                                      std::string_view fields = {});
/// The head of a stream of server-sent events, and a chunk of it.
[[nodiscard]] std::string http_stream_head();
[[nodiscard]] std::string http_chunk(std::string_view bytes);

/// Threads: any; the handler is called by several at once.
class HttpServer {
 public:
  using Handler = std::function<void(const HttpRequest&, HttpPeer&)>;

  /// Listens at a port of the loopback, which it chooses where `port` is 0; one that was another
  /// server's a moment ago can be taken again.
  explicit HttpServer(Handler handler, std::uint16_t port = 0);
  /// Listens at a Unix socket.
  HttpServer(Handler handler, std::string socket_path);
  /// Hangs up on all clients, in the middle of whatever is being said.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// "127.0.0.1:PORT".
  [[nodiscard]] std::string address() const;
  /// All so far, in the order in which they came.
  [[nodiscard]] std::vector<HttpRequest> requests() const;
  /// Waits until so many came; false after ten seconds without.
  [[nodiscard]] bool wait_for_requests(std::size_t count) const;
  /// How many connections were taken.
  [[nodiscard]] std::size_t connections() const;

 private:
  void serve();
  void serve_client(const Fd& client);

  Handler handler_;
  Fd listener_;
  Fd stop_;
  std::string socket_path_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable came_;
  std::vector<HttpRequest> requests_;
  std::vector<std::jthread> clients_;
  std::jthread thread_;
};

}  // namespace wattle::fakes
