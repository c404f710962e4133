#include "privileges.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <system_error>
#include <vector>

#include "base/text.hpp"
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

/// System calls that reading and serving never need: those of systemd's groups @privileged,
/// @resources, @mount, @module, @debug (but for perf_event_open), @keyring, @swap and @reboot that
/// matter, and those that start programs.
constexpr std::array kForbidden = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_setns,
    SYS_unshare,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_vhangup,
    SYS_personality,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_setuid,
    SYS_setgid,
    SYS_setreuid,
    SYS_setregid,
    SYS_setresuid,
    SYS_setresgid,
    SYS_setfsuid,
    SYS_setfsgid,
    SYS_setgroups,
    SYS_capset,
    SYS_fchmod,
    SYS_fchmodat,
    SYS_fchown,
    SYS_fchownat,
    SYS_mknodat,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_fanotify_init,
    SYS_setpriority,
    SYS_sched_setscheduler,
    SYS_sched_setattr,
    SYS_ioprio_set,
#ifdef SYS_chmod
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_mknod,
    SYS_fork,
    SYS_vfork,
    SYS_iopl,
    SYS_ioperm,
#endif
};

constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
/// Calls of the x32 ABI have this bit in their number.
constexpr std::uint32_t kX32 = 0x4000'0000;

std::vector<sock_filter> make_filter() {
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
  for (const long call : kForbidden) {
    filter.push_back(BPF_JUMP(kIfEqual, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(kReturn, kRefuse));
  }
  // New sockets are those that the service manager is told through.
  filter.push_back(BPF_JUMP(kIfEqual, static_cast<std::uint32_t>(SYS_socket), 0, 3));
  filter.push_back(BPF_STMT(kLoad, kFirst));
  filter.push_back(BPF_JUMP(kIfEqual, AF_UNIX, 1, 0));
  filter.push_back(BPF_STMT(kReturn, kRefuse));
  filter.push_back(BPF_STMT(kReturn, kAllow));
  return filter;
}

[[noreturn]] void fail(std::string_view what, int error) {
  throw Error(
      fmt::format("cannot give up root: {}: {}", what, std::generic_category().message(error)));
}

void confine() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs", errno);
  if (kArchitecture == 0) return;
  std::vector<sock_filter> filter = make_filter();
  sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  // All threads, which get no_new_privs with it.
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    fail("seccomp", errno);
  }
}

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
};

/// Absent where there is none of that name.
const passwd* find_user(const std::string& name) {
  return ::getpwnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody else asks
}

}  // namespace

bool is_root() noexcept { return ::geteuid() == 0; }

bool is_user(const std::string& name) { return find_user(name) != nullptr; }

void give_up_root(const std::string& user) {
  const passwd* const found = find_user(user);
  if (found == nullptr) {
    throw Error(fmt::format("cannot give up root: there is no user '{}'", printable(user)));
  }
  const User to{.uid = found->pw_uid, .gid = found->pw_gid};
  if (to.uid == 0) throw Error(fmt::format("cannot give up root: '{}' is root", printable(user)));
  // The C library has all threads do these.
  if (::initgroups(user.c_str(), to.gid) != 0) fail("initgroups", errno);
  if (::setresgid(to.gid, to.gid, to.gid) != 0) fail("setresgid", errno);
  if (::setresuid(to.uid, to.uid, to.uid) != 0) fail("setresuid", errno);
  if (::setuid(0) == 0) throw Error("cannot give up root: it can be had back");
  confine();
}

}  // namespace wattle::daemon
