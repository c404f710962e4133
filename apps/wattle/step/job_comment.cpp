#include "step/job_comment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <system_error>
#include <thread>

namespace wattle::app {
namespace {

/// Starts `words` without streams, with default signals; 0 or an error number.
int start(pid_t& pid, std::array<std::string, 4> words) {
  std::array<char*, 5> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

std::string set_job_comment(const std::string& job, const std::string& text,
                            std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kPause{5};
  pid_t pid = -1;
  const int error = start(pid, {"scontrol", "update", "JobId=" + job, "Comment=" + text});
  if (error != 0) return "cannot start scontrol: " + std::generic_category().message(error);
  int status = 0;
  for (auto left = limit; ::waitpid(pid, &status, WNOHANG) == 0; left -= kPause) {
    if (left <= kPause) {
      ::kill(pid, SIGKILL);
      (void)::waitpid(pid, &status, 0);
      return fmt::format("scontrol did not answer within {} ms", limit.count());
    }
    std::this_thread::sleep_for(kPause);
  }
  return status == 0 ? "" : "scontrol update failed";
}

}  // namespace wattle::app
