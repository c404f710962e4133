// Parses the head of an HTTP request from untrusted bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace wattle::daemon {

inline constexpr std::size_t kMostHeadBytes = 8192;
inline constexpr std::size_t kMostFields = 64;

struct RequestHead {
  std::string method;
  std::string target;
  bool is_http_1_0 = false;
  bool keeps_alive = true;  ///< the client keeps the connection for more requests
  bool has_body = false;
  std::optional<std::string> host{};
  std::optional<std::string> origin{};
  std::optional<std::string> fetch_site{};  ///< Sec-Fetch-Site
  std::optional<std::string> authorization{};
  std::optional<std::string> accept{};
};

enum class HeadFault : std::uint8_t {
  malformed,        ///< 400
  too_large,        ///< 431: bytes or fields
  unknown_version,  ///< 505
};

/// The length of the head at the start of `bytes`, with its blank line; absent: the head is
/// incomplete.
[[nodiscard]] std::optional<std::size_t> head_length(std::string_view bytes) noexcept;

/// `head`: exactly one head, as `head_length` measured it. An ambiguous head (two hosts, two
/// lengths, two authorizations) is malformed. Threads: any.
[[nodiscard]] std::variant<RequestHead, HeadFault> parse_head(std::string_view head);

}  // namespace wattle::daemon
