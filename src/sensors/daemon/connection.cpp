#include "sensors/daemon/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/forks.hpp"

namespace wattle::daemon_source {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

RequestOutcome outcome_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return RequestOutcome::absent;
    case ECONNREFUSED:
      return RequestOutcome::deserted;
    case EACCES:
    case EPERM:
      return RequestOutcome::denied;
    case EAGAIN:  // more wait to be let in than there is room for
      return RequestOutcome::silent;
    default:
      return RequestOutcome::failed;
  }
}

/// Waits until there is something to receive; false when the time is over.
bool wait_for_bytes(int fd, steady_clock::time_point until) noexcept {
  while (true) {
    // Rounded up: a wait of 0 ms would not wait for the last of the time.
    const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int count = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

}  // namespace

std::optional<std::string> question(std::string_view token) {
  if (!std::ranges::all_of(token, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return std::nullopt;
  }
  std::string text =
      "GET /cpu/get_cumulative_energy?cpu=true&dram=true HTTP/1.1\r\nHost: localhost\r\n";
  if (!token.empty()) text.append("Authorization: Bearer ").append(token).append("\r\n");
  return text += "\r\n";
}

DaemonConnection::DaemonConnection(std::string_view path, std::string question,
                                   const TimeSource& clock)
    : address_(UnixAddress::of(path)),
      question_(std::move(question)),
      clock_(clock),
      forks_(forks()) {}

Reply DaemonConnection::ask(std::chrono::nanoseconds patience) noexcept {
  const SteadyTime until = steady_clock::now() + patience;
  if (const std::uint64_t now = forks(); now != forks_) {
    forks_ = now;
    socket_.reset();
  }
  const bool was_kept = static_cast<bool>(socket_);
  if (!was_kept) {
    const Reply connected = connect();
    if (connected.outcome != RequestOutcome::answered) return connected;
  }
  Reply reply = send_and_receive(until);
  if (was_kept && reply.outcome == RequestOutcome::hung_up && received_ == 0) {
    const Reply connected = connect();
    if (connected.outcome != RequestOutcome::answered) return connected;
    reply = send_and_receive(until);
  }
  return reply;
}

/// `answered` where there is a connection now.
Reply DaemonConnection::connect() noexcept {
  if (!address_) return {.outcome = RequestOutcome::absent, .error = ENOENT};
  socket_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_ && ::connect(socket_.get(), address_->get(), address_->size()) == 0) {
    return {.outcome = RequestOutcome::answered};
  }
  const int error = errno;
  socket_.reset();
  return {.outcome = outcome_of(error), .error = error};
}

Reply DaemonConnection::send_and_receive(SteadyTime until) noexcept {
  Reply reply{.before = clock_.now()};
  received_ = 0;
  // The question is short: it fits into the socket's buffer, or nobody reads what is in there.
  const ssize_t sent =
      ::send(socket_.get(), question_.data(), question_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  Head head;
  reply.outcome = sent == static_cast<ssize_t>(question_.size()) ? receive(until, head)
                                                                 : RequestOutcome::hung_up;
  reply.after = clock_.now();
  if (reply.outcome == RequestOutcome::answered) {
    reply.status = head.status;
    reply.body = std::string_view(room_.data(), received_).substr(head.body_at, head.body_bytes);
  }
  // Whatever comes later would be taken for the answer to the next question.
  const bool has_more = received_ != head.body_at + head.body_bytes;
  if (reply.outcome != RequestOutcome::answered || head.closes || has_more) socket_.reset();
  return reply;
}

RequestOutcome DaemonConnection::receive(SteadyTime until, Head& head) noexcept {
  while (true) {
    if (received_ == room_.size()) return RequestOutcome::garbled;
    if (!wait_for_bytes(socket_.get(), until)) return RequestOutcome::silent;
    const ssize_t count =
        ::recv(socket_.get(), room_.data() + received_, room_.size() - received_, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) return RequestOutcome::hung_up;
    received_ += static_cast<std::size_t>(count);
    head = parse_head({room_.data(), received_});
    if (head.extent == Extent::none) return RequestOutcome::garbled;
    if (head.extent == Extent::whole) return RequestOutcome::answered;
  }
}

}  // namespace wattle::daemon_source
