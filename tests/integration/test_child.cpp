// The command that the tests give to wattle. Its arguments are actions, done one after the other:
//
//   print TEXT           a line on stdout
//   pid                  its own process number, as a line on stdout
//   wrapper              the number of the process that was its parent at the start, likewise
//   copy                 stdin to stdout, to the end
//   read_line            waits for a line on stdin
//   read_all             waits for the end of stdin
//   exit N | raise N     ends at once; by signal N
//   burn MS              uses that much processor time
//   record FILE          appends the processor time it used so far, in nanoseconds
//   touch MIB            takes that much memory and keeps it
//   share MIB            the same, of memory that its children share
//   map GIB              takes 64 MiB and maps them so often that this is their sum
//   threads N            starts threads that wait for ever
//   crowd N              makes processes, with no memory of their own, that wait for ever
//   ignore_children      nobody is told that they end: the kernel forgets what they used
//   block                blocks the signals that wattle forwards
//   signals              blocks them, prints "ready", then the name of each that comes, to TERM
//   send_wrapper N       sends signal N to that parent
//   fds FILE             writes the numbers of the open descriptors
//   state FILE           writes what a program inherits (state.hpp)
//   pause                waits for ever
//   spawn [ ... ]        does these actions in a child, and waits for it
//   background [ ... ]   the same without waiting; `join` waits for all of them
//   daemon [ ... ]       in an orphan of another session; waits until it ends or says `detach`
//   repeat N [ ... ]     does them N times
//
// It ends by itself in any case after two minutes: no test leaves anything behind for good.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "state.hpp"

namespace {

constexpr unsigned kLongestLifeS = 120;

const pid_t wrapper = ::getppid();
/// Where a daemon tells the process that waits for it to go on; -1 in all others.
int detach_fd = -1;

std::int64_t cpu_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * std::int64_t{1'000'000'000} + used.tv_nsec;
}

void print_line(const std::string& text) {
  const std::string line = text + "\n";
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(EXIT_FAILURE);
}

/// One write: lines of several processes do not mix.
void append_line(const std::string& path, const std::string& text) {
  const std::string line = text + "\n";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0 || ::write(fd, line.data(), line.size()) < 0) throw std::runtime_error(path);
  ::close(fd);
}

void copy() {
  std::array<char, 65536> chunk;
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count <= 0) return;
    if (::write(STDOUT_FILENO, chunk.data(), static_cast<std::size_t>(count)) != count) {
      std::_Exit(EXIT_FAILURE);
    }
  }
}

void read_until(char wanted) {
  char c = 0;
  while (::read(STDIN_FILENO, &c, 1) == 1 && c != wanted) {
  }
}

void burn(std::int64_t ms) {
  const std::int64_t until = cpu_ns() + ms * 1'000'000;
  volatile std::uint64_t sum = 0;
  while (cpu_ns() < until) {
    for (std::uint64_t i = 0; i < 2000; ++i) sum = sum + i * i;
  }
}

void touch(std::size_t mib) {
  const std::size_t bytes = mib << 20U;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap");
  std::memset(memory, 1, bytes);
}

void share(std::size_t mib) {
  const std::size_t bytes = mib << 20U;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap");
  std::memset(memory, 1, bytes);
}

void map(std::size_t gib) {
  constexpr std::size_t kBytes = std::size_t{64} << 20U;
  const int fd = ::memfd_create("map", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, kBytes) != 0) throw std::runtime_error("memfd");
  constexpr std::size_t kOfOneGib = 16;
  for (std::size_t i = 0; i < gib * kOfOneGib; ++i) {
    const int flags = MAP_SHARED | MAP_POPULATE;
    if (::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED) {
      throw std::runtime_error("mmap");
    }
  }
}

void start_threads(int count) {
  for (int i = 0; i < count; ++i) {
    std::thread([] {
      while (true) ::pause();
    }).detach();
  }
}

/// They share this process's memory, so they touch nothing of it.
int wait_for_ever(void* /*unused*/) {
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  while (true) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

void start_crowd(int count) {
  constexpr std::size_t kStackBytes = 4096;
  for (int i = 0; i < count; ++i) {
    auto* const stack = new char[kStackBytes];
    if (::clone(wait_for_ever, stack + kStackBytes, CLONE_VM | SIGCHLD, nullptr) < 0) {
      throw std::runtime_error("clone");
    }
  }
}

sigset_t forwarded_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    ::sigaddset(&set, signal);
  }
  return set;
}

void block_signals() {
  const sigset_t set = forwarded_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void print_signals() {
  block_signals();
  print_line("ready");
  const sigset_t set = forwarded_signals();
  for (int signal = 0; signal != SIGTERM;) {
    signal = ::sigwaitinfo(&set, nullptr);
    if (signal > 0) print_line(::sigabbrev_np(signal));
  }
}

void write_descriptors(const std::string& path) {
  std::string open = " ";
  constexpr int kHighest = 1024;
  for (int fd = 0; fd < kHighest; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1) open += std::to_string(fd) + " ";
  }
  append_line(path, open);
}

using Words = std::span<const std::string>;
void perform(Words words);

pid_t fork_or_throw() {
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid == 0) ::alarm(kLongestLifeS);
  return pid;
}

