// The key that signs tokens.
#pragma once

#include <cstddef>
#include <string>

#include "secret_file.hpp"

namespace wattle::daemon {

/// Fewest bytes of a signing key: as many as the signature has (RFC 7518 3.2).
inline constexpr std::size_t kMinKeyBytes = 32;
/// Most bytes of a signing key.
inline constexpr std::size_t kMaxKeyBytes = kMaxSecretBytes;

/// The signing key in the file at `path`: its bytes as they are, a line end at the end included.
/// Throws `PermissionDenied` where the file cannot be opened, and `InvalidArgument` where it is
/// missing, not a regular file, open to others than its owner and group, too short or too long.
/// Threads: any.
[[nodiscard]] std::string read_signing_key(const std::string& path);

}  // namespace wattle::daemon
