#include "http/server.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::chrono::seconds kSweep{1};
/// Connections turned away, or accepted from a Unix socket, before other work gets its turn.
constexpr std::size_t kMostAtOnce = 64;
/// Connections accepted over TCP before other work gets its turn.
constexpr std::size_t kMostTcpAtOnce = 8;

/// The longest time to read TCP connections in one go: clients of a Unix socket wait no longer.
constexpr std::chrono::milliseconds kTurn{1};

/// The send buffer of each socket; the kernel doubles it. Unread answers fill it first, then wait
/// in this process.
constexpr int kSocketBytes = 32 << 10;

void set_buffers(int fd) {
  (void)::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSocketBytes, sizeof kSocketBytes);
  (void)::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kSocketBytes, sizeof kSocketBytes);
}

/// Cuts the first connection in the list that `suits`. False: none does.
template <class Suits>
bool cut_first(Connections& list, Suits suits) {
  const auto found =
      std::ranges::find_if(list, [&](const auto& connection) { return suits(*connection); });
  if (found == list.end()) return false;
  const std::shared_ptr<Connection> longest = *found;
  longest->cut();
  return true;
}

bool has_waiting_client(int listener) {
  pollfd door{.fd = listener, .events = POLLIN, .revents = 0};
  return ::poll(&door, 1, 0) > 0;
}

}  // namespace

HttpServer::HttpServer(Loop& loop, Service& service, std::vector<ListeningSocket> listeners,
                       const HttpServerOptions& options)
    : loop_(loop),
      service_(service),
      options_(options),
      places_(options.places),
      sweeper_(loop, kSweep, [this] { sweep(); }),
      pause_(loop.make_timer()) {
  for (ListeningSocket& listener : listeners) {
    Door& door = doors_.emplace_back();
    door.listener = std::move(listener);
    door.watch = loop_.watch(door.listener.fd.get(), [this, &door] {
      door.is_waiting = false;
      rest();
    });
    if (!door.watch)
      throw Error(fmt::format("cannot listen at {}: out of memory", door.listener.name));
    wait_at(door);
  }
}

// NOLINTNEXTLINE(bugprone-exception-escape): without memory it ends, as its program does then
HttpServer::~HttpServer() {
  for (Connections* const list : {&waiting_, &busy_, &guests_}) {
    while (!list->empty()) list->front()->close();
  }
  for (Door& door : doors_) {
    door.watch.reset();
    remove_socket_file(door.listener);
    door.listener.fd.reset();
  }
}

void HttpServer::wait_at(Door& door) {
  if (std::exchange(door.is_waiting, true)) return;
  door.watch->wait_readable([this, &door] {
    door.is_waiting = false;
    accept_at(door);
  });
}

