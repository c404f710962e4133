#include "git_dirty.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/clock.hpp"
#include "base/fd.hpp"

namespace wattle::app {
namespace {

/// Becomes git, with its output on `out`. Only calls that are safe in a forked child of a process
/// without threads.
[[noreturn]] void become_git(const char* worktree, int out) noexcept {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::dup2(out, STDOUT_FILENO);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  ::setenv("GIT_OPTIONAL_LOCKS", "0", 1);  // it only reads
  // A program that the repository names must not run because of a measurement.
  ::execlp("git", "git", "-C", worktree, "-c", "core.fsmonitor=false", "status", "--porcelain",
           "--untracked-files=no", nullptr);
  constexpr int kNoGit = 127;
  ::_exit(kNoGit);
}

/// True once there is something to read, or the end.
bool is_readable_by(int fd, TimePoint deadline) noexcept {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - machine_clock().now());
    if (left.count() <= 0) return false;
    pollfd waited{fd, POLLIN, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// The status of `pid`, which has closed its output or was killed; absent if it does not end.
std::optional<int> status_by(pid_t pid, TimePoint deadline) noexcept {
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) return status;
    if (machine_clock().now() >= deadline) return std::nullopt;
    ::usleep(1000);
  }
}

}  // namespace

std::optional<pid_t> find_dirty(GitState& git, std::chrono::milliseconds limit) {
  const auto unknown = [&](const char* why) {
    if (git.unknown.empty()) git.unknown = why;
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    unknown("git status could not be started");
    return std::nullopt;
  }
  const Fd out(ends[0]);
  Fd in(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) become_git(git.worktree.c_str(), in.get());
  in.reset();
  if (pid < 0) {
    unknown("git status could not be started");
    return std::nullopt;
  }
  const TimePoint deadline = machine_clock().now() + limit;
  const bool has_answered = is_readable_by(out.get(), deadline);
  char first = 0;
  const bool has_changes = has_answered && ::read(out.get(), &first, 1) == 1;
  // The first line is enough.
  if (has_changes || !has_answered) ::kill(pid, SIGKILL);
  constexpr std::chrono::milliseconds kGrace{200};
  const auto status = status_by(pid, machine_clock().now() + kGrace);
  if (has_changes) {
    git.dirty = true;
  } else if (has_answered && status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0) {
    git.dirty = false;
  } else {
    unknown(has_answered ? "git status failed, or there is no git" : "git status took too long");
  }
  return status ? std::nullopt : std::optional(pid);
}

}  // namespace wattle::app
