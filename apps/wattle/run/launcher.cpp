#include "run/launcher.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/marks.hpp"
#include "base/text/split.hpp"
#include "cli/answer.hpp"
#include "cli/ending.hpp"
#include "cli/privileges.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// Messages of the launcher, before it becomes the command and if it cannot.
struct Message {
  std::int32_t exec_error;  ///< 0: about to execute
  std::int64_t peak_rss_kib;
};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

/// The message that opens the gate: a byte, and the path of a socket. A path of a socket has 107
/// bytes.
constexpr std::size_t kMostGateBytes = 128;

/// The environment of the command, with room for `kMarkVariable`. It is made before the fork: the
/// launcher would copy half of this process's heap, page by page, to add a variable itself.
class CommandEnvironment {
 public:
  CommandEnvironment() : mark_(std::string(kMarkVariable) + "=") {
    const std::size_t name_bytes = mark_.size();
    mark_.resize(name_bytes + kMostGateBytes);
    mark_value_ = mark_.data() + name_bytes;
    entries_.push_back(nullptr);  // of the mark
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const bool is_mark = std::strncmp(*entry, mark_.data(), name_bytes) == 0;
      (is_mark ? entries_.front() : entries_.emplace_back()) = *entry;
    }
    entries_.push_back(nullptr);
  }

  /// Only what is safe in a forked child. Without `path`: as they are.
  [[nodiscard]] char* const* with_mark(std::string_view path) noexcept {
    if (!path.empty()) {
      mark_value_[path.copy(mark_value_, kMostGateBytes - 1)] = '\0';
      entries_.front() = mark_.data();
    }
    return entries_.data() + (entries_.front() == nullptr ? 1 : 0);
  }

 private:
  std::string mark_;  ///< "WATTLE_RUN=" and room for a value
  char* mark_value_;
  std::vector<char*> entries_;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error("cannot make a pipe: " + std::generic_category().message(errno));
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

void say(int fd, const Message& message) noexcept {
  // Smaller than PIPE_BUF: written whole or not at all; the reader copes with its absence.
  while (::write(fd, &message, sizeof message) < 0 && errno == EINTR) {
  }
}

/// Waits at the gate, then becomes the command. Only calls that are safe in a forked child.
[[noreturn]] void wait_and_exec(int gate, int answer, char* const* argv,
                                CommandEnvironment& environment, const CommandStreams& streams,
                                const InheritedSignals& signals) noexcept {
  drop_privileges();
  std::array<char, kMostGateBytes> released{};
  ssize_t count = 0;
  do {
    count = ::read(gate, released.data(), kMostGateBytes);
  } while (count < 0 && errno == EINTR);
  if (count < 1) ::_exit(kRunFailed);  // the wrapper is gone
  const std::string_view mark(released.data() + 1, static_cast<std::size_t>(count) - 1);
  char* const* const variables = environment.with_mark(mark);

  rusage self{};
  ::getrusage(RUSAGE_SELF, &self);
  say(answer, {.exec_error = 0, .peak_rss_kib = self.ru_maxrss});
  if (streams.in >= 0) ::dup2(streams.in, STDIN_FILENO);
  if (streams.out >= 0) ::dup2(streams.out, STDOUT_FILENO);
  if (streams.error >= 0) ::dup2(streams.error, STDERR_FILENO);
  signals.restore();
  ::execvpe(argv[0], argv, variables);
  const int error = errno;
  say(answer, {.exec_error = error, .peak_rss_kib = 0});
  ::_exit(ExecFailure{error}.exit_status());
}

/// True if a folder of PATH that can be searched holds `name`.
bool is_in_path(const std::string& name) {
  const char* value = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view rest = value != nullptr ? value : "";
  while (!rest.empty()) {
    const std::string folder(take_until(rest, ':'));
    if (::access(((folder.empty() ? "." : folder) + "/" + name).c_str(), F_OK) == 0) return true;
  }
  return false;
}

/// For a command that is in no folder of PATH, execvp reports "permission denied" if it could not
/// search one of them. For its user that command does not exist.
int error_for_user(int error, const std::string& name) {
  const bool was_searched = name.find('/') == std::string::npos;
  return error == EACCES && was_searched && !is_in_path(name) ? ENOENT : error;
}

}  // namespace

int ExecFailure::exit_status() const noexcept {
  constexpr int kNotFound = 127;
  constexpr int kNotExecutable = 126;
  return error_number == ENOENT || error_number == ENOTDIR ? kNotFound : kNotExecutable;
}

InheritedSignals::InheritedSignals() noexcept {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
  ::sigaction(SIGCHLD, nullptr, &child_);
  ::sigaction(SIGPIPE, nullptr, &pipe_);
  ::sigaction(SIGXFSZ, nullptr, &file_size_);
}

void InheritedSignals::restore() const noexcept {
  ::sigaction(SIGCHLD, &child_, nullptr);
  ::sigaction(SIGPIPE, &pipe_, nullptr);
  ::sigaction(SIGXFSZ, &file_size_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

Launcher::Launcher(std::vector<std::string> command, const CommandStreams& streams,
                   const InheritedSignals& signals)
    : name_(command.front()) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  CommandEnvironment environment;
  Pipe gate = make_pipe();
  Pipe answer = make_pipe();

  pid_ = ::fork();
  if (pid_ < 0) throw Error("cannot fork: " + std::generic_category().message(errno));
  if (pid_ == 0) {
    gate.write_end.reset();  // else it would keep its own gate open
    wait_and_exec(gate.read_end.get(), answer.write_end.get(), argv.data(), environment, streams,
                  signals);
  }
  gate_ = std::move(gate.write_end);
  answer_ = std::move(answer.read_end);
}

void Launcher::release(std::string_view mark_socket) {
  std::string go = "g";
  if (mark_socket.size() < kMostGateBytes) go += mark_socket;
  const int error = write_all(gate_.get(), go);
  gate_.reset();
  // If the launcher was killed, that is the command's end: SIGPIPE is ignored by now.
  if (error != 0 && error != EPIPE) {
    throw Error("cannot start the command: " + std::generic_category().message(error));
  }
  end_as_command(pid_);
}

std::optional<ExecFailure> Launcher::wait_for_exec() {
  for (;;) {
    Message message{};
    const ssize_t count = ::read(answer_.get(), &message, sizeof message);
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof message) return std::nullopt;  // closed by the exec
    if (message.exec_error != 0) return ExecFailure{error_for_user(message.exec_error, name_)};
    own_peak_rss_bytes_ = static_cast<std::uint64_t>(message.peak_rss_kib) * 1024;
  }
}

}  // namespace wattle::app
