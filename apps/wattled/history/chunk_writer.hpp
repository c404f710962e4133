// Writes the history to chunks, and removes the oldest ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "history/chunk_folder.hpp"
#include "history/chunk_format.hpp"

namespace wattle::daemon {

/// Bounds of the files.
struct ChunkLimits {
  /// The most bytes of all chunks. A small one counts as `kLeastCharge`: so the number of files is
  /// bounded too.
  std::uint64_t bytes = std::uint64_t{512} << 20U;
  /// Chunks that ended earlier are removed. Those of earlier sessions only if they are older also
  /// by their own times and the time that this session runs: the wall clock may be wrong.
  std::chrono::seconds age = std::chrono::hours(48);
  /// A new chunk starts after this number of bytes, and this time.
  std::uint64_t chunk_bytes = std::uint64_t{4} << 20U;
  std::chrono::seconds chunk_length = std::chrono::hours(1);
};

/// Bytes that a chunk counts as at least.
inline constexpr std::uint64_t kLeastCharge = std::uint64_t{64} << 10U;

/// Frames to append.
struct ChunkFrames {
  std::string channels;  ///< that are new in this session
  std::string batch;
  std::uint64_t number = 0;  ///< of the batch
  TimePoint at;              ///< stored time: now
  /// How long this session runs, by the steady clock.
  std::chrono::nanoseconds uptime{0};
};

/// A write that fails ends nothing: what cannot be written is left out, and the file is tried again
/// later. Threads: one at a time.
class ChunkWriter {
 public:
  /// Gets one line when writing fails, and one when it works again.
  using Log = std::function<void(std::string_view)>;
  /// `session`: its header, without the number of the first batch and the time.
  ChunkWriter(std::shared_ptr<const ChunkFolder> folder, const ChunkLimits& limits,
              const ChunkHeader& session, Log log);

  /// How long after a failure it is tried again.
  static constexpr std::chrono::seconds kRetry{10};

  /// Appends, in one write. Also what memory is lacking for is left out.
  void append(const ChunkFrames& frames) noexcept;
  /// Removes chunks until the others are within the limits.
  void remove_old(TimePoint now) const;

 private:
  void write(const ChunkFrames& frames);
  [[nodiscard]] int open_chunk(const ChunkFrames& frames);
  void fail(int error, TimePoint now);

  std::shared_ptr<const ChunkFolder> folder_;
  ChunkLimits limits_;
  ChunkHeader header_;
  Log log_;
  std::string channels_;  ///< the frames of all channels of this session
  Fd file_;
  std::string name_;  ///< of `file_`
  std::uint64_t bytes_ = 0;
  TimePoint made_;
  std::uint32_t number_ = 0;
  std::chrono::nanoseconds uptime_{0};
  std::optional<TimePoint> failed_{};
};

}  // namespace wattle::daemon
