#include "server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "log.hpp"

namespace wattle::daemon {
namespace {

constexpr std::chrono::seconds kSweep{1};
/// Accepted in one go, or sent away, before others have their turn.
constexpr int kMostAtOnce = 64;

Peer peer_of(const Listener& listener, int fd) {
  Peer peer{.is_local_socket = listener.is_local_socket,
            .at_loopback = listener.is_loopback,
            .name = "?"};
  if (listener.is_local_socket) {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
      peer.name = fmt::format("uid {}", credentials.uid);
    }
    return peer;
  }
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::getpeername(fd, static_cast<sockaddr*>(static_cast<void*>(&address)), &length) != 0) {
    return peer;
  }
  const void* place = nullptr;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (address.ss_family == AF_INET) {
    std::memcpy(&v4, &address, sizeof v4);
    place = &v4.sin_addr;
  } else {
    std::memcpy(&v6, &address, sizeof v6);
    place = &v6.sin6_addr;
  }
  if (::inet_ntop(address.ss_family, place, text.data(), text.size()) != nullptr) {
    peer.name = text.data();
  }
  return peer;
}

bool somebody_waits_at(int listener) {
  pollfd door{.fd = listener, .events = POLLIN, .revents = 0};
  return ::poll(&door, 1, 0) > 0;
}

}  // namespace

Server::Server(Loop& loop, Service& service, std::vector<Listener> listeners,
               const ServerOptions& options)
    : loop_(loop),
      service_(service),
      options_(options),
      sweeper_(loop, kSweep, [this] { sweep(); }),
      pause_(loop.make_timer()) {
  for (Listener& listener : listeners) {
    Door& door = doors_.emplace_back();
    door.listener = std::move(listener);
    door.watch = loop_.watch(door.listener.fd.get());
    wait_at(door);
  }
}

Server::~Server() {
  for (Connections* const list : {&waiting_, &busy_}) {
    while (!list->empty()) list->front()->close();
  }
  for (Door& door : doors_) {
    door.watch.reset();
    door.listener.fd.reset();
    remove_socket_file(door.listener);
  }
}

void Server::wait_at(Door& door) {
  if (std::exchange(door.is_waiting, true)) return;
  door.watch->wait_readable([this, &door] {
    door.is_waiting = false;
    accept_at(door);
  });
}

void Server::accept_at(Door& door) {
  for (int i = 0; i < kMostAtOnce; ++i) {
    Fd fd(::accept4(door.listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      admit(door, std::move(fd));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (!is_short) continue;  // one that has gone meanwhile
    // Without a free descriptor accept says so where nobody waits, too.
    if (!somebody_waits_at(door.listener.fd.get())) break;
    if (!make_room()) return rest();
  }
  wait_at(door);
}

void Server::rest() {
  // It would be awake at once again, for nothing.
  constexpr std::chrono::milliseconds kRest{100};
  pause_->start(loop_.now() + kRest, [this] {
    for (Door& door : doors_) wait_at(door);
  });
}

void Server::admit(const Door& door, Fd fd) {
  if (connections() >= options_.most_connections && !make_room()) {
    if (options_.tls != nullptr && !door.listener.is_local_socket) return;
    const std::string busy = render(error_response(503, "Too many connections."), false);
    (void)::send(fd.get(), busy.data(), busy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  if (!door.listener.is_local_socket) {
    const int on = 1;
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  }
  const bool encrypts = options_.tls != nullptr && !door.listener.is_local_socket;
  auto transport = encrypts ? options_.tls->accept(fd.get()) : plain_transport(fd.get());
  if (!transport) return;
  Peer peer = peer_of(door.listener, fd.get());
  const auto connection =
      std::make_shared<Connection>(*this, std::move(fd), std::move(transport), std::move(peer));
  connection->set_place(waiting_.insert(waiting_.end(), connection), false);
  connection->start();
  sweeper_.start();
}

bool Server::make_room() {
  while (!waiting_.empty()) {
    const std::shared_ptr<Connection> longest = waiting_.front();
    // It may have asked for something since it was looked at last.
    longest->read();
    if (longest->is_busy()) continue;
    longest->close();
    return true;
  }
  return false;
}

void Server::set_busy(Connection& connection, bool is_busy) {
  Connections& from = is_busy ? waiting_ : busy_;
  Connections& to = is_busy ? busy_ : waiting_;
  if (connection.is_busy() == is_busy) return;
  to.splice(to.end(), from, connection.place());
  connection.set_place(connection.place(), is_busy);
}

void Server::remove(Connection& connection) {
  (connection.is_busy() ? busy_ : waiting_).erase(connection.place());
}

void Server::sweep() {
  end_overdue();
  service_.tick();
  if (connections() == 0) sweeper_.stop();
}

void Server::end_overdue() {
  const TimePoint now = loop_.now();
  int ended = 0;
  for (Connections* const list : {&waiting_, &busy_}) {
    for (auto next = list->begin(); next != list->end();) {
      const std::shared_ptr<Connection> connection = *next++;
      if (!connection->check_deadline(now) || ++ended < kMostAtOnce) continue;
      // Thousands that came together are overdue together.
      loop_.poster()([this] { end_overdue(); });
      return;
    }
  }
}

}  // namespace wattle::daemon
