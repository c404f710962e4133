#include "history/git_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "base/files/fd.hpp"

namespace wattle::app {
namespace {

/// Switches off programs that a repository may name and git would start.
constexpr std::array<std::string_view, 4> kSettings = {
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "status.submoduleSummary=false",
    "core.sshCommand=false"};

/// Becomes git, with its output on `out`, in a process group of its own. Only calls that are safe
/// in a forked child of a process without threads.
[[noreturn]] void become_git(const std::vector<char*>& words, int out) noexcept {
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::dup2(out, STDOUT_FILENO);
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread
  ::setenv("GIT_OPTIONAL_LOCKS", "0", 1);  // it only reads
  // Objects that are missing are not fetched.
  ::setenv("GIT_NO_LAZY_FETCH", "1", 1);
  ::setenv("GIT_ALLOW_PROTOCOL", "none", 1);
  ::setenv("GIT_TERMINAL_PROMPT", "0", 1);
  // NOLINTEND(concurrency-mt-unsafe)
  ::execvp("git", words.data());
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

/// Everything until the end, or as much as is kept. False: the deadline came first.
bool read_by(int fd, TimePoint deadline, std::string& into) {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  std::array<char, 4096> part{};
  while (into.size() < kMost) {
    if (!is_readable_by(fd, deadline)) return false;
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    into.append(part.data(), static_cast<std::size_t>(count));
  }
  return true;
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

void GitCommand::set(const std::string& name, const std::string& value) {
  settings_.push_back(name + "=" + value);
}

GitCommand::GitAnswer GitCommand::run(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"git", "-C", worktree_};
  const auto add = [&](std::string_view setting) {
    all.emplace_back("-c");
    all.emplace_back(setting);
  };
  std::ranges::for_each(kSettings, add);
  std::ranges::for_each(settings_, add);
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  pointers.reserve(all.size() + 1);
  for (std::string& word : all) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  GitAnswer answer;
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return answer;
  const Fd out(ends[0]);
  Fd in(ends[1]);
  const pid_t pid = ::fork();
  if (pid == 0) become_git(pointers, in.get());
  in.reset();
  if (pid < 0) return answer;
  ::setpgid(pid, pid);  // whichever of both is first
  const bool is_in_time = read_by(out.get(), deadline_, answer.out);
  constexpr std::chrono::milliseconds kGrace{200};
  std::optional<int> status;
  if (is_in_time) status = status_by(pid, std::min(deadline_, machine_clock().now() + kGrace));
  if (!status) {
    is_late_ = true;
    ::kill(-pid, SIGKILL);
    if (!status_by(pid, machine_clock().now() + kGrace)) left_.insert(pid);
  } else if (WIFEXITED(*status)) {
    answer.code = WEXITSTATUS(*status);
  }
  return answer;
}

}  // namespace wattle::app
