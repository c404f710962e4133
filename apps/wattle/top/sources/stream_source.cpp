#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/files/fd.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/answer.hpp"
#include "cli/privileges.hpp"
#include "top/sources/source.hpp"
#include "top/sources/streamed_machines.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

struct ClientPipe {
  Fd read;
  Fd write;
};

ClientPipe make_client_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error("cannot make a pipe: " + std::generic_category().message(errno));
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Fd(ends[0]), Fd(ends[1])};
}

/// Readable where one of both is.
Fd either_readable(const Fd& one, const Fd& other) {
  Fd ready(::epoll_create1(EPOLL_CLOEXEC));
  for (const Fd* const fd : {&one, &other}) {
    epoll_event event{.events = EPOLLIN, .data = {}};
    if (!ready || ::epoll_ctl(ready.get(), EPOLL_CTL_ADD, fd->get(), &event) != 0) {
      throw Error("cannot wait for wattle stream: " + std::generic_category().message(errno));
    }
  }
  return ready;
}

/// Everything that can be read now; false at the end.
bool read_available(std::string& text, const Fd& fd, std::size_t most) {
  std::array<char, 16384> bytes;
  while (text.size() < most) {
    const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
    if (count == 0) return false;
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return true;
}

/// `wattle stream`, a program of its own, in the place of a client: this one does without libcurl.
class StreamSource : public TopSource {
 public:
  explicit StreamSource(const TopOptions& options)
      : options_(options), machines_(options.servers.size()) {
    drop_privileges();
    start();
  }
  ~StreamSource() override { (void)end(); }

  [[nodiscard]] int fd() const noexcept override { return ready_ ? ready_.get() : -1; }

  [[nodiscard]] std::optional<TopObservation> take() override {
    constexpr std::size_t kMostText = std::size_t{16} << 20U;
    read_messages();
    const bool goes_on = read_available(text_, out_.read, kMostText);
    bool is_new = false;
    std::string_view rest = text_;
    while (rest.find('\n') != std::string_view::npos) is_new |= machines_.take(take_line(rest));
    text_ = rest.size() < kMostText ? std::string(rest) : std::string();
    if (!goes_on) fail();
    if (!is_new) return std::nullopt;
    has_started_ = true;
    return machines_.observe();
  }

  void reset() override {
    (void)end();
    machines_ = StreamedMachines(options_.servers.size());
    text_.clear();
    messages_.clear();
    has_started_ = false;
    start();
  }

 private:
  void start() {
    out_ = make_client_pipe();
    errors_ = make_client_pipe();
    ready_ = either_readable(out_.read, errors_.read);
    std::error_code unknown;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    const std::string program = (self.parent_path() / "wattle-stream").string();
    std::vector<std::string> words = {"wattle-stream", "--json", "--energy", "--period",
                                      fmt::format("{}", Seconds(options_.length).count())};
    if (!options_.token_file.empty()) words.push_back("--token-file=" + options_.token_file);
    if (!options_.ca_file.empty()) words.push_back("--ca-file=" + options_.ca_file);
    words.insert(words.end(), options_.servers.begin(), options_.servers.end());
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ < 0) throw Error("cannot start " + program);
    if (child_ == 0) execute(program.c_str(), argv.data(), nothing.get(), parent);
    out_.write.reset();
    errors_.write.reset();
  }

  /// In the child.
  [[noreturn]] void execute(const char* program, char* const* argv, int nothing,
                            pid_t parent) const noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(1);
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out_.write.get(), STDOUT_FILENO);
    ::dup2(errors_.write.get(), STDERR_FILENO);
    ::execv(program, argv);
    constexpr std::string_view kMessage =
        "wattle-stream cannot be started; it is installed with wattle where libcurl is found\n";
    if (::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) ::_exit(1);
    ::_exit(1);
  }

  /// The exit status of the client; absent where it did not exit by itself.
  std::optional<int> end() noexcept {
    if (child_ <= 0) return std::nullopt;
    ::kill(child_, SIGTERM);
    ::kill(child_, SIGCONT);
    ready_.reset();
    out_ = {};
    errors_ = {};
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

  /// The client would wait for a reader of its messages. The last ones are kept.
  void read_messages() {
    constexpr std::size_t kMostAtOnce = std::size_t{64} << 10U;
    constexpr std::size_t kMostKept = 4096;
    if (!errors_.read) return;
    if (!read_available(messages_, errors_.read, kMostAtOnce)) errors_.read.reset();
    if (messages_.size() > kMostKept) messages_.erase(0, messages_.size() - kMostKept);
  }

  /// The client ends by itself. Its first message says why it could not start, its last one why it
  /// did not go on.
  [[noreturn]] void fail() {
    read_messages();
    out_.read.reset();
    const std::optional<int> status = end();
    std::string text;
    std::string_view rest = messages_;
    while (!rest.empty() && (text.empty() || has_started_)) {
      std::string_view line = take_line(rest);
      if (take_prefix(line, "wattle stream: ")) text = printable(line);
    }
    if (text.empty()) text = "wattle stream has ended";
    if (status == kUsageError) throw InvalidArgument(text);
    throw NoSuchDevice(text);
  }

  const TopOptions& options_;
  StreamedMachines machines_;
  ClientPipe out_{};
  ClientPipe errors_{};
  Fd ready_{};  ///< readable where `out_` or `errors_` is
  std::string text_{};
  std::string messages_{};
  bool has_started_ = false;  ///< there were readings
  pid_t child_ = -1;
};

}  // namespace

std::unique_ptr<TopSource> make_stream(const TopOptions& options) {
  return std::make_unique<StreamSource>(options);
}

}  // namespace wattle::app
