#include "serve/confinement.hpp"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <vector>

#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter is made here
#endif

/// The system calls that reading and serving need. A part of what the unit permits (systemd's
/// @system-service without @privileged and @resources): none starts a program, changes the user,
/// changes modes, owners or attributes, or reaches other programs except by sockets.
constexpr std::array kAllowed = std::to_array<long>({
    SYS_accept,
    SYS_accept4,
    SYS_brk,
    SYS_capget,
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_close,
    SYS_close_range,
    SYS_connect,
    SYS_dup,
    SYS_dup3,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_pwait2,
    SYS_eventfd2,
    SYS_exit,
    SYS_exit_group,
    SYS_faccessat,
    SYS_faccessat2,
    SYS_fallocate,
    SYS_fcntl,
    SYS_fdatasync,
    SYS_flock,
    SYS_fstat,
    SYS_fstatfs,
    SYS_fsync,
    SYS_ftruncate,
    SYS_futex,
    SYS_futex_waitv,
    SYS_get_robust_list,
    SYS_getcpu,
    SYS_getcwd,
    SYS_getdents64,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getgroups,
    SYS_getpeername,
    SYS_getpid,
    SYS_getppid,
    SYS_getrandom,
    SYS_getresgid,
    SYS_getresuid,
    SYS_getrlimit,
    SYS_getrusage,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_ioctl,
    SYS_kill,
    SYS_lseek,
    SYS_madvise,
    SYS_membarrier,
    SYS_memfd_create,
    SYS_mkdirat,
    SYS_mlock,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_msync,
    SYS_munlock,
    SYS_munmap,
    SYS_nanosleep,
    SYS_newfstatat,
    SYS_openat,
    SYS_openat2,
    SYS_perf_event_open,
    SYS_pipe2,
    SYS_ppoll,
    SYS_prctl,
    SYS_pread64,
    SYS_preadv,
    SYS_prlimit64,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_read,
    SYS_readlinkat,
    SYS_readv,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_renameat,
    SYS_renameat2,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigqueueinfo,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_sched_getaffinity,
    SYS_sched_getattr,
    SYS_sched_getparam,
    SYS_sched_getscheduler,
    SYS_sched_yield,
    SYS_sendmsg,
    SYS_sendto,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_setsockopt,
    SYS_shutdown,
    SYS_sigaltstack,
    SYS_signalfd4,
    SYS_socket,
    SYS_socketpair,
    SYS_statfs,
    SYS_statx,
    SYS_sysinfo,
    SYS_tgkill,
    SYS_timerfd_create,
    SYS_timerfd_gettime,
    SYS_timerfd_settime,
    SYS_umask,
    SYS_uname,
    SYS_unlinkat,
    SYS_wait4,
    SYS_waitid,
    SYS_write,
    SYS_writev,
#ifdef __x86_64__
    SYS_access,
    SYS_arch_prctl,
    SYS_dup2,
    SYS_epoll_wait,
    SYS_getdents,
    SYS_lstat,
    SYS_mkdir,
    SYS_open,
    SYS_pipe,
    SYS_poll,
    SYS_readlink,
    SYS_rename,
    SYS_stat,
    SYS_time,
    SYS_unlink,
#endif
});

constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
/// Calls of the x32 ABI have this bit in their number.
constexpr std::uint32_t kX32 = 0x4000'0000;

constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

/// The kinds of sockets for a collector and for name servers, with what the C library asks the
/// kernel about addresses by.
constexpr std::array<std::uint32_t, 3> kNetworkSockets = {AF_INET, AF_INET6, AF_NETLINK};
/// Calls of the resolver.
constexpr std::array<long, 3> kNetworkCalls = {SYS_bind, SYS_sendmmsg, SYS_recvmmsg};

/// `calls`: permitted, whatever their arguments.
void permit(std::vector<sock_filter>& filter, std::span<const long> calls) {
  for (const long call : calls) {
    filter.push_back(BPF_JUMP(kIfEqual, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(kReturn, kAllow));
  }
}

std::vector<sock_filter> make_filter(Reach reach) {
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kArch = static_cast<std::uint32_t>(offsetof(seccomp_data, arch));
  constexpr auto kFirst = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  std::vector<sock_filter> filter = {
      BPF_STMT(kLoad, kArch),
      BPF_JUMP(kIfEqual, kArchitecture, 1, 0),
      BPF_STMT(kReturn, kRefuse),
      BPF_STMT(kLoad, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 1),
      BPF_STMT(kReturn, kRefuse),
  };
  // Threads, and no namespaces. Which clone3 makes cannot be seen from here: without it the C
  // library takes clone.
  filter.push_back(BPF_JUMP(kIfEqual, static_cast<std::uint32_t>(SYS_clone3), 0, 1));
  filter.push_back(BPF_STMT(kReturn, SECCOMP_RET_ERRNO | ENOSYS));
  filter.push_back(BPF_JUMP(kIfEqual, static_cast<std::uint32_t>(SYS_clone), 0, 4));
  filter.push_back(BPF_STMT(kLoad, kFirst));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNamespaces, 1, 0));
  filter.push_back(BPF_STMT(kReturn, kAllow));
  filter.push_back(BPF_STMT(kReturn, kRefuse));
  // New sockets are for notifications of the service manager, and for telemetry.
  std::vector<std::uint32_t> sockets = {AF_UNIX};
  if (reach == Reach::network) {
    sockets.insert(sockets.end(), kNetworkSockets.begin(), kNetworkSockets.end());
  }
  const auto checks = static_cast<std::uint8_t>(2 * sockets.size() + 2);
  filter.push_back(BPF_JUMP(kIfEqual, static_cast<std::uint32_t>(SYS_socket), 0, checks));
  filter.push_back(BPF_STMT(kLoad, kFirst));
  for (const std::uint32_t family : sockets) {
    filter.push_back(BPF_JUMP(kIfEqual, family, 0, 1));
    filter.push_back(BPF_STMT(kReturn, kAllow));
  }
  filter.push_back(BPF_STMT(kReturn, kRefuse));
  permit(filter, kAllowed);
  if (reach == Reach::network) permit(filter, kNetworkCalls);
  filter.push_back(BPF_STMT(kReturn, kRefuse));
  return filter;
}

[[noreturn]] void fail(const char* what) {
  throw Error(fmt::format("cannot confine the daemon: {}: {}", what,
                          std::generic_category().message(errno)));
}

}  // namespace

void confine(Reach reach) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  if (kArchitecture == 0) return;
  std::vector<sock_filter> filter = make_filter(reach);
  sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  // For all threads, which also get no_new_privs.
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    fail("seccomp");
  }
}

}  // namespace wattle::daemon
