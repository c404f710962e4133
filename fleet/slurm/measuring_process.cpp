#include "measuring_process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace wattle::slurm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

int left_until(Clock::time_point end) noexcept {
  const auto left = std::chrono::ceil<milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

/// As exec takes them; valid for as long as `words` stays as it is.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> found;
  found.reserve(words.size() + 1);
  for (std::string& word : words) found.push_back(word.data());
  found.push_back(nullptr);
  return found;
}

// In a forked child of a process with threads: calls of the kernel alone.

/// glibc's functions for this speak to all threads of a process, which a child does not have.
bool become(const User& user) noexcept {
  return ::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
         ::syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0;
}

void reset_signals() noexcept {
  struct sigaction normal {};
  normal.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &normal, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void close_from(unsigned first) noexcept {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  constexpr unsigned kMost = 4096;
  for (unsigned fd = first; fd < kMost; ++fd) ::close(static_cast<int>(fd));
}

[[noreturn]] void become_program(int socket, char* const* words, char* const* environment,
                                 const User& user) noexcept {
  constexpr int kNotExecuted = 127;
  reset_signals();
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) ::dup2(socket, fd);
  close_from(STDERR_FILENO + 1);
  if (become(user) && ::chdir("/") == 0) ::execve(words[0], words, environment);
  const char* const why = ::strerrordesc_np(errno);
  (void)::send(STDERR_FILENO, "cannot be started: ", std::strlen("cannot be started: "),
               MSG_NOSIGNAL);
  (void)::send(STDERR_FILENO, why, std::strlen(why), MSG_NOSIGNAL);
  ::_exit(kNotExecuted);
}

/// The same for `socket`, above the standard descriptors.
int above_standard(int socket) noexcept {
  if (socket > STDERR_FILENO) return socket;
  const int higher = ::fcntl(socket, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(socket);
  return higher;
}

void wait_for(pid_t child) noexcept {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

bool MeasuringProcess::start(std::vector<std::string> words, std::vector<std::string> environment,
                             const User& user) noexcept {
  try {
    const std::vector<char*> arguments = pointers(words);
    const std::vector<char*> variables = pointers(environment);
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
    const int ours = above_standard(ends[0]);
    const int theirs = above_standard(ends[1]);
    const pid_t between = ::fork();
    if (between == 0) {
      ::setsid();
      const pid_t child = ::fork();
      if (child == 0) become_program(theirs, arguments.data(), variables.data(), user);
      ::_exit(child > 0 ? 0 : 1);
    }
    ::close(theirs);
    if (between < 0) {
      ::close(ours);
      return false;
    }
    wait_for(between);
    socket_ = ours;
    group_ = between;
    return true;
  } catch (...) {
    errno = ENOMEM;
    return false;
  }
}

void MeasuringProcess::send(std::string_view line) const noexcept {
  if (socket_ < 0) return;
  (void)::send(socket_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void MeasuringProcess::wait_until_ready(milliseconds limit) const noexcept {
  const auto end = Clock::now() + limit;
  pollfd waited{.fd = socket_, .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, left_until(end)) < 0 && errno == EINTR) {
  }
}

MeasuringProcess::Ending MeasuringProcess::end(milliseconds limit) noexcept {
  constexpr std::size_t kMostText = 4096;
  Ending ending;
  if (socket_ < 0) return ending;
  (void)send("end\n");
  const auto last = Clock::now() + limit;
  for (;;) {
    pollfd waited{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waited, 1, left_until(last));
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 512> chunk{};
    const ssize_t size = ready > 0 ? ::recv(socket_, chunk.data(), chunk.size(), MSG_DONTWAIT) : -1;
    if (size == 0) break;
    // One that writes without end has its limit too.
    ending.is_killed = ready <= 0 || left_until(last) == 0;
    if (ending.is_killed) break;
    if (size > 0 && ending.text.size() + chunk.size() <= kMostText) {
      try {
        ending.text.append(chunk.data(), static_cast<std::size_t>(size));
      } catch (...) {
        // the text is lost
      }
    }
  }
  // It has the socket open, so its group has no other process's number.
  if (ending.is_killed) ::kill(-group_, SIGKILL);
  ::close(socket_);
  socket_ = -1;
  return ending;
}

void run_and_wait(std::vector<std::string> words, milliseconds limit) noexcept {
  try {
    const std::vector<char*> arguments = pointers(words);
    const auto end = Clock::now() + limit;
    const pid_t child = ::fork();
    if (child == 0) {
      reset_signals();
      ::setpgid(0, 0);
      ::dup2(STDERR_FILENO, STDOUT_FILENO);
      ::execve(arguments[0], arguments.data(), environ);
      ::_exit(127);
    }
    if (child < 0) return;
    for (;;) {
      const pid_t ended = ::waitpid(child, nullptr, WNOHANG);
      if (ended == child || (ended < 0 && errno != EINTR)) return;
      const int left = left_until(end);
      if (left == 0) break;
      (void)::poll(nullptr, 0, std::min(left, 2));
    }
    ::kill(-child, SIGKILL);
    wait_for(child);
  } catch (...) {
    // nothing is printed
  }
}

}  // namespace wattle::slurm