void HttpServer::accept_at(Door& door) {
  const std::size_t most = door.listener.is_local_socket ? kMostAtOnce : kMostTcpAtOnce;
  for (std::size_t i = 0; i < most; ++i) {
    Fd fd(::accept4(door.listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      admit(door, std::move(fd));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (!is_short) continue;  // the client is gone already
    // Without a free descriptor, accept fails even if no client waits.
    if (!has_waiting_client(door.listener.fd.get())) break;
    if (!make_room(Shortage::all, {})) return rest();
  }
  wait_at(door);
}

void HttpServer::rest() {
  // Otherwise it would wake up again at once, for nothing.
  constexpr std::chrono::milliseconds kRest{100};
  pause_->start(loop_.now() + kRest, [this] {
    for (Door& door : doors_) wait_at(door);
  });
}

void HttpServer::admit(const Door& door, Fd fd) {
  Peer peer = peer_of(door.listener, fd.get());
  const bool is_local = door.listener.is_local_socket;
  const bool encrypts = options_.tls != nullptr && !is_local;
  const Shortage shortage = find_place(peer);
  const bool is_guest = shortage != Shortage::none;
  if (is_guest && !find_guest_place()) {
    service_.turn_away(Connection::reason_of(shortage));
    if (encrypts) return;
    const std::string busy = render(Connection::response_of(shortage), false);
    (void)::send(fd.get(), busy.data(), busy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  set_buffers(fd.get());
  if (!is_local) {
    const int on = 1;
    (void)::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  }
  auto transport = encrypts ? options_.tls->accept(fd.get()) : plain_transport(fd.get());
  if (!transport) return;
  const auto connection = std::make_shared<Connection>(*this, std::move(fd), std::move(transport),
                                                       std::move(peer), shortage);
  if (!connection->is_watched()) return;
  if (!is_guest) places_.take(connection->peer().client, is_local);
  Connections& list = is_guest ? guests_ : waiting_;
  connection->set_place(list.insert(list.end(), connection), false);
  connection->start();
  sweeper_.start();
}

Shortage HttpServer::find_place(const Peer& peer) {
  while (true) {
    const Shortage shortage = places_.shortage_for(peer.client, peer.is_local_socket);
    if (shortage == Shortage::none || !make_room(shortage, peer.client)) return shortage;
  }
}

bool HttpServer::make_room(Shortage shortage, std::string_view client) {
  const auto would_do = [&](const std::shared_ptr<Connection>& connection) {
    const Peer& peer = connection->peer();
    if (shortage == Shortage::per_client) return peer.client == client;
    return shortage != Shortage::tcp || !peer.is_local_socket;
  };
  while (true) {
    const auto found = std::ranges::find_if(waiting_, would_do);
    if (found == waiting_.end()) return false;
    const std::shared_ptr<Connection> longest = *found;
    // A request may have arrived since the last read.
    longest->read();
    if (longest->is_busy()) continue;
    longest->cut();
    return true;
  }
}

bool HttpServer::find_guest_place() {
  const std::size_t most = options_.places.guests;
  if (most == 0) return false;
  if (guests_.size() < most) return true;
  std::map<std::string_view, std::size_t> guests_of;
  std::size_t greatest = 0;
  for (const auto& guest : guests_) {
    greatest = std::max(greatest, ++guests_of[guest->peer().client]);
  }
  // Picks the client with the most guests, and of these the longest.
  const auto found = std::ranges::find_if(
      guests_, [&](const auto& guest) { return guests_of[guest->peer().client] == greatest; });
  const std::shared_ptr<Connection> longest = *found;
  longest->read();
  longest->cut();
  return true;
}

void HttpServer::set_busy(Connection& connection, bool is_busy) {
  if (connection.is_guest() || connection.is_busy() == is_busy) return;
  Connections& from = is_busy ? waiting_ : busy_;
  Connections& to = is_busy ? busy_ : waiting_;
  to.splice(to.end(), from, connection.place());
  connection.set_place(connection.place(), is_busy);
}

void HttpServer::set_partial_record(Connection& /*connection*/, bool has_partial_record) {
  if (!has_partial_record) {
    --half_records_;
    return;
  }
  if (++half_records_ <= options_.places.half_records) return;
  for (Connections* const list : {&waiting_, &guests_, &busy_}) {
    if (cut_first(*list, std::mem_fn(&Connection::has_partial_record))) return;
  }
}

void HttpServer::set_unread(Connection& connection, std::size_t bytes) {
  unread_bytes_ += bytes - connection.unread_bytes();
  connection.set_unread_bytes(bytes);
  while (unread_bytes_ > options_.places.unread_bytes && cut_unread()) {
  }
}

bool HttpServer::cut_unread() {
  for (const bool is_local : {false, true}) {
    for (Connections* const list : {&guests_, &waiting_}) {
      const auto suits = [&](const Connection& each) {
        return each.unread_bytes() > 0 && each.peer().is_local_socket == is_local;
      };
      if (cut_first(*list, suits)) return true;
    }
  }
  return false;
}

void HttpServer::schedule(Connection& connection) {
  scheduled_.push_back(connection.shared_from_this());
  if (!std::exchange(has_turn_, true)) loop_.poster()([this] { take_turns(); });
}

void HttpServer::take_turns() {
  const TimePoint end = loop_.now() + kTurn;
  for (std::size_t i = 0; i < kMostAtOnce && !scheduled_.empty(); ++i) {
    const std::shared_ptr<Connection> next = std::move(scheduled_.front());
    scheduled_.pop_front();
    next->take_turn();
    if (loop_.now() >= end) break;
  }
  has_turn_ = !scheduled_.empty();
  if (has_turn_) loop_.poster()([this] { take_turns(); });
}

Connections& HttpServer::list_of(const Connection& connection) noexcept {
  if (connection.is_guest()) return guests_;
  return connection.is_busy() ? busy_ : waiting_;
}

void HttpServer::remove(Connection& connection) {
  if (connection.has_partial_record()) --half_records_;
  unread_bytes_ -= connection.unread_bytes();
  if (!connection.is_guest()) {
    places_.give_back(connection.peer().client, connection.peer().is_local_socket);
  }
  list_of(connection).erase(connection.place());
}

void HttpServer::sweep() {
  end_overdue();
  service_.tick();
  if (connections() == 0) sweeper_.stop();
}

void HttpServer::end_overdue() {
  const TimePoint now = loop_.now();
  // Ending one may cut others to make room, so the lists can change here.
  std::vector<std::shared_ptr<Connection>> overdue;
  for (const Connections* const list : {&waiting_, &busy_, &guests_}) {
    for (const std::shared_ptr<Connection>& connection : *list) {
      if (overdue.size() == kMostAtOnce) break;
      if (connection->is_overdue(now)) overdue.push_back(connection);
    }
  }
  for (const std::shared_ptr<Connection>& connection : overdue) connection->end_overdue(now);
  // Thousands may become overdue at the same time.
  if (overdue.size() == kMostAtOnce) loop_.poster()([this] { end_overdue(); });
}

}  // namespace wattle::daemon
