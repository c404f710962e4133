#include "fakes/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

namespace wattle::fakes {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kForever{-1};

Fd listening_socket(int family, const sockaddr* address, socklen_t size) {
  Fd listener(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  (void)::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::bind(listener.get(), address, size) != 0 || ::listen(listener.get(), 1024) != 0) {
    throw std::runtime_error("the HTTP server has no place to listen at");
  }
  return listener;
}

/// True when `fd` is ready for `events`; false where `stop` came, or the time is over.
bool ready(int fd, short events, int stop, milliseconds timeout) {
  std::array<pollfd, 2> waiting = {pollfd{.fd = stop, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = fd, .events = events, .revents = 0}};
  const int count = ::poll(waiting.data(), waiting.size(), static_cast<int>(timeout.count()));
  return count > 0 && waiting[0].revents == 0 && waiting[1].revents != 0;
}

HttpRequest request_of(std::string head) {
  HttpRequest request;
  const std::size_t space = head.find(' ');
  const std::size_t second = head.find(' ', space + 1);
  request.method = head.substr(0, space);
  request.target = head.substr(space + 1, second - space - 1);
  request.head = std::move(head);
  return request;
}

}  // namespace

std::string HttpRequest::field(std::string_view name) const {
  const std::string start = "\r\n" + std::string(name) + ": ";
  const std::size_t at = head.find(start);
  if (at == std::string::npos) return {};
  const std::size_t value = at + start.size();
  return head.substr(value, head.find("\r\n", value) - value);
}

std::string_view HttpRequest::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

bool HttpPeer::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    if (!ready(fd_, POLLOUT, stop_, kForever)) return false;
    const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool HttpPeer::wait(milliseconds time) const {
  std::array<pollfd, 2> waiting = {pollfd{.fd = stop_, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = fd_, .events = POLLRDHUP, .revents = 0}};
  return ::poll(waiting.data(), waiting.size(), static_cast<int>(time.count())) == 0;
}

void HttpPeer::stall() const { (void)wait(kForever); }

std::string http_answer(int status, std::string_view body, std::string_view fields) {
  return "HTTP/1.1 " + std::to_string(status) + " Told\r\nContent-Type: application/json\r\n" +
         std::string(fields) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

std::string http_stream_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
         "Transfer-Encoding: chunked\r\n\r\n";
}

std::string http_chunk(std::string_view bytes) {
  std::array<char, 24> size{};
  const int length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return std::string(size.data(), static_cast<std::size_t>(length)) + std::string(bytes) + "\r\n";
}

HttpServer::HttpServer(Handler handler, std::uint16_t port)
    : handler_(std::move(handler)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(port);
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // as sockets are used in C
  listener_ = listening_socket(AF_INET, generic, size);
  (void)::getsockname(listener_.get(), generic, &size);
  port_ = ::ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

HttpServer::HttpServer(Handler handler, std::string socket_path)
    : handler_(std::move(handler)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      socket_path_(std::move(socket_path)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_path_.size() >= sizeof address.sun_path) throw std::runtime_error("a long path");
  std::memcpy(&address.sun_path, socket_path_.c_str(), socket_path_.size());
  (void)::unlink(socket_path_.c_str());
  listener_ = listening_socket(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof address);
  thread_ = std::jthread([this] { serve(); });
}

HttpServer::~HttpServer() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
  clients_.clear();
  if (!socket_path_.empty()) (void)::unlink(socket_path_.c_str());
}

std::string HttpServer::address() const { return "127.0.0.1:" + std::to_string(port_); }

std::vector<HttpRequest> HttpServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool HttpServer::wait_for_requests(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return came_.wait_for(lock, std::chrono::seconds(10), [&] { return requests_.size() >= count; });
}

std::size_t HttpServer::connections() const {
  const std::lock_guard lock(mutex_);
  return clients_.size();
}

void HttpServer::serve() {
  while (ready(listener_.get(), POLLIN, stop_.get(), kForever)) {
    auto client = std::make_shared<Fd>(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!*client) continue;
    const std::lock_guard lock(mutex_);
    clients_.emplace_back([this, client] {
      serve_client(*client);
      client->reset();
    });
  }
}

void HttpServer::serve_client(const Fd& client) {
  HttpPeer peer(client.get(), stop_.get());
  std::string in;
  while (peer.is_open()) {
    std::size_t end = 0;
    while ((end = in.find("\r\n\r\n")) == std::string::npos) {
      std::array<char, 4096> bytes;
      if (!ready(client.get(), POLLIN, stop_.get(), kForever)) return;
      const ssize_t count = ::recv(client.get(), bytes.data(), bytes.size(), 0);
      if (count <= 0) return;
      in.append(bytes.data(), static_cast<std::size_t>(count));
    }
    const HttpRequest request = request_of(in.substr(0, end + 4));
    in.erase(0, end + 4);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    came_.notify_all();
    handler_(request, peer);
  }
}

}  // namespace wattle::fakes
