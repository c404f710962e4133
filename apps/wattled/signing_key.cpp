#include "signing_key.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/fd.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw InvalidArgument("cannot use the signing key " + shell_quoted(path) + ": " + why);
}

[[noreturn]] void refuse_unopened(const std::string& path, int error) {
  if (error == EACCES || error == EPERM) {
    throw PermissionDenied(path, "let the daemon's user or group read the signing key");
  }
  if (error == ENOENT)
    refuse(path, "there is no such file; make one with 'openssl rand -out FILE 32'");
  refuse(path, std::generic_category().message(error));
}

}  // namespace

std::string read_signing_key(const std::string& path) {
  // Not to wait for whoever would write to a pipe.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) refuse_unopened(path, errno);
  if (!S_ISREG(status.st_mode)) refuse(path, "it is not a regular file");
  if ((status.st_mode & S_IRWXO) != 0) {
    refuse(path,
           "other users have access to it; run 'chmod o= FILE', and make a new key if they "
           "may have read this one");
  }
  std::string key(kMaxKeyBytes + 1, '\0');
  const ssize_t size = read_at_start(file.get(), key);
  if (size < 0) refuse(path, std::generic_category().message(errno));
  key.resize(static_cast<std::size_t>(size));
  if (key.size() < kMinKeyBytes) {
    refuse(path, "it has " + std::to_string(key.size()) +
                     " bytes and needs 32 at least; make one with 'openssl rand -out FILE 32'");
  }
  if (key.size() > kMaxKeyBytes) refuse(path, "it is larger than 64 KiB, which no key is");
  return key;
}

}  // namespace wattle::daemon
