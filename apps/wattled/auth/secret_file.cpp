#include "auth/secret_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "base/files/fd.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

[[noreturn]] void refuse_unopened(const std::string& path, std::string_view secret, int error) {
  if (error == EACCES || error == EPERM) {
    throw PermissionDenied(path, "let the daemon's user or group read the " + std::string(secret));
  }
  refuse_secret(path, secret,
                error == ENOENT ? "there is no such file" : std::generic_category().message(error));
}

}  // namespace

void refuse_secret(const std::string& path, std::string_view secret, const std::string& why) {
  throw InvalidArgument("cannot use the " + std::string(secret) + " " + shell_quoted(path) + ": " +
                        why);
}

std::string read_secret_file(const std::string& path, std::string_view secret) {
  // Does not wait for the writer of a pipe.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) refuse_unopened(path, secret, errno);
  if (!S_ISREG(status.st_mode)) refuse_secret(path, secret, "it is not a regular file");
  if ((status.st_mode & S_IRWXO) != 0) {
    refuse_secret(path, secret,
                  "other users have access to it; run 'chmod o= FILE', and make a new key if they "
                  "may have read this one");
  }
  std::string bytes(kMaxSecretBytes + 1, '\0');
  const ssize_t size = read_pieces(file.get(), bytes);
  if (size < 0) refuse_secret(path, secret, std::generic_category().message(errno));
  bytes.resize(static_cast<std::size_t>(size));
  if (bytes.size() > kMaxSecretBytes) {
    refuse_secret(path, secret, "it is larger than 64 KiB: too large for a key");
  }
  return bytes;
}

}  // namespace wattle::daemon
