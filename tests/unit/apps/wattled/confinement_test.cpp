#include "serve/confinement.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

#include "base/files/fd.hpp"
#include "sanitized.hpp"

namespace wattle::daemon {
namespace {

/// What `act` returns in a process that is confined: true is 0.
int status_of_confined(const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    confine();
    ::_exit(act() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

class Confined : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "the sanitizer needs calls that are forbidden";
  }
};

TEST_F(Confined, ReadsServesAndStartsThreads) {
  EXPECT_EQ(status_of_confined([] {
              const Fd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
              const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
              bool ran = false;
              std::thread([&] { ran = true; }).join();
              char byte = 0;
              return socket && ran && ::read(file.get(), &byte, 1) == 1;
            }),
            0);
}

TEST_F(Confined, DoesNothingElse) {
  const std::function<long()> calls[] = {
      [] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); },
      [] { return static_cast<long>(::mount("none", "/tmp", "tmpfs", 0, nullptr)); },
      [] { return static_cast<long>(::unshare(CLONE_NEWUSER)); },
      [] { return ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0); },
      [] { return static_cast<long>(::execl("/bin/true", "true", nullptr)); },
      [] { return static_cast<long>(::setuid(::getuid())); },
      [] { return static_cast<long>(::chmod("/tmp/none", 0600)); },
      [] { return static_cast<long>(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); },
      [] { return static_cast<long>(::semget(IPC_PRIVATE, 1, 0600)); },
      [] { return ::syscall(SYS_keyctl, 0, 0); },
      [] { return ::syscall(SYS_bpf, 0, nullptr, 0); }};
  int number = 0;
  for (const auto& call : calls) {
    EXPECT_EQ(status_of_confined([&] { return call() == -1 && errno == EPERM; }), 0) << number;
    ++number;
  }
}

}  // namespace
}  // namespace wattle::daemon
