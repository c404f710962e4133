// Files that nobody else may read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// Most bytes of a secret; a larger file is hardly one.
inline constexpr std::size_t kMaxSecretBytes = 65536;

/// The bytes of `secret` ("signing key") in the file at `path`, as they are. Throws
/// `PermissionDenied` where the file cannot be opened, and `InvalidArgument` where it is missing,
/// not a regular file, open to others than its owner and group, or too long. Threads: any.
[[nodiscard]] std::string read_secret_file(const std::string& path, std::string_view secret);

/// Throws the `InvalidArgument` that says why it cannot be used.
[[noreturn]] void refuse_secret(const std::string& path, std::string_view secret,
                                const std::string& why);

}  // namespace wattle::daemon
