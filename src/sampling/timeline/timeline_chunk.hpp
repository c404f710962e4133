// 128 readings of a timeline, and the few bytes that they are stored in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/numbers/exact_divider.hpp"
#include "base/numbers/rice.hpp"
#include "base/numbers/uint128.hpp"

namespace wattle {

enum class TimelineKind : std::uint8_t {
  counter,  ///< cumulative: what counts is the difference of two values
  gauge,    ///< a level that holds until the next one
};

inline constexpr std::size_t kChunkReadings = 128;

/// The sum of all readings before a chunk. Gauges only.
struct GaugeSum {
  Uint128 raw_quanta = 0;    ///< each value times the quanta that it held
  std::uint64_t quanta = 0;  ///< time covered by a value, in quanta
  /// Each change from one value to the next, squared; with that to the chunk's first value.
  Uint128 squared_changes = 0;
};

/// A run of readings as plain numbers. Times are in quanta since the clock's epoch. Large: made on
/// the stack and not initialized; places from `count` on hold nothing.
struct TimelineChunk {
  std::size_t count;
  std::array<std::uint64_t, kChunkReadings> first_seen;
  std::array<std::uint64_t, kChunkReadings> last_confirmed;  ///< counters: not used
  std::array<std::uint64_t, kChunkReadings> raw;
  GaugeSum before;
};

/// Five columns, and single numbers.
inline constexpr std::size_t kMaxChunkBits =
    5 * max_rice_bits(kChunkReadings) + std::size_t{8} * (6 + 64) + 1;
/// Where a chunk is written to or read from; the last word is there for `BitReader` only.
using ChunkWords = std::array<std::uint64_t, kMaxChunkBits / 64 + 2>;

/// Turns full chunks into words and back, without loss. Five columns, each Rice-coded; one whose
/// numbers are all equal takes two bytes:
///
///   tick     number of lane periods since the previous reading: 1 where the lane keeps its pace
///   phase    time since that tick started, in quanta: how late the lane woke up
///   (gauges) the same two for the time from first_seen to last_confirmed
///   value    distance to what a predictor says, the one of several that fits the chunk best
///
/// The time of the first reading is kept outside. All arithmetic is modulo 2^64, the same in both
/// directions: what does not fit the scheme (a day without a reading, a counter that jumps) costs
/// bits, never exactness. Threads: any.
class ChunkCodec {
 public:
  /// `period_quanta`: the time from tick to tick in quanta, at least 1.
  ChunkCodec(TimelineKind kind, std::uint64_t period_quanta) noexcept
      : kind_(kind), period_(period_quanta) {}

  /// Writes a chunk of `kChunkReadings`; the number of bits, at most `kMaxChunkBits`.
  [[nodiscard]] std::size_t encode(const TimelineChunk& chunk, ChunkWords& words) const noexcept;

  /// Reads what `encode` wrote; `start` is the time of its first reading.
  void decode(const ChunkWords& words, std::uint64_t start, TimelineChunk& chunk) const noexcept;

 private:
  void put_times(BitWriter& writer, const TimelineChunk& chunk) const noexcept;
  void take_times(BitReader& reader, std::uint64_t start, TimelineChunk& chunk) const noexcept;
  void put_holds(BitWriter& writer, const TimelineChunk& chunk) const noexcept;
  void take_holds(BitReader& reader, TimelineChunk& chunk) const noexcept;
  static void put_values(BitWriter& writer, const TimelineChunk& chunk) noexcept;
  static void take_values(BitReader& reader, TimelineChunk& chunk) noexcept;

  TimelineKind kind_;
  ExactDivider period_;
};

}  // namespace wattle
