#include "control/command_runner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

#include "control/one_command.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

/// Covers the start of the process, and the wait for output after a command's end.
constexpr std::chrono::seconds kCommandGrace{3};
constexpr std::size_t kMostAnswerBytes = 8192;

/// A request of the daemon. The socket for its answer comes with it.
struct CommandRequest {
  std::uint32_t operation = 0;
  std::uint32_t gpu = 0;
  std::array<std::uint32_t, 2> values{};
};

/// Two ends of a connection with message boundaries.
std::pair<Fd, Fd> connected_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
  return {Fd(ends[0]), Fd(ends[1])};
}

/// A request for sendmsg and recvmsg, with room for one descriptor.
struct RequestMessage {
  explicit RequestMessage(CommandRequest& asked)
      : bytes{.iov_base = &asked, .iov_len = sizeof asked} {
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
  RequestMessage(const RequestMessage&) = delete;
  RequestMessage& operator=(const RequestMessage&) = delete;

  iovec bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
};

/// 0, or an `errno`.
int send_request(int socket, CommandRequest asked, int answer_to) {
  RequestMessage request(asked);
  cmsghdr* const header = CMSG_FIRSTHDR(&request.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &answer_to, sizeof answer_to);
  return ::sendmsg(socket, &request.message, MSG_NOSIGNAL) == sizeof asked ? 0 : errno;
}

/// Receives the next request and the socket for its answer; an empty `Fd`: an invalid request.
/// False: the daemon is gone.
bool receive_request(int socket, CommandRequest& asked, Fd& answer_to) {
  RequestMessage request(asked);
  const ssize_t size = ::recvmsg(socket, &request.message, MSG_CMSG_CLOEXEC);
  if (size == 0) return false;
  if (size < 0) return errno == EINTR;
  const cmsghdr* const header = CMSG_FIRSTHDR(&request.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return true;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  answer_to = Fd(fd);
  if (size != sizeof asked || asked.operation >= kControlOperations) answer_to.reset();
  return true;
}

/// Runs the requested commands, and answers with the reason of a failure, or nothing.
void run_asked(const CommandOverrides& overrides, const CommandRequest& asked, int answer_to) {
  const ControlCall call{static_cast<ControlOperation>(asked.operation), asked.values};
  const CommandOverride* const found = overrides.find(call.operation);
  std::string failure = "there is no such command";
  if (found != nullptr) {
    failure.clear();
    for (const std::vector<std::string>& command : found->commands) {
      failure = run_command(fill_in(command, call, asked.gpu), *found);
      if (!failure.empty()) break;
    }
  }
  failure.resize(std::min(failure.size(), kMostAnswerBytes - 1));
  // The first byte distinguishes an empty answer from a closed connection.
  failure.insert(failure.begin(), ':');
  (void)::send(answer_to, failure.data(), failure.size(), MSG_NOSIGNAL);
}

/// The main loop of the process: a child for each request, so that requests for several GPUs run in
/// parallel.
[[noreturn]] void take_requests(int socket, const CommandOverrides& overrides) {
  // It ends with the daemon, which needs it to restore settings, and not by a signal to both.
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    (void)std::signal(signal, SIG_IGN);
  }
  (void)std::signal(SIGCHLD, SIG_IGN);
  CommandRequest asked;
  Fd answer_to;
  while (receive_request(socket, asked, answer_to)) {
    if (!answer_to) continue;
    const pid_t child = ::fork();
    if (child == 0) {
      (void)std::signal(SIGCHLD, SIG_DFL);
      run_asked(overrides, asked, answer_to.get());
      ::_exit(0);
    }
    answer_to.reset();
  }
  ::_exit(0);
}

/// Commands inherit none of the daemon's descriptors except stderr.
int keep_only(int socket) {
  constexpr int kPlace = 3;
  if (socket != kPlace) {
    ::dup3(socket, kPlace, O_CLOEXEC);
  }
  ::syscall(SYS_close_range, kPlace + 1U, ~0U, 0U);
  return kPlace;
}

}  // namespace

CommandRunner::CommandRunner(CommandOverrides overrides) : overrides_(std::move(overrides)) {
  auto [ours, theirs] = connected_pair();
  const pid_t child = ours ? ::fork() : -1;
  if (child < 0) {
    throw Error("cannot start the process that runs commands: " +
                std::generic_category().message(errno));
  }
  if (child == 0) {
    ours.reset();
    // Commands do not get the service manager's variables.
    for (const char* const name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID"}) {
      ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
    }
    take_requests(keep_only(theirs.get()), overrides_);
  }
  requests_ = std::move(ours);
}

std::chrono::seconds CommandRunner::longest(ControlOperation operation) const noexcept {
  const CommandOverride* const found = overrides_.find(operation);
  if (found == nullptr) return {};
  const auto each = found->timeout + kCommandGrace;
  return each * static_cast<std::int64_t>(found->commands.size());
}

std::optional<std::string> CommandRunner::run(const ControlCall& call, std::uint32_t gpu) const {
  constexpr const char* kGone = "the process that runs commands is gone; restart the daemon";
  auto [ours, theirs] = connected_pair();
  if (!ours) return "cannot make a socket: " + std::generic_category().message(errno);
  const CommandRequest asked{
      .operation = static_cast<std::uint32_t>(call.operation), .gpu = gpu, .values = call.values};
  if (send_request(requests_.get(), asked, theirs.get()) != 0) return kGone;
  theirs.reset();
  pollfd answer{.fd = ours.get(), .events = POLLIN, .revents = 0};
  const std::chrono::milliseconds patience = longest(call.operation) + kCommandGrace;
  constexpr std::int64_t kMostWait = std::numeric_limits<int>::max();  // 24 days
  if (::poll(&answer, 1, static_cast<int>(std::min(patience.count(), kMostWait))) == 0) {
    return "its commands did not end in time";
  }
  std::string failure(kMostAnswerBytes, '\0');
  const ssize_t size = ::recv(ours.get(), failure.data(), failure.size(), 0);
  if (size <= 0) return kGone;
  failure.resize(static_cast<std::size_t>(size));
  if (failure.size() == 1) return std::nullopt;
  return failure.substr(1);
}

}  // namespace wattle::daemon
