#include "control/one_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

using Stopwatch = std::chrono::steady_clock;

/// Bytes kept of stdout and of stderr; the rest is read and dropped.
constexpr std::size_t kMostOutputBytes = std::size_t{64} << 10U;
/// Bytes of each in a message.
constexpr std::size_t kShownOutput = 1000;
/// Children of a command may hold its output open for ever.
constexpr std::chrono::seconds kOutputGrace{1};
constexpr int kLookMs = 10;

/// The output of a command on one descriptor.
struct CommandOutput {
  Fd read;
  Fd write;
  std::string text;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return false;
    read = Fd(ends[0]);
    write = Fd(ends[1]);
    // Programs do not expect a non-blocking descriptor.
    return ::fcntl(write.get(), F_SETFL, 0) == 0;
  }
  void take() {
    std::array<char, 4096> room{};
    while (read) {
      const ssize_t size = ::read(read.get(), room.data(), room.size());
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size <= 0) {
        read.reset();
        return;
      }
      const std::size_t left = kMostOutputBytes - text.size();
      text.append(room.data(), std::min(left, static_cast<std::size_t>(size)));
    }
  }
};

class Command {
 public:
  explicit Command(const std::vector<std::string>& words) : line_(shell_line(words)) {}

  /// The error; empty: it runs.
  std::string start(std::vector<std::string> words) {
    if (!out_.open() || !err_.open())
      return "cannot be started: " + std::generic_category().message(errno);
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, out_.write.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, err_.write.get(), STDERR_FILENO);
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    const int error =
        ::posix_spawnp(&pid_, argv.front(), &files, &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    out_.write.reset();
    err_.write.reset();
    return error == 0 ? std::string()
                      : "cannot be started: " + std::generic_category().message(error);
  }

  /// Its wait status; absent: it took too long and was killed.
  std::optional<int> wait(std::chrono::seconds timeout) {
    const Stopwatch::time_point deadline = Stopwatch::now() + timeout;
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      if (Stopwatch::now() >= deadline) {
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, &status, 0);
        return std::nullopt;
      }
      look();
    }
    return status;
  }

  /// True: all of its output has arrived.
  bool collect_output() {
    const Stopwatch::time_point deadline = Stopwatch::now() + kOutputGrace;
    while ((out_.read || err_.read) && Stopwatch::now() < deadline) look();
    return !out_.read && !err_.read;
  }

  [[nodiscard]] std::string output() const { return out_.text + err_.text; }

  [[nodiscard]] std::string failure(std::string_view why) const {
    return fmt::format("command '{}' {}; stdout: {}; stderr: {}", line_, why,
                       printable(out_.text, kShownOutput), printable(err_.text, kShownOutput));
  }

 private:
  /// Reads its output for a moment.
  void look() {
    std::array<pollfd, 2> fds{{{.fd = out_.read.get(), .events = POLLIN, .revents = 0},
                               {.fd = err_.read.get(), .events = POLLIN, .revents = 0}}};
    (void)::poll(fds.data(), fds.size(), kLookMs);
    out_.take();
    err_.take();
  }

  std::string line_;
  CommandOutput out_;
  CommandOutput err_;
  pid_t pid_ = -1;
};

/// The error in its exit status; empty: none.
std::string trouble_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? std::string() : fmt::format("exited with code {}", code);
}

}  // namespace

std::string run_command(const std::vector<std::string>& words, const CommandOverride& how) {
  Command command(words);
  if (const std::string trouble = command.start(words); !trouble.empty()) {
    return command.failure(trouble);
  }
  const std::optional<int> status = command.wait(how.timeout);
  const bool is_whole = command.collect_output();
  if (!status) return command.failure(fmt::format("timed out after {}s", how.timeout.count()));
  if (const std::string trouble = trouble_of(*status); !trouble.empty()) {
    return command.failure(trouble);
  }
  if (!how.error_pattern) return {};
  if (!is_whole) {
    return command.failure(
        "succeeded, but a program that it has started holds its output open: "
        "error_pattern could not be checked");
  }
  if (!how.error_pattern->matches(command.output())) return {};
  return command.failure(fmt::format("succeeded but its output matched error_pattern '{}'",
                                     printable(how.error_pattern->text())));
}

}  // namespace wattle::daemon
