// All requests of the client, to any number of daemons, with libcurl: none blocks another.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files/fd.hpp"
#include "client/transport/curl_request.hpp"
#include "client/transport/transport.hpp"
#include "wattle/clock.hpp"
#include "wattle/daemon_client.hpp"

namespace wattle::client {

/// Its owner calls `wait` and `run` alternately. Not thread-safe.
class CurlTransport final : public RequestTransport {
 public:
  /// `servers` outlive it. `connect_timeout`: of each connection. Throws `ConnectionError` if
  /// libcurl does not start, `InvalidArgument` for a token with invalid characters.
  CurlTransport(const std::vector<Server>& servers, std::chrono::milliseconds connect_timeout);
  CurlTransport(const CurlTransport&) = delete;
  CurlTransport& operator=(const CurlTransport&) = delete;
  ~CurlTransport() override;

  RequestId start(std::size_t server, std::string_view target, const SendingOptions& options,
                  ResponseHandler& to) override;
  void cancel(RequestId id) noexcept override;

  /// From now on `wait` also ends when `fd` is readable. The owner of `fd` resets it.
  void add_wake(int fd);
  /// Waits for something to do, at most until `until`.
  void wait(TimePoint until) noexcept;
  /// Handles what has arrived. Calls `after_each()` after the data of each socket.
  template <class AfterEach>
  void run(AfterEach after_each);

 private:
  struct CurlRequest {
    RequestId id = 0;
    std::size_t server = 0;
    ResponseHandler* to = nullptr;
    Easy easy{};
    int status = 0;
    std::size_t head_bytes = 0;  ///< of all heads and trailers
    std::size_t body_bytes = 0;
    std::size_t most_bytes = 0;              ///< see `SendingOptions`
    std::unique_ptr<FailureText> failure{};  ///< libcurl writes to it; none for streams
  };
  struct Ready {
    int fd;
    int what;  ///< as libcurl names it
  };
  struct MultiCleanup {
    void operator()(CURLM* multi) const noexcept { ::curl_multi_cleanup(multi); }
  };

  // Callbacks of libcurl.
  static int watch(CURL* easy, curl_socket_t fd, int what, void* self, void* watched) noexcept;
  static int set_timer(CURLM* multi, long timeout_ms, void* self) noexcept;
  static std::size_t take_head(char* bytes, std::size_t one, std::size_t count, void* request);
  static std::size_t take_body(char* bytes, std::size_t one, std::size_t count,
                               void* request) noexcept;

  /// False if the kernel cannot watch another socket. `what`: CURL_POLL_IN etc.
  [[nodiscard]] bool start_watch(const Ready& wanted, bool is_known) noexcept;
  void poll_unwatched() noexcept;
  [[nodiscard]] Easy spare_handle();
  void put_back(Easy easy) noexcept;
  void report_ended();
  void report_ended(RequestId id, CURLcode code);
  [[nodiscard]] std::string why_failed(const CurlRequest& request, CURLcode code) const;
  void fail_unstarted();

  const std::vector<Server>& servers_;
  const std::chrono::milliseconds connect_timeout_;
  std::vector<Lines> lines_;  ///< of each server
  Fd epoll_;
  int wake_ = -1;
  TimePoint due_ = TimePoint::max();
  std::vector<Ready> ready_;
  std::vector<Ready> unwatched_;  ///< sockets that epoll does not take; `what` as libcurl asks
  std::vector<Easy> spare_;
  RequestId last_id_ = 0;
  // Destroyed in reverse order: `multi_` after its handles.
  std::unique_ptr<CURLM, MultiCleanup> multi_;
  std::unordered_map<RequestId, CurlRequest> requests_;
  std::unordered_map<RequestId, std::string> unstarted_;  ///< why
};

template <class AfterEach>
void CurlTransport::run(AfterEach after_each) {
  int running = 0;
  fail_unstarted();
  for (const Ready& ready : ready_) {
    ::curl_multi_socket_action(multi_.get(), ready.fd, ready.what, &running);
    report_ended();
    after_each();
  }
  if (due_ <= TimePoint::clock::now()) {
    due_ = TimePoint::max();
    ::curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &running);
  }
  report_ended();
  after_each();
}

}  // namespace wattle::client
