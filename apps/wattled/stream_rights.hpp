// The tokens that streams were opened with: how many streams each has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace wattle::daemon {

/// What a stream ends with.
struct StreamRight {
  std::string token_id;
  std::string subject;
  std::optional<std::int64_t> expires_unix_s;
  std::uint64_t key_number = 0;  ///< which of the keys that were in use, in turn
};

/// Threads: the loop's.
class StreamRights {
 public:
  explicit StreamRights(std::size_t most_per_token) : most_per_token_(most_per_token) {}

  /// One more stream of that token, as long as this lives; null where it has all that it may have.
  [[nodiscard]] std::shared_ptr<const StreamRight> open(StreamRight right);

 private:
  using Counts = std::map<std::string, std::size_t, std::less<>>;
  std::size_t most_per_token_;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace wattle::daemon
