#include "connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "origin.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::seconds;

/// From the first byte of a head to its last.
constexpr seconds kHeadPatience{5};
/// Longer than clients keep connections that they may use again: httpx 5 s.
constexpr seconds kIdlePatience{30};
constexpr seconds kAnswerPatience{10};
constexpr seconds kStreamPatience{30};
constexpr seconds kEndPatience{2};

Response response_of(HeadFault fault) {
  switch (fault) {
    case HeadFault::too_large:
      return error_response(431, "The head of the request is too large.");
    case HeadFault::unknown_version:
      return error_response(505, "This server speaks HTTP/1.1.");
    case HeadFault::malformed:
      break;
  }
  return error_response(400, "The request is malformed.");
}

}  // namespace

Connection::Connection(ConnectionOwner& owner, Fd fd, std::unique_ptr<Transport> transport,
                       Peer peer)
    : owner_(owner),
      fd_(std::move(fd)),
      transport_(std::move(transport)),
      watch_(owner.loop().watch(fd_.get())),
      peer_(std::move(peer)) {}

Connection::~Connection() { Stream::unsubscribe(*this); }

void Connection::start() {
  set_deadline(kIdlePatience);
  wait_readable();
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();
  state_ = State::closed;
  Stream::unsubscribe(*this);
  watch_.reset();
  transport_.reset();
  fd_.reset();
  owner_.remove(*this);
}

void Connection::fail_later() {
  if (std::exchange(has_failed_, true)) return;
  owner_.loop().poster()([self = shared_from_this()] { self->close(); });
}

void Connection::set_deadline(seconds patience) { deadline_ = owner_.loop().now() + patience; }

bool Connection::check_deadline(TimePoint now) {
  const bool is_waited_for =
      state_ != State::answering && (state_ != State::streaming || !frames_.empty());
  if (!is_waited_for || now < deadline_) return false;
  if (state_ == State::reading && !in_.empty()) {
    refuse(error_response(408, "The request took too long."));
  } else {
    close();
  }
  return true;
}

void Connection::wait_readable() {
  if (std::exchange(is_waiting_to_read_, true)) return;
  watch_->wait_readable([self = shared_from_this()] {
    self->is_waiting_to_read_ = false;
    self->read();
  });
}

void Connection::listen_again() {
  if (!transport_->has_more()) return wait_readable();
  owner_.loop().poster()([self = shared_from_this()] { self->read(); });
}

void Connection::wait_writable() {
  if (std::exchange(is_waiting_to_write_, true)) return;
  watch_->wait_writable([self = shared_from_this()] {
    self->is_waiting_to_write_ = false;
    self->write();
  });
}

void Connection::read() {
  // What comes while a request is answered stays where it is, until that is done.
  const auto listens = [&] {
    const bool is_open =
        state_ == State::reading || state_ == State::streaming || state_ == State::ending;
    return is_open && !has_failed_;
  };
  if (!listens()) return;
  while (read_some() && listens() && transport_->has_more()) {
  }
  if (listens()) wait_readable();
}

bool Connection::read_some() {
  const std::span<char> room = owner_.scratch();
  const ssize_t count = transport_->receive(room);
  if (count > 0) {
    take(room.first(static_cast<std::size_t>(count)));
    return true;
  }
  if (count == 0 || (errno != EAGAIN && errno != EINTR)) close();
  return false;
}

void Connection::take(std::span<const char> bytes) {
  // What a client says while it listens to a stream, or is being sent away, means nothing.
  if (state_ != State::reading) return;
  if (in_.empty()) set_deadline(kHeadPatience);
  in_.append(bytes.data(), bytes.size());
  process();
}

// An answer that is written at once asks for the next request: `is_processing_` makes that the loop
// here, and no recursion.
// NOLINTBEGIN(misc-no-recursion)
void Connection::process() {
  if (std::exchange(is_processing_, true)) return;
  while (state_ == State::reading) {
    // An empty line may come before a request (RFC 9112, 2.2).
    while (in_.starts_with("\r\n")) in_.erase(0, 2);
    const auto length = head_length(in_);
    if (!length) {
      if (in_.size() > kMostHeadBytes) refuse(response_of(HeadFault::too_large));
      break;
    }
    const std::string head = in_.substr(0, *length);
    in_.erase(0, *length);
    if (in_.empty()) in_ = {};  // gives its memory back
    handle_head(head);
  }
  is_processing_ = false;
}

