// Compression by zlib. The library is loaded at the first use, and may be missing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wattle {

/// `text` as a raw deflate stream (RFC 1951). `dictionary`: bytes that `text` resembles; reading
/// takes the same. Absent if zlib is missing. Threads: any.
[[nodiscard]] std::optional<std::string> compress(std::string_view text,
                                                  std::string_view dictionary);

/// The inverse. Absent if `bytes` is no such stream or holds more than `most_bytes`. Throws `Error`
/// if zlib is missing. Threads: any.
[[nodiscard]] std::optional<std::string> decompress(std::string_view bytes,
                                                    std::string_view dictionary,
                                                    std::size_t most_bytes);

}  // namespace wattle
