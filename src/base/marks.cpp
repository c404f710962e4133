#include "base/marks.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "base/json/enum_table.hpp"
#include "base/log.hpp"
#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/unix_address.hpp"
#include "wattle/mark.hpp"

namespace wattle {
namespace {

constexpr std::array<std::string_view, 6> kMarkWords = {"start", "end",  "next",
                                                        "read",  "unit", "unit_end"};
/// With the word and a blank.
constexpr std::size_t kMostMarkText = kMostMarkBytes + 8;

/// `name` without what is too long, and without a part of a character at its end.
std::string_view shortened(std::string_view name) noexcept {
  if (name.size() <= kMostMarkBytes) return name;
  std::size_t end = kMostMarkBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;
  return name.substr(0, end > 0 ? end : kMostMarkBytes);
}

/// A name as it was sent. A shell's echo ends the last line; nor does a name end in empty ones.
std::string_view received_name(std::string_view text) noexcept {
  std::string_view name = shortened(text);
  while (name.ends_with('\n')) name.remove_suffix(1);
  return name;
}

/// The text in a buffer of the caller's: no allocation. How many bytes.
std::size_t write_mark(MarkKind kind, std::string_view name,
                       std::array<char, kMostMarkText>& into) noexcept {
  const std::string_view word = kMarkWords.at(static_cast<std::size_t>(kind));
  char* end = std::ranges::copy(word, into.data()).out;
  if (!name.empty()) {
    *end++ = ' ';
    end = std::ranges::copy(shortened(name), end).out;
  }
  return static_cast<std::size_t>(end - into.data());
}

/// The word of a unit that starts in a trace.
constexpr std::string_view kTracedUnit = "unit_trace";

/// `rest`: what follows the word.
std::optional<Mark> parse_unit_mark(MarkKind kind, std::string_view rest, bool has_trace) {
  const std::string_view id = take_until(rest, ' ');
  const auto number = parse_double(take_until(rest, ' '));
  const auto trace = has_trace ? parse_traceparent(take_until(rest, ' ')) : std::nullopt;
  const std::string_view tag = received_name(rest);
  if (id.empty() || id.size() > kMostUnitIdBytes || tag.empty()) return std::nullopt;
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return Mark{.kind = kind,
              .name = std::string(tag),
              .id = std::string(id),
              .number = *number,
              .trace = trace};
}

/// The socket of this process, connected to its run; -1: none. Kept for the life of the process,
/// also by children, which belong to the same run.
std::atomic<int>& mark_socket() noexcept {
  static std::atomic<int> socket{-1};
  return socket;
}

int connect_to_run(const char* path) noexcept {
  const auto address = UnixAddress::of(path);
  if (!address) return -ENAMETOOLONG;
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  if (::connect(fd, address->get(), address->size()) != 0) {
    // Gone with the run that made it.
    const int error = errno == ENOENT ? ECONNREFUSED : errno;
    ::close(fd);
    return -error;
  }
  return fd;
}

/// The socket, or an `errno`, negative.
int socket_of_run() noexcept {
  const int kept = mark_socket().load();
  if (kept >= 0) return kept;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a program that changes its variables during the call is
  // wrong
  const char* const path = ::secure_getenv(kMarkVariable);
  if (path == nullptr || *path == '\0') return -ENOENT;
  const int fd = connect_to_run(path);
  if (fd < 0) return fd;
  int none = -1;
  if (mark_socket().compare_exchange_strong(none, fd)) return fd;
  ::close(fd);  // another thread was first
  return none;
}

/// The log line for a rejected mark.
void explain(int error) noexcept {
  static std::atomic<bool> is_said{false};
  if (is_said.exchange(true)) return;
  try {
    if (error == ENOENT) {
      log("phases are not recorded: this program does not run under wattle run");
    } else {
      log("phases are not recorded: wattle run does not take marks: " +
          std::generic_category().message(error));
    }
  } catch (const std::exception&) {
    return;  // no memory for a message
  }
}

bool sent(MarkKind kind, std::string_view name) noexcept {
  const int error = send_mark(kind, name);
  if (error != 0) explain(error);
  return error == 0;
}

}  // namespace

std::string mark_text(MarkKind kind, std::string_view name) {
  std::array<char, kMostMarkText> text{};
  return {text.data(), write_mark(kind, name, text)};
}

std::string unit_mark_text(const Mark& mark) {
  std::array<char, 32> number{};
  const auto written = std::to_chars(number.data(), number.data() + number.size(), mark.number);
  const bool is_traced = mark.kind == MarkKind::unit && mark.trace;
  std::string text(is_traced ? kTracedUnit : kMarkWords.at(static_cast<std::size_t>(mark.kind)));
  text += " " + mark.id + " " + std::string(number.data(), written.ptr) + " ";
  if (is_traced) text += traceparent_text(*mark.trace) + " ";
  return text += shortened(mark.name);
}

std::optional<Mark> parse_mark(std::string_view text) {
  std::string_view rest = text;
  std::string_view word = take_until(rest, ' ');
  if (rest.empty() && word.ends_with('\n')) word.remove_suffix(1);
  if (word == kTracedUnit) return parse_unit_mark(MarkKind::unit, rest, true);
  const auto kind = enumerator_of<MarkKind>(kMarkWords, word);
  if (!kind) return std::nullopt;
  if (kind == MarkKind::unit || kind == MarkKind::unit_end)
    return parse_unit_mark(*kind, rest, false);
  const std::string_view name = received_name(rest);
  const bool has_name = kind == MarkKind::start || kind == MarkKind::next;
  if (name.empty() && has_name) return std::nullopt;
  return Mark{.kind = *kind, .name = std::string(name)};
}

int send_mark(MarkKind kind, std::string_view name) noexcept {
  std::array<char, kMostMarkText> text{};
  return send_mark_text({text.data(), write_mark(kind, name, text)});
}

int send_mark_text(std::string_view text) noexcept {
  const int fd = socket_of_run();
  if (fd < 0) return -fd;
  constexpr int kPatienceMs = 20;
  // A run that is stopped must not slow down each of its marks.
  static std::atomic<bool> has_given_up{false};
  for (bool has_waited = has_given_up.load();; has_waited = true) {
    if (::send(fd, text.data(), text.size(), MSG_NOSIGNAL) >= 0) {
      has_given_up = false;
      return 0;
    }
    const int error = errno;
    if (error == EINTR) continue;
    if (error == EAGAIN) has_given_up = has_waited;
    if (error != EAGAIN || has_waited) return error;
    // The queue of a socket holds few datagrams (net.unix.max_dgram_qlen).
    pollfd waited{fd, POLLOUT, 0};
    (void)::poll(&waited, 1, kPatienceMs);
  }
}

bool mark(std::string_view name) noexcept { return !name.empty() && sent(MarkKind::start, name); }

bool end_mark(std::string_view name) noexcept { return sent(MarkKind::end, name); }

}  // namespace wattle
