#include "privileges.hpp"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "options.hpp"

namespace wattle::app {

bool has_foreign_privileges() noexcept { return ::getauxval(AT_SECURE) != 0; }

void drop_privileges() noexcept {
  if (!has_foreign_privileges()) return;
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  bool dropped = ::setresgid(group, group, group) == 0 && ::setresuid(user, user, user) == 0;
  if (user != 0) {
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
    dropped = dropped && ::syscall(SYS_capset, &header, none.data()) == 0;
  }
  if (!dropped) ::_exit(kRunFailed);
  // The kernel made the process undumpable, which hides its own /proc/self from it; without
  // privileges there is nothing left to protect.
  ::prctl(PR_SET_DUMPABLE, 1);
}

}  // namespace wattle::app
