#include "http/socket_group.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/group_name.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::array kDefaultGroups = {"wattle", "wattled"};

std::optional<gid_t> find_group(const char* name) {
  const group* const found = ::getgrnam(name);  // NOLINT(concurrency-mt-unsafe): one thread yet
  return found != nullptr ? std::optional(found->gr_gid) : std::nullopt;
}

std::string user_name(uid_t uid) {
  const passwd* const found = ::getpwuid(uid);  // NOLINT(concurrency-mt-unsafe): nobody else asks
  return found != nullptr ? printable(found->pw_name) : std::to_string(uid);
}

}  // namespace

void choose_socket_group(ServeOptions& options) {
  if (!options.serves_file || options.socket.group) return;
  if (!options.socket_group.empty()) {
    options.socket.group = find_group(options.socket_group.c_str());
    if (options.socket.group) return;
    throw Error(fmt::format("there is no group {0}: make it with sudo groupadd --system {0}",
                            printable(options.socket_group)));
  }
  if (::geteuid() != 0) return;
  for (const char* const name : kDefaultGroups) {
    options.socket.group = find_group(name);
    if (options.socket.group) return;
  }
}

bool is_open_to_everybody(const std::string& socket_path) {
  struct stat status {};
  return ::lstat(socket_path.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) != 0;
}

std::string who_may_connect(const std::string& socket_path) {
  struct stat status {};
  if (::lstat(socket_path.c_str(), &status) != 0) return {};
  if ((status.st_mode & S_IWOTH) != 0) return "every user may connect";
  const bool has_group = (status.st_mode & S_IWGRP) != 0;
  const std::string user = user_name(status.st_uid);
  if (!has_group) return fmt::format("only {} may connect", user);
  if (status.st_gid == 0) {
    return fmt::format(
        "only {} may connect: for others, sudo groupadd --system wattle, and start with "
        "--socket-group wattle",
        status.st_uid == 0 ? user : user + " and root");
  }
  const std::string group = group_name(status.st_gid);
  return fmt::format(
      "{} and members of the group {} may connect; to add one: sudo usermod -aG {} "
      "USER, who then logs in again",
      user, group, group);
}

}  // namespace wattle::daemon
