// A daemon on a socket, which streams the test's data.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "fakes/http_server.hpp"
#include "wattle/daemon_client.hpp"
#include "wire/message_json.hpp"

namespace wattle::client_test {

/// Threads: any.
class StreamingDaemon {
 public:
  using Handler = fakes::HttpServer::Handler;

  StreamingDaemon() : server_([this](const auto& request, auto& peer) { serve(request, peer); }) {}
  explicit StreamingDaemon(std::uint16_t port)
      : server_([this](const auto& request, auto& peer) { serve(request, peer); }, port) {}
  explicit StreamingDaemon(std::string path)
      : server_([this](const auto& request, auto& peer) { serve(request, peer); },
                std::move(path)) {}

  [[nodiscard]] Server server() const { return Server::parse(server_.address()); }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] fakes::HttpServer& http() { return server_; }

  /// To every stream of GPUs that is open, and every one to come, after what was sent before.
  void send(std::string bytes) {
    const std::scoped_lock lock(mutex_);
    sent_.push_back(fakes::http_chunk(bytes));
  }
  void send_gpu(std::uint32_t gpu, std::uint64_t mw) {
    send(wire::event(wire::encode_event(now_ms(), gpu, mw)));
  }
  /// What a path is answered with, instead of the usual.
  void on(const std::string& path, Handler handler) {
    const std::scoped_lock lock(mutex_);
    handlers_[path] = std::move(handler);
  }
  [[nodiscard]] static wire::UnixMs now_ms() {
    return static_cast<wire::UnixMs>(1e3 * to_unix(TimePoint::clock::now()));
  }

 private:
  void serve(const fakes::HttpRequest& request, fakes::HttpPeer& peer) {
    const std::string path(request.path());
    Handler handler;
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = handlers_.find(path); found != handlers_.end()) {
        handler = found->second;
      }
    }
    if (handler) return handler(request, peer);
    if (path == "/gpu/stream_power") return stream(peer);
    (void)peer.send(fakes::http_answer(200, answer(path)));
  }

  static std::string answer(const std::string& path) {
    if (path == "/discover") {
      return wire::encode(wire::Discovery{.gpus = {{.id = 0}, {.id = 1}},
                                          .enabled_api_groups = {"gpu-read", "cpu-read"}});
    }
    if (path == "/gpu/get_power") {
      return wire::encode(wire::GpuPowersAt{now_ms(), {{0, 1000}, {1, 2000}}});
    }
    return wire::encode_time(now_ms());
  }

  void stream(fakes::HttpPeer& peer) {
    peer.close();
    if (!peer.send(fakes::http_stream_head())) return;
    std::size_t next = 0;
    do {
      for (;;) {
        std::string bytes;
        {
          const std::scoped_lock lock(mutex_);
          while (next < sent_.size() && bytes.size() < 65'536) bytes += sent_[next++];
        }
        if (bytes.empty()) break;
        if (!peer.send(bytes)) return;
      }
    } while (peer.wait(std::chrono::milliseconds(2)));
  }

  std::mutex mutex_;
  std::vector<std::string> sent_;
  std::map<std::string, Handler> handlers_;
  fakes::HttpServer server_;
};

}  // namespace wattle::client_test
