#include "otlp/plain_post.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "base/worker.hpp"
#include "wattle/error.hpp"

namespace wattle::otlp {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// How often a wait looks whether it is over.
constexpr milliseconds kSlice{100};

/// An address as `getaddrinfo` gives it.
struct SocketAddress {
  int family = AF_UNSPEC;
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

struct FoundAddresses {
  std::vector<SocketAddress> addresses{};
  std::string failure{};
};

FoundAddresses look_up(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  FoundAddresses found;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &list); error != 0) {
    found.failure = fmt::format("cannot find {}: {}", printable(host), ::gai_strerror(error));
    return found;
  }
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    SocketAddress address{.family = one->ai_family, .size = one->ai_addrlen};
    if (one->ai_addrlen > sizeof address.bytes) continue;
    std::memcpy(&address.bytes, one->ai_addr, one->ai_addrlen);
    found.addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  return found;
}

/// An answer of a name server. Threads: any.
class LookedUp {
 public:
  void put(FoundAddresses found) {
    const std::scoped_lock lock(mutex_);
    found_ = std::move(found);
    changed_.notify_all();
  }
  /// Absent: it is not there yet.
  [[nodiscard]] std::optional<FoundAddresses> wait(milliseconds length) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, length, [this] { return found_.has_value(); });
    return found_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<FoundAddresses> found_{};
};

/// A name server may take long, and the question cannot be interrupted: a thread is left with it.
FoundAddresses addresses_of(const PlainUrl& url, const std::function<bool()>& gives_up) {
  FoundAddresses numeric = look_up(url.host, url.port, AI_NUMERICHOST);
  if (!numeric.addresses.empty()) return numeric;
  const auto looked_up = std::make_shared<LookedUp>();
  Worker worker;
  if (!worker.add(
          [looked_up, url] { looked_up->put(look_up(url.host, url.port, AI_ADDRCONFIG)); })) {
    return {.failure = "cannot start a thread"};
  }
  while (!gives_up()) {
    if (auto found = looked_up->wait(kSlice)) return std::move(*found);
  }
  return {.failure = fmt::format("cannot find {}: no name server answers", printable(url.host))};
}

std::string reason_of(int error) {
  return printable(std::error_code(error, std::generic_category()).message());
}

}  // namespace

/// The end of a request.
struct PlainPost::Until {
  steady_clock::time_point time;
  const std::function<bool()>& is_over;

  /// Waits until the socket has one of `events`. Empty: it has; else why nobody waits any longer.
  [[nodiscard]] std::string wait(int fd, short events, short& seen) const {
    while (true) {
      if (is_over()) return "it was interrupted";
      const auto left = std::chrono::ceil<milliseconds>(time - steady_clock::now());
      if (left.count() <= 0) return "no answer in time";
      pollfd waiting{.fd = fd, .events = events, .revents = 0};
      const int count = ::poll(&waiting, 1, static_cast<int>(std::min(left, kSlice).count()));
      if (count < 0 && errno != EINTR) return reason_of(errno);
      if (count <= 0) continue;
      seen = waiting.revents;
      return {};
    }
  }
};

std::optional<PlainUrl> plain_url_of(std::string_view url) {
  if (!take_prefix(url, "http://")) return std::nullopt;
  const std::size_t slash = std::min(url.find('/'), url.size());
  PlainUrl found{.port = "80",
                 .authority = std::string(url.substr(0, slash)),
                 .path = std::string(url.substr(slash))};
  std::string_view rest = found.authority;
  if (take_prefix(rest, "[")) {
    if (rest.find(']') == std::string_view::npos) return std::nullopt;
    found.host = take_until(rest, ']');
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
  } else {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    found.host = rest.substr(0, colon);
    rest.remove_prefix(colon);
  }
  if (take_prefix(rest, ":") && !rest.empty()) found.port = rest;
  const bool is_number = std::ranges::all_of(found.port, is_digit) && found.port.size() <= 5;
  if (found.host.empty() || !is_number) return std::nullopt;
  return found;
}

PlainPost::PlainPost(OtlpTarget target) : target_(std::move(target)) {
  auto url = plain_url_of(target_.url);
  if (!url) {
    throw InvalidArgument(fmt::format(
        "--otlp {}: must be http://HOST:PORT or http://HOST:PORT/PATH", shell_quoted(target_.url)));
  }
  url_ = std::move(*url);
}

