#include "http/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "http/origin.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::seconds;

/// From the first byte of a head to its last.
constexpr seconds kHeadPatience{5};
/// Longer than clients keep idle connections: httpx 5 s.
constexpr seconds kIdlePatience{30};
constexpr seconds kAnswerPatience{10};
/// Without any progress.
constexpr seconds kUnreadPatience{3};
constexpr seconds kStreamPatience{30};
constexpr seconds kEndPatience{2};
/// Requests of one client that are answered before the next client's turn.
constexpr int kRequestsPerTurn = 4;

Response refusal_of(HeadFault fault) {
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

Connection::Connection(ConnectionOwner& owner, Fd fd, std::unique_ptr<SocketTransport> transport,
                       Peer peer, Shortage shortage)
    : owner_(owner),
      fd_(std::move(fd)),
      transport_(std::move(transport)),
      watch_(owner.loop().watch(fd_.get(), [this] { fail_later(); })),
      peer_(std::move(peer)),
      shortage_(shortage) {}

Connection::~Connection() { Stream::unsubscribe(*this); }

void Connection::start() {
  set_deadline(kIdlePatience);
  report_partial_record();
  if (state_ == ConnectionStage::closed) return;
  // The request has often arrived with the connection.
  if (peer_.is_local_socket) return read();
  wait_readable();
}

void Connection::cut() {
  if (is_unread()) owner_.service().turn_away(TurnedAway::unread);
  if (is_guest() && state_ == ConnectionStage::reading) {
    owner_.service().turn_away(reason_of(shortage_));
  }
  close();
}

bool Connection::is_unread() const noexcept {
  return state_ == ConnectionStage::writing ||
         (state_ == ConnectionStage::streaming && !frames_.empty());
}

Response Connection::response_of(Shortage shortage) {
  if (shortage == Shortage::per_client) {
    return error_response(429, "Too many connections from this client.");
  }
  return error_response(503, "Too many connections.");
}

TurnedAway Connection::reason_of(Shortage shortage) noexcept {
  return shortage == Shortage::per_client ? TurnedAway::client : TurnedAway::full;
}

void Connection::close() {
  if (state_ == ConnectionStage::closed) return;
  const auto self = shared_from_this();
  state_ = ConnectionStage::closed;
  Stream::unsubscribe(*this);
  right_.reset();
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

void Connection::set_answer_deadline() {
  deadline_ = std::min(owner_.loop().now() + kUnreadPatience, answer_deadline_);
}

bool Connection::has_lost_its_right() const { return right_ && !owner_.service().is_good(*right_); }

bool Connection::is_overdue(TimePoint now) const {
  if (state_ == ConnectionStage::closed) return false;
  if (has_lost_its_right()) return true;
  const bool is_waited_for = state_ != ConnectionStage::answering &&
                             (state_ != ConnectionStage::streaming || !frames_.empty());
  return is_waited_for && now >= deadline_;
}

void Connection::end_overdue(TimePoint now) {
  if (!is_overdue(now)) return;
  if (has_lost_its_right()) return close();
  if (state_ == ConnectionStage::reading && !in_.empty()) {
    return refuse(error_response(408, "The request took too long."));
  }
  cut();
}

void Connection::wait_readable() {
  if (std::exchange(is_waiting_to_read_, true)) return;
  watch_->wait_readable([self = shared_from_this()] {
    self->is_waiting_to_read_ = false;
    // TCP clients wait for each other; clients of a Unix socket never wait for them.
    if (self->peer_.is_local_socket) {
      self->read();
    } else {
      self->ask_for_turn();
    }
  });
}

void Connection::listen_again() {
  if (transport_->has_more()) {
    ask_for_turn();
  } else {
    wait_readable();
  }
}

void Connection::ask_for_turn() {
  if (!std::exchange(is_scheduled_, true)) owner_.schedule(*this);
}

void Connection::take_turn() {
  is_scheduled_ = false;
  if (!std::exchange(has_requests_, false)) return read();
  process();
  if (state_ == ConnectionStage::reading && !has_requests_) listen_again();
}

void Connection::report_partial_record() {
  const bool has_partial_record = transport_->has_partial_record();
  if (has_partial_record == has_partial_record_) return;
  has_partial_record_ = has_partial_record;
  if (state_ == ConnectionStage::reading && in_.empty()) {
    set_deadline(has_partial_record ? kHeadPatience : kIdlePatience);
  }
  owner_.set_partial_record(*this, has_partial_record);
}

void Connection::note_unread() {
  const std::size_t bytes = out_.empty() ? 0 : out_.capacity();
  if (bytes == unread_bytes_) return;
  owner_.set_unread(*this, bytes);
}

void Connection::wait_writable() {
  if (std::exchange(is_waiting_to_write_, true)) return;
  watch_->wait_writable([self = shared_from_this()] {
    self->is_waiting_to_write_ = false;
    self->write();
  });
}

void Connection::read() {
  // While a request is being answered, later bytes stay in the socket.
  const auto listens = [&] {
    const bool is_open = state_ == ConnectionStage::reading ||
                         state_ == ConnectionStage::streaming || state_ == ConnectionStage::ending;
    return is_open && !has_failed_ && !has_requests_;
  };
  if (!listens()) return;
  while (read_some() && listens() && transport_->has_more()) {
  }
  if (state_ != ConnectionStage::closed) report_partial_record();
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
  // Bytes from a client that receives a stream, or is being turned away, are ignored.
  if (state_ != ConnectionStage::reading) return;
  if (in_.empty()) set_deadline(kHeadPatience);
  in_.append(bytes.data(), bytes.size());
  process();
}

// An answer that is sent at once continues with the next request. `is_processing_` turns that
// recursion into this loop.
// NOLINTBEGIN(misc-no-recursion)
void Connection::process() {
  if (std::exchange(is_processing_, true)) return;
  for (int handled = 0; state_ == ConnectionStage::reading; ++handled) {
    // An empty line may come before a request (RFC 9112, 2.2).
    while (in_.starts_with("\r\n")) in_.erase(0, 2);
    const auto length = head_length(in_);
    if (!length) {
      if (in_.size() > kMostHeadBytes) refuse(refusal_of(HeadFault::too_large));
      break;
    }
    if (handled == kRequestsPerTurn) {
      has_requests_ = true;
      ask_for_turn();
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
  if (const auto* const fault = std::get_if<HeadFault>(&parsed)) return refuse(refusal_of(*fault));
  Request request;
  request.head = std::get<RequestHead>(std::move(parsed));
  request.peer = peer_;
  is_head_ = request.head.method == "HEAD";
  if (request.head.has_body) {
    return refuse(error_response(413, "Requests must not have a body."));
  }
  const auto& readers = owner_.service().options().pages.readers;
  reader_ = reading_origin(request.head, readers);
  // refusal_of_foreign_page() compares the origin with the host.
  if (const auto denied = refusal_of_foreign_page(request.head, peer_, readers)) {
    owner_.service().audit(peer_, "was refused: the request comes from a page of another site");
    return refuse(*denied);
  }
  // The query refers to the head's text.
  const auto target = parse_target(request.head.target);
  if (!target) return refuse(error_response(400, "The target of the request is malformed."));
  request.target = *target;
  if (is_guest() && request.target.path != "/health") {
    owner_.service().turn_away(reason_of(shortage_));
    return refuse(response_of(shortage_));
  }
  owner_.set_busy(*this, true);
  state_ = ConnectionStage::answering;
  keeps_alive_ = request.head.keeps_alive && !is_guest();
  is_old_ = request.head.is_http_1_0;
  if (!reader_.empty() && request.head.method == "OPTIONS") return answer(preflight_answer());
  owner_.service().handle(request, shared_from_this());
}

void Connection::refuse(const Response& response) {
  keeps_alive_ = false;
  state_ = ConnectionStage::answering;
  answer(response);
}

void Connection::answer(const Response& response) {
  if (state_ != ConnectionStage::answering) return;
  // HTTP/1.0 clients keep the connection only on request of the server.
  if (is_old_) keeps_alive_ = false;
  out_ = render(response, keeps_alive_, reader_);
  // The answer to a HEAD has a Content-Length but no body (RFC 9110, 9.3.2).
  if (is_head_) out_.resize(out_.size() - response.body.size());
  begin_writing();
}

void Connection::begin_writing() {
  state_ = ConnectionStage::writing;
  answer_deadline_ = owner_.loop().now() + kAnswerPatience;
  set_answer_deadline();
  write();
}

void Connection::write() {
  if (state_ == ConnectionStage::closed || has_failed_) return;
  if (state_ == ConnectionStage::streaming) {
    while (!frames_.empty()) {
      const auto sent = send_some(frames_.next());
      if (!sent) return fail_later();
      if (*sent == 0) return wait_writable();
      frames_.advance(*sent);
      set_deadline(kStreamPatience);
    }
    owner_.set_busy(*this, true);
    return;
  }
  if (state_ != ConnectionStage::writing) return;
  const auto sent = send_some(out_);
  if (!sent) return fail_later();
  out_.erase(0, *sent);
  if (!out_.empty()) {
    if (*sent > 0) set_answer_deadline();
    // Who does not read makes room for others.
    owner_.set_busy(*this, false);
    note_unread();
    if (state_ == ConnectionStage::writing) wait_writable();
    return;
  }
  out_ = {};
  note_unread();
  answered();
}

void Connection::answered() {
  if (!keeps_alive_) return end();
  state_ = ConnectionStage::reading;
  is_head_ = false;
  owner_.set_busy(*this, false);
  set_deadline(in_.empty() ? kIdlePatience : kHeadPatience);
  process();
  if (state_ == ConnectionStage::reading) listen_again();
}
// NOLINTEND(misc-no-recursion)

void Connection::end() {
  // Closing with unread bytes could discard the answer before the client reads it (RFC 9112, 9.6).
  state_ = ConnectionStage::ending;
  transport_->finish();
  in_ = {};
  has_requests_ = false;
  set_deadline(kEndPatience);
  owner_.set_busy(*this, false);
  wait_readable();
}

Subscriber* Connection::begin_stream(std::shared_ptr<const StreamRight> right) {
  if (is_old_) {
    answer(error_response(505, "A stream needs HTTP/1.1."));
    return nullptr;
  }
  if (state_ != ConnectionStage::answering) return nullptr;
  if (is_head_) {
    out_ = stream_head(reader_);
    begin_writing();
    return nullptr;
  }
  state_ = ConnectionStage::streaming;
  right_ = std::move(right);
  in_ = {};
  has_requests_ = false;
  deliver(std::make_shared<const std::string>(stream_head(reader_)));
  // Reports when the client goes away.
  listen_again();
  return this;
}

void Connection::deliver(const Frame& frame) {
  if (state_ != ConnectionStage::streaming || has_failed_) return;
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
  // Who does not read makes room for others.
  owner_.set_busy(*this, false);
  wait_writable();
}

std::optional<std::size_t> Connection::send_some(std::string_view bytes) noexcept {
  const ssize_t sent = transport_->send(bytes);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
  return std::nullopt;
}

}  // namespace wattle::daemon
