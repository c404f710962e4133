// Limits the number of streams per token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace wattle::daemon {

/// The token that permits a stream: the stream ends with it.
struct StreamRight {
  std::string token_id;
  std::string subject;
  std::optional<std::int64_t> expires_unix_s;
  std::uint64_t key_number = 0;  ///< counts the keys that were in use
};

/// Threads: the loop's.
class StreamRights {
 public:
  explicit StreamRights(std::size_t most_per_token) : most_per_token_(most_per_token) {}

  /// Counts one more stream of the token while the result lives. Null: the token has reached its
  /// limit.
  [[nodiscard]] std::shared_ptr<const StreamRight> open(StreamRight right);

 private:
  using Counts = std::map<std::string, std::size_t, std::less<>>;
  std::size_t most_per_token_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace wattle::daemon
