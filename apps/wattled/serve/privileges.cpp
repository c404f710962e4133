#include "serve/privileges.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

[[noreturn]] void fail(std::string_view what, int error) {
  throw Error(
      fmt::format("cannot give up root: {}: {}", what, std::generic_category().message(error)));
}

struct User {
  uid_t uid = 0;
  gid_t gid = 0;
};

/// Drops all capabilities except CAP_SYS_ADMIN, for this thread and those that it starts.
void keep_administration() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  constexpr std::uint32_t kAdministration = std::uint32_t{1} << CAP_SYS_ADMIN;
  sets[0].permitted = sets[0].effective = kAdministration;
  if (::syscall(SYS_capset, &header, sets.data()) != 0) fail("capset", errno);
}

/// Absent: no such user.
const passwd* find_user(const std::string& name) {
  return ::getpwnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody else asks
}

}  // namespace

bool is_root() noexcept { return ::geteuid() == 0; }

bool is_user(const std::string& name) { return find_user(name) != nullptr; }

std::string user_after_root(const std::string& chosen) {
  constexpr const char* kDefaultUser = "wattled";
  if (!is_root() || chosen == "root") return {};
  return chosen.empty() && is_user(kDefaultUser) ? kDefaultUser : chosen;
}

uid_t uid_of(const std::string& name) {
  const passwd* const found = name.empty() ? nullptr : find_user(name);
  return found != nullptr ? found->pw_uid : ::geteuid();
}

void make_folder_of(const std::string& user, std::string folder) {
  // With one at its end, a link is followed.
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code error;
  if (!std::filesystem::create_directories(folder, error)) return;
  // By the descriptor: who may write in its parent folder may have put a link in its place.
  const Fd made(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool is_ours = made && ::fstat(made.get(), &status) == 0 && status.st_uid == ::geteuid() &&
                       ::fchmod(made.get(), S_IRWXU) == 0;
  const passwd* const owner = user.empty() ? nullptr : find_user(user);
  [[maybe_unused]] const bool is_theirs =
      is_ours && owner != nullptr && ::fchown(made.get(), owner->pw_uid, owner->pw_gid) == 0;
}

void give_up_root(const std::string& user, KeptRights kept, Reach reach) {
  const passwd* const found = find_user(user);
  if (found == nullptr) {
    throw Error(fmt::format("cannot give up root: there is no user '{}'", printable(user)));
  }
  const User to{.uid = found->pw_uid, .gid = found->pw_gid};
  if (to.uid == 0) throw Error(fmt::format("cannot give up root: '{}' is root", printable(user)));
  // The C library applies these to all threads.
  const bool keeps = kept == KeptRights::administration;
  if (keeps && ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) fail("keep capabilities", errno);
  if (::initgroups(user.c_str(), to.gid) != 0) fail("initgroups", errno);
  if (::setresgid(to.gid, to.gid, to.gid) != 0) fail("setresgid", errno);
  if (::setresuid(to.uid, to.uid, to.uid) != 0) fail("setresuid", errno);
  if (keeps) keep_administration();
  if (::setuid(0) == 0) throw Error("cannot give up root: the process can become root again");
  confine(reach);
}

}  // namespace wattle::daemon
