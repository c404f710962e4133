// A file of the history on disk: one chunk of what a daemon read.
//
// A chunk starts with 8 bytes that name its format. Frames follow: a mark, the length of the
// content, its CRC-32C, the content. The first frame is the header, the others are definitions of
// channels, and batches of values. The checksum of a frame starts from that of the session (one
// run of a daemon), so that no frame of another file passes. A frame can be read without the ones
// before it, except for the definitions of its channels: a damaged one costs its own values only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sensors/sensor.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {

/// Times of the history on disk are `TimePoint`s that count from 1970-01-01 UTC, in whole
/// microseconds. A steady time as such a one, and Unix seconds.
[[nodiscard]] TimePoint stored_time(TimePoint steady) noexcept;
[[nodiscard]] TimePoint stored_time(double unix_s) noexcept;

struct ChunkHeader {
  std::uint64_t session = 0;      ///< of the daemon's run, random
  std::uint64_t first_batch = 0;  ///< the number of the first batch in this chunk
  std::uint64_t machine = 0;      ///< from its machine-id; 0: unknown
  TimePoint made;                 ///< stored time

  bool operator==(const ChunkHeader&) const = default;
};

/// A channel that gives the energy of a domain. Not all of `channel` is stored: what windows need.
struct StoredChannel {
  std::uint64_t id = 0;  ///< in its session
  std::string device;    ///< its UUID, or its PCI address; empty: unknown
  Channel channel;
};

/// A value of a channel, from when it was first read to when it was last read (gauges).
struct StoredValue {
  TimePoint first;
  TimePoint last;
  std::uint64_t raw = 0;  ///< counters: unwrapped
  bool has_gap = false;   ///< what happened since the value before it is unknown

  bool operator==(const StoredValue&) const = default;
};

struct ChannelValues {
  std::uint64_t channel = 0;
  std::chrono::nanoseconds period{0};  ///< how often it was read
  std::vector<StoredValue> values;

  bool operator==(const ChannelValues&) const = default;
};

/// The readings of about half a second.
struct ValueBatch {
  std::uint64_t number = 0;  ///< in its session, without gaps
  std::vector<ChannelValues> channels;

  bool operator==(const ValueBatch&) const = default;
};

/// The longest time between the first and the last reading of one stored value.
inline constexpr std::chrono::minutes kLongestStoredValue{10};
/// A frame with more is damaged.
inline constexpr std::size_t kMostFrameBytes = std::size_t{256} << 10U;
/// A larger file is no chunk.
inline constexpr std::size_t kMostChunkBytes = std::size_t{16} << 20U;

/// The start of a chunk; and its frames.
[[nodiscard]] std::string encode(const ChunkHeader& header);
[[nodiscard]] std::string encode(const StoredChannel& stored, std::uint64_t session);
[[nodiscard]] std::string encode(const ValueBatch& batch, std::uint64_t session);
/// A frame with any content.
[[nodiscard]] std::string frame_with(const std::string& content, std::uint64_t session);

/// Reads a chunk, whatever its bytes are. Parts whose checksum or content is wrong are left out.
/// Threads: a value type.
class ChunkReader {
 public:
  /// `bytes` outlives it.
  explicit ChunkReader(std::string_view bytes);

  /// Absent: this is no chunk of this format, or its header is damaged.
  [[nodiscard]] const std::optional<ChunkHeader>& header() const noexcept { return header_; }

  using Part = std::variant<StoredChannel, ValueBatch>;
  /// The next good part after the header; absent at the end.
  [[nodiscard]] std::optional<Part> next();

  /// Bytes that were left out so far, except those at the end.
  [[nodiscard]] std::size_t damaged_bytes() const noexcept { return damaged_; }
  /// Bytes after the last good frame, once `next` has returned nothing: what a daemon was writing
  /// when it was killed.
  [[nodiscard]] std::size_t torn_bytes() const noexcept { return torn_; }

 private:
  /// The content of the frame at `place_`, which moves to its end; absent: no good frame.
  [[nodiscard]] std::optional<std::string_view> take_frame() noexcept;
  /// Moves to the next good frame; false: there is none.
  [[nodiscard]] bool find_frame() noexcept;
  [[nodiscard]] std::optional<std::string_view> frame_at(std::size_t place) noexcept;
  /// Bounds the checks of a file whose bytes are mostly marks of frames.
  [[nodiscard]] bool may_check_more() const noexcept {
    return checked_ <= 4 * bytes_.size() + kMostFrameBytes;
  }

  std::string_view bytes_;
  std::size_t checked_ = 0;  ///< bytes whose checksum was computed, also more than once
  std::size_t place_ = 0;
  std::uint32_t seed_ = 0;
  std::size_t damaged_ = 0;
  std::size_t torn_ = 0;
  std::optional<ChunkHeader> header_;
};

}  // namespace wattle::daemon
