// Reads files with secrets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// Most bytes of a secret; larger files are refused.
inline constexpr std::size_t kMaxSecretBytes = 65536;

/// The unchanged bytes of the file at `path`. `secret` names it in errors ("signing key"). Throws
/// `PermissionDenied` if the file cannot be opened; `InvalidArgument` if it is missing, not a
/// regular file, accessible to others than its owner and group, or too long. Threads: any.
[[nodiscard]] std::string read_secret_file(const std::string& path, std::string_view secret);

/// Throws an `InvalidArgument` with the reason `why`.
[[noreturn]] void refuse_secret(const std::string& path, std::string_view secret,
                                const std::string& why);

}  // namespace wattle::daemon
