// The key that signs tokens.
#pragma once

#include <cstddef>
#include <string>

#include "auth/secret_file.hpp"

namespace wattle::daemon {

/// Fewest bytes of a signing key: as many as the signature has (RFC 7518 3.2).
inline constexpr std::size_t kMinKeyBytes = 32;
/// Most bytes of a signing key.
inline constexpr std::size_t kMaxKeyBytes = kMaxSecretBytes;

/// The signing key: the unchanged bytes of the file at `path`, with a final line end if there is
/// one. Throws as `read_secret_file`, and `InvalidArgument` for a key that is too short. Threads:
/// any.
[[nodiscard]] std::string read_signing_key(const std::string& path);

}  // namespace wattle::daemon