/// Empty: there is a connection now; else why not.
std::string PlainPost::connect(const Until& until) {
  const FoundAddresses found =
      addresses_of(url_, [&] { return until.is_over() || steady_clock::now() >= until.time; });
  std::string failure = found.failure;
  for (const SocketAddress& address : found.addresses) {
    socket_ = Fd(::socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket_) {
      failure = reason_of(errno);
      continue;
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what connect(2) takes
    const auto* const name = reinterpret_cast<const sockaddr*>(&address.bytes);
    int error = ::connect(socket_.get(), name, address.size) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      short seen = 0;
      failure = until.wait(socket_.get(), POLLOUT, seen);
      if (!failure.empty()) break;
      socklen_t size = sizeof error;
      if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    }
    if (error == 0) return {};
    failure = fmt::format("cannot connect to {}: {}", printable(url_.authority), reason_of(error));
  }
  socket_.reset();
  return failure.empty() ? fmt::format("{} has no address", printable(url_.host)) : failure;
}

/// Sends of `request` what the system takes, and leaves the rest.
void PlainPost::send_some(std::string_view& request) const noexcept {
  const ssize_t sent =
      ::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) request.remove_prefix(static_cast<std::size_t>(sent));
  // A collector may refuse a request before it has read all of it: its answer counts.
  if (sent < 0 && errno != EAGAIN && errno != EINTR) request = {};
}

/// Empty: `answer` has what came; else why no more of it comes.
std::string PlainPost::receive_some(HttpAnswer& answer, AnswerExtent& extent) const {
  std::array<char, 16384> room{};
  const ssize_t count = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? std::string() : reason_of(errno);
  if (count > 0) {
    extent = answer.add({room.data(), static_cast<std::size_t>(count)});
    return {};
  }
  extent = answer.end();
  return extent == AnswerExtent::part ? "the collector closed the connection" : "";
}

/// Empty: `answer` is whole; else why not.
std::string PlainPost::exchange(std::string_view request, HttpAnswer& answer, const Until& until) {
  AnswerExtent extent = AnswerExtent::part;
  while (extent == AnswerExtent::part) {
    short seen = 0;
    const auto events = static_cast<short>(request.empty() ? POLLIN : POLLIN | POLLOUT);
    std::string failure = until.wait(socket_.get(), events, seen);
    if (failure.empty() && (seen & POLLOUT) != 0) send_some(request);
    if (failure.empty() && (seen & (POLLIN | POLLHUP | POLLERR)) != 0) {
      failure = receive_some(answer, extent);
    }
    if (!failure.empty()) return failure;
  }
  if (extent == AnswerExtent::garbled) return "the answer is not HTTP";
  if (!answer.keeps_connection() || !request.empty()) socket_.reset();
  return {};
}

OtlpAnswer PlainPost::post(const OtlpBatch& batch, milliseconds timeout,
                           const std::function<bool()>& is_over) {
  const Until until{.time = steady_clock::now() + timeout, .is_over = is_over};
  const std::string_view signal = batch.signal == OtlpSignal::metrics ? "metrics" : "traces";
  std::string request = fmt::format(
      "POST {}/v1/{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: wattle\r\nAccept: */*\r\n"
      "Content-Type: application/json\r\nContent-Length: {}\r\n",
      url_.path, signal, url_.authority, batch.body.size());
  for (const std::string& line : target_.header_lines) request.append(line).append("\r\n");
  request.append("\r\n").append(batch.body);
  while (true) {
    const bool was_kept = static_cast<bool>(socket_);
    std::string failure = was_kept ? std::string() : connect(until);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    HttpAnswer answer(std::chrono::floor<std::chrono::seconds>(now).count());
    if (failure.empty()) failure = exchange(request, answer, until);
    if (failure.empty()) return answer.get();
    socket_.reset();
    // A collector closes connections that nobody used for a while, perhaps just now.
    if (was_kept && !answer.has_begun() && !is_over() && steady_clock::now() < until.time) continue;
    return {.failure = std::move(failure)};
  }
}

std::unique_ptr<OtlpPost> make_post(OtlpTarget target) {
  if (target.url.starts_with("http://")) return std::make_unique<PlainPost>(std::move(target));
  return make_curl_post(std::move(target));
}

}  // namespace wattle::otlp
