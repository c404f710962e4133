#include "cli/privileges.hpp"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "cli/answer.hpp"

namespace wattle::app {
namespace {

/// The capabilities of a thread; the kernel takes 64 in two words.
struct ThreadCapabilities {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> words{};

  bool get() noexcept { return ::syscall(SYS_capget, &header, words.data()) == 0; }
  bool set() noexcept { return ::syscall(SYS_capset, &header, words.data()) == 0; }
};

/// Takes the IDs of the user and the group; the saved IDs stay.
bool take_ids(uid_t user, gid_t group) noexcept {
  constexpr auto kUnchanged = static_cast<uid_t>(-1);
  return ::setresgid(kUnchanged, group, kUnchanged) == 0 &&
         ::setresuid(kUnchanged, user, kUnchanged) == 0;
}

}  // namespace

bool has_foreign_privileges() noexcept { return ::getauxval(AT_SECURE) != 0; }

void lower_privileges() noexcept {
  if (!has_foreign_privileges()) return;
  bool lowered = take_ids(::getuid(), ::getgid());
  if (::getuid() != 0) {
    ThreadCapabilities capabilities;
    lowered = lowered && capabilities.get();
    for (auto& word : capabilities.words) word.effective = 0;
    lowered = lowered && capabilities.set();
  }
  if (!lowered) ::_exit(kRunFailed);
}

void raise_privileges() noexcept {
  if (!has_foreign_privileges()) return;
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved_user = 0;
  gid_t saved_group = 0;
  if (::getresuid(&real, &effective, &saved_user) != 0) return;
  if (::getresgid(&real, &effective, &saved_group) != 0) return;
  // If a capability cannot be raised, the kernel refuses the calls that need it.
  (void)take_ids(saved_user, saved_group);
  ThreadCapabilities capabilities;
  if (!capabilities.get()) return;
  for (auto& word : capabilities.words) word.effective = word.permitted;
  (void)capabilities.set();
}

void drop_privileges() noexcept {
  if (!has_foreign_privileges()) return;
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  bool dropped = ::setresgid(group, group, group) == 0 && ::setresuid(user, user, user) == 0;
  if (user != 0) dropped = dropped && ThreadCapabilities{}.set();
  if (!dropped) ::_exit(kRunFailed);
  // The kernel made the process undumpable, which hides its own /proc/self from it; without
  // privileges there is nothing left to protect.
  ::prctl(PR_SET_DUMPABLE, 1);
}

}  // namespace wattle::app
