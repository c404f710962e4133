#include "privileges.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
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

/// Of this thread, and of those that it starts: nothing but CAP_SYS_ADMIN.
void keep_administration() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  constexpr std::uint32_t kAdministration = std::uint32_t{1} << CAP_SYS_ADMIN;
  sets[0].permitted = sets[0].effective = kAdministration;
  if (::syscall(SYS_capset, &header, sets.data()) != 0) fail("capset", errno);
}

/// Absent where there is none of that name.
const passwd* find_user(const std::string& name) {
  return ::getpwnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody else asks
}

}  // namespace

bool is_root() noexcept { return ::geteuid() == 0; }

bool is_user(const std::string& name) { return find_user(name) != nullptr; }

void make_folder_of(const std::string& user, const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::create_directories(folder, error)) return;
  const passwd* const owner = user.empty() ? nullptr : find_user(user);
  const bool is_ours = ::chmod(folder.c_str(), S_IRWXU) == 0;
  [[maybe_unused]] const bool is_theirs =
      is_ours && owner != nullptr && ::chown(folder.c_str(), owner->pw_uid, owner->pw_gid) == 0;
}

void give_up_root(const std::string& user, Kept kept) {
  const passwd* const found = find_user(user);
  if (found == nullptr) {
    throw Error(fmt::format("cannot give up root: there is no user '{}'", printable(user)));
  }
  const User to{.uid = found->pw_uid, .gid = found->pw_gid};
  if (to.uid == 0) throw Error(fmt::format("cannot give up root: '{}' is root", printable(user)));
  // The C library has all threads do these.
  const bool keeps = kept == Kept::administration;
  if (keeps && ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) fail("keep capabilities", errno);
  if (::initgroups(user.c_str(), to.gid) != 0) fail("initgroups", errno);
  if (::setresgid(to.gid, to.gid, to.gid) != 0) fail("setresgid", errno);
  if (::setresuid(to.uid, to.uid, to.uid) != 0) fail("setresuid", errno);
  if (keeps) keep_administration();
  if (::setuid(0) == 0) throw Error("cannot give up root: it can be had back");
  confine();
}

}  // namespace wattle::daemon