[[noreturn]] void perform_and_exit(Words words) {
  perform(words);
  std::_Exit(EXIT_SUCCESS);
}

/// What a daemon tells the process that waits for it.
struct DaemonMessage {
  pid_t pid;
  bool detaches;
};

void tell(int fd, DaemonMessage message) {
  if (::write(fd, &message, sizeof message) < 0) std::_Exit(EXIT_FAILURE);
}

void detach() {
  tell(detach_fd, {.pid = ::getpid(), .detaches = true});
  ::close(detach_fd);
}

/// Returns when the daemon has detached itself, or has ended and been waited for by its new parent.
void wait_for_daemon(int fd) {
  DaemonMessage message{};
  while (::read(fd, &message, sizeof message) > 0) {
  }
  constexpr useconds_t kMoment = 500;
  while (!message.detaches && ::kill(message.pid, 0) == 0) ::usleep(kMoment);
}

void start_daemon(Words words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  const pid_t middle = fork_or_throw();
  if (middle == 0) {
    ::setsid();
    if (fork_or_throw() != 0) std::_Exit(EXIT_SUCCESS);
    ::close(ends[0]);
    detach_fd = ends[1];
    tell(detach_fd, {.pid = ::getpid(), .detaches = false});
    perform_and_exit(words);
  }
  ::close(ends[1]);
  ::waitpid(middle, nullptr, 0);
  wait_for_daemon(ends[0]);
  ::close(ends[0]);
}

using Action = std::function<void(const std::string&)>;

/// Actions of one word, and of a word and its argument.
const std::map<std::string_view, Action>& plain_actions() {
  static const std::map<std::string_view, Action> actions = {
      {"pid", [](const auto&) { print_line(std::to_string(::getpid())); }},
      {"wrapper", [](const auto&) { print_line(std::to_string(wrapper)); }},
      {"copy", [](const auto&) { copy(); }},
      {"read_line", [](const auto&) { read_until('\n'); }},
      {"read_all", [](const auto&) { read_until('\0'); }},
      {"ignore_children", [](const auto&) { ::signal(SIGCHLD, SIG_IGN); }},
      {"block", [](const auto&) { block_signals(); }},
      {"signals", [](const auto&) { print_signals(); }},
      {"join",
       [](const auto&) {
         while (::wait(nullptr) > 0) {
         }
       }},
      {"pause", [](const auto&) { ::pause(); }},
      {"detach", [](const auto&) { detach(); }},
  };
  return actions;
}

const std::map<std::string_view, Action>& actions_with_argument() {
  static const std::map<std::string_view, Action> actions = {
      {"print", print_line},
      {"exit", [](const auto& code) { std::_Exit(std::stoi(code)); }},
      {"raise", [](const auto& signal) { ::raise(std::stoi(signal)); }},
      {"burn", [](const auto& ms) { burn(std::stoll(ms)); }},
      {"record", [](const auto& path) { append_line(path, std::to_string(cpu_ns())); }},
      {"touch", [](const auto& mib) { touch(std::stoul(mib)); }},
      {"share", [](const auto& mib) { share(std::stoul(mib)); }},
      {"map", [](const auto& gib) { map(std::stoul(gib)); }},
      {"threads", [](const auto& count) { start_threads(std::stoi(count)); }},
      {"crowd", [](const auto& count) { start_crowd(std::stoi(count)); }},
      {"send_wrapper", [](const auto& signal) { ::kill(wrapper, std::stoi(signal)); }},
      {"fds", write_descriptors},
      {"state", [](const auto& path) { append_line(path, inherited_state()); }},
  };
  return actions;
}

/// The words up to the bracket that closes the one before them; takes them off, with the bracket.
Words take_block(Words& words) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "[") ++open;
    if (words[i] == "]" && --open == 0) {
      const Words block = words.subspan(1, i - 1);
      words = words.subspan(i + 1);
      return block;
    }
  }
  throw std::invalid_argument("brackets");
}

std::string take(Words& words) {
  if (words.empty()) throw std::invalid_argument("an argument is missing");
  std::string word = words.front();
  words = words.subspan(1);
  return word;
}

void perform_block(const std::string& name, Words& words) {
  const int count = name == "repeat" ? std::stoi(take(words)) : 1;
  const Words block = take_block(words);
  if (name == "repeat") {
    for (int i = 0; i < count; ++i) perform(block);
  } else if (name == "daemon") {
    start_daemon(block);
  } else if (name == "spawn" || name == "background") {
    const pid_t child = fork_or_throw();
    if (child == 0) perform_and_exit(block);
    if (name == "spawn") ::waitpid(child, nullptr, 0);
  } else {
    throw std::invalid_argument(name);
  }
}

void perform(Words words) {
  while (!words.empty()) {
    const std::string name = take(words);
    const auto plain = plain_actions().find(name);
    const auto with_argument = actions_with_argument().find(name);
    if (plain != plain_actions().end()) {
      plain->second({});
    } else if (with_argument != actions_with_argument().end()) {
      with_argument->second(take(words));
    } else {
      perform_block(name, words);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  ::alarm(kLongestLifeS);
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    perform(words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "test_child: %s\n", error.what());
    return 64;
  }
  return 0;
}
