// Where a timeline keeps its readings: written by one thread, read by any, bounded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/files/shared_array.hpp"
#include "sampling/timeline/timeline_chunk.hpp"

namespace wattle {

/// The least memory that a timeline can work with, in bytes.
inline constexpr std::size_t kMinTimelineBytes = 16384;

/// The memory, in bytes, that is enough for this number of readings, whatever their values; the
/// largest possible limit if that is not enough.
[[nodiscard]] std::size_t timeline_bytes_for(std::uint64_t readings) noexcept;

/// Full chunks lie compressed in a ring of words; a second ring, the directory, has for each chunk
/// the time it starts at and its place in the first. The readings since the last full chunk, the
/// open one, are plain numbers. Where room runs out the oldest chunks are dropped. All memory is
/// allocated at construction.
///
/// No thread waits for another. The writer announces before it overwrites: `dropped_` moves past a
/// chunk before its words are used again, `stored_` past an open chunk before its buffer is (two
/// buffers take turns, so that is 128 readings later). A reader copies what it needs and then
/// checks whether these have moved past it; if so it starts again, or the chunk is gone.
/// Threads: `push` and `confirm` from one at a time; everything else from any.
class TimelineStore {
 public:
  /// Never takes more than `memory_limit` bytes, which are at least `kMinTimelineBytes`.
  TimelineStore(const ChunkCodec& codec, std::size_t memory_limit);

  /// Adds a reading; `first_seen` is not before that of the previous one. `before`: what all
  /// readings before this one add up to (gauges).
  void push(std::uint64_t first_seen, std::uint64_t raw, const GaugeSum& before) noexcept;
  /// The last reading was seen again at `time`. Needs at least one reading.
  void confirm(std::uint64_t time) noexcept;

  /// The numbers of the first and the last chunk held; they count from 0 and are never reused.
  struct ChunkRange {
    std::uint64_t oldest;
    std::uint64_t newest;
  };
  /// Absent where there is no reading yet.
  [[nodiscard]] std::optional<ChunkRange> held() const noexcept;

  /// The last chunk in `range` that starts at or before `time`; absent if none does. The
  /// chunk may be dropped at any time: `load` finds out.
  [[nodiscard]] std::optional<std::uint64_t> find(ChunkRange range,
                                                  std::uint64_t time) const noexcept;

  /// The readings of chunk `number`, which is at most `held()->newest`: in `room`, or where this
  /// thread keeps them until it loads another chunk, of any store. Null if it was dropped.
  [[nodiscard]] const TimelineChunk* load(std::uint64_t number, TimelineChunk& room) const noexcept;

  struct Decoded {
    std::uint64_t number;
    const TimelineChunk* chunk;  ///< until this thread loads another chunk
  };
  /// The result of `find` and `load` for `time`, if that is a full chunk that this thread has
  /// loaded before; absent otherwise. Touches no memory of the store's.
  [[nodiscard]] std::optional<Decoded> find_decoded(std::uint64_t time) const noexcept;

  [[nodiscard]] std::uint64_t stored() const noexcept {
    return stored_.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept {
    return dropped_.load(std::memory_order_acquire) * kChunkReadings;
  }
  /// When the last reading was last seen; absent where there is none.
  [[nodiscard]] std::optional<std::uint64_t> last_confirmed() const noexcept;
  /// Bytes that the readings held take up, with everything around them.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  using Word = std::uint32_t;
  [[nodiscard]] std::size_t words_of(std::uint64_t number) const noexcept;
  void open(std::uint64_t number, std::uint64_t start, const GaugeSum& before) noexcept;
  void close(std::uint64_t number) noexcept;
  void drop_oldest() noexcept;
  void copy_open(std::uint64_t number, std::size_t count, TimelineChunk& chunk) const noexcept;
  [[nodiscard]] const TimelineChunk* load_closed(std::uint64_t number) const noexcept;

  std::uint64_t id_;  ///< no other store of this process ever has it
  ChunkCodec codec_;
  SharedArray<std::uint64_t> starts_;   ///< directory: time of the first reading
  SharedArray<std::uint32_t> offsets_;  ///< directory: first word in the ring
  SharedArray<Word> ring_;              ///< the full chunks; each ends where the next one starts
  SharedArray<std::uint64_t> open_;     ///< two open chunks
  std::size_t head_ = 0;                ///< where the open chunk will go in the ring

  std::atomic<std::uint64_t> stored_{0};      ///< readings ever added
  std::atomic<std::uint64_t> dropped_{0};     ///< chunks ever dropped
  std::atomic<std::uint64_t> used_words_{0};  ///< of the ring
};

}  // namespace wattle