void Connection::handle_head(std::string_view head) {
  auto parsed = parse_head(head);
  if (const auto* const fault = std::get_if<HeadFault>(&parsed)) {
    refuse(response_of(*fault));
    return;
  }
  Request request;
  request.head = std::get<RequestHead>(std::move(parsed));
  request.peer = peer_;
  is_head_ = request.head.method == "HEAD";
  if (request.head.has_body) {
    refuse(error_response(413, "Requests to this server have no body."));
    return;
  }
  // An origin is compared with the host.
  if (const auto denied = foreign_page(request.head, peer_)) {
    refuse(*denied);
    return;
  }
  // The query lies in the head's text.
  const auto target = parse_target(request.head.target);
  if (!target) {
    refuse(error_response(400, "The target of the request is malformed."));
    return;
  }
  request.target = *target;
  owner_.set_busy(*this, true);
  state_ = State::answering;
  keeps_alive_ = request.head.keeps_alive;
  is_old_ = request.head.is_http_1_0;
  owner_.service().handle(request, shared_from_this());
}

void Connection::refuse(const Response& response) {
  keeps_alive_ = false;
  state_ = State::answering;
  answer(response);
}

void Connection::answer(const Response& response) {
  if (state_ != State::answering) return;
  // An old client keeps the connection only where it is told so: it is not.
  if (is_old_) keeps_alive_ = false;
  out_ = render(response, keeps_alive_);
  // The answer to a HEAD has no body, though it tells its length (RFC 9110, 9.3.2).
  if (is_head_) out_.resize(out_.size() - response.body.size());
  state_ = State::writing;
  set_deadline(kAnswerPatience);
  write();
}

void Connection::write() {
  if (state_ == State::closed || has_failed_) return;
  if (state_ == State::streaming) {
    while (!frames_.empty()) {
      const auto sent = send_some(frames_.next());
      if (!sent) return fail_later();
      if (*sent == 0) return wait_writable();
      frames_.advance(*sent);
      set_deadline(kStreamPatience);
    }
    return;
  }
  if (state_ != State::writing) return;
  const auto sent = send_some(out_);
  if (!sent) return fail_later();
  out_.erase(0, *sent);
  if (!out_.empty()) return wait_writable();
  out_ = {};
  answered();
}

void Connection::answered() {
  if (!keeps_alive_) {
    end();
    return;
  }
  state_ = State::reading;
  is_head_ = false;
  owner_.set_busy(*this, false);
  set_deadline(in_.empty() ? kIdlePatience : kHeadPatience);
  process();
  if (state_ == State::reading) listen_again();
}
// NOLINTEND(misc-no-recursion)

void Connection::end() {
  // Closing with bytes unread would take the answer away from the client (RFC 9112, 9.6).
  state_ = State::ending;
  transport_->finish();
  in_ = {};
  set_deadline(kEndPatience);
  owner_.set_busy(*this, false);
  wait_readable();
}

Subscriber* Connection::begin_stream() {
  if (is_old_) {
    answer(error_response(505, "A stream needs HTTP/1.1."));
    return nullptr;
  }
  if (state_ != State::answering) return nullptr;
  state_ = State::streaming;
  in_ = {};
  deliver(std::make_shared<const std::string>(stream_head()));
  // Tells when the client goes away.
  listen_again();
  return this;
}

void Connection::deliver(const Frame& frame) {
  if (state_ != State::streaming || has_failed_) return;
  if (!frames_.empty()) {
    if (!frames_.push(frame)) owner_.service().count_dropped();
    return;
  }
  const auto sent = send_some(*frame);
  if (!sent) return fail_later();
  if (*sent == frame->size()) return;
  frames_.push(frame);
  if (*sent > 0) frames_.advance(*sent);
  set_deadline(kStreamPatience);
  wait_writable();
}

std::optional<std::size_t> Connection::send_some(std::string_view bytes) noexcept {
  const ssize_t sent = transport_->send(bytes);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  return std::nullopt;
}

}  // namespace wattle::daemon
