#include "sampling/timeline/timeline_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

namespace wattle {

namespace {

// An open chunk: three columns, then what all readings before it add up to.
constexpr std::size_t kConfirmed = kChunkReadings;
constexpr std::size_t kRaw = 2 * kChunkReadings;
constexpr std::size_t kBefore = 3 * kChunkReadings;
constexpr std::size_t kOpenWords = kBefore + 5;

constexpr std::size_t kWordBytes = sizeof(std::uint32_t);
constexpr std::size_t kWordBits = 8 * kWordBytes;
constexpr std::size_t kDirectoryBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
// Room in the ring for each directory entry: 1 byte a reading. Where readings need more than that,
// the ring runs out first; where they need less, the directory.
constexpr std::size_t kRingBytes = kChunkReadings;
constexpr std::size_t kFixedBytes = sizeof(TimelineStore) + 2 * kOpenWords * sizeof(std::uint64_t);

constexpr std::size_t directory_size(std::size_t memory_limit) noexcept {
  return (memory_limit - kFixedBytes) / (kDirectoryBytes + kRingBytes);
}
constexpr std::size_t ring_size(std::size_t memory_limit) noexcept {
  const std::size_t directory = directory_size(memory_limit) * kDirectoryBytes;
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  return std::min((memory_limit - kFixedBytes - directory) / kWordBytes, kMost);
}
static_assert(ring_size(kMinTimelineBytes) > kMaxChunkBits / kWordBits + 1);
static_assert(directory_size(kMinTimelineBytes) >= 2);

std::size_t open_base(std::uint64_t number) noexcept { return (number % 2) * kOpenWords; }

/// `index` in a ring of `size`, which it exceeds by less than that.
std::size_t wrap(std::size_t index, std::size_t size) noexcept {
  return index >= size ? index - size : index;
}

void store_wide(SharedArray<std::uint64_t>& words, std::size_t at, Uint128 number) noexcept {
  words.store(at, static_cast<std::uint64_t>(number));
  words.store(at + 1, static_cast<std::uint64_t>(number >> 64U));
}

Uint128 load_wide(const SharedArray<std::uint64_t>& words, std::size_t at) noexcept {
  return (Uint128{words.load(at + 1)} << 64U) | words.load(at);
}

/// Full chunks that this thread has decoded: who asks about a window asks for the same two several
/// times, at its start and at its end.
class DecodedChunks {
 public:
  struct DecodedChunk {
    std::uint64_t store = 0;  ///< no store has this number
    std::uint64_t number = 0;
    std::uint64_t until = 0;  ///< when the next chunk starts
    TimelineChunk chunk;
  };

  /// The first one of that store that is `wanted`; null where there is none.
  template <class Wanted>
  [[nodiscard]] const DecodedChunk* find(std::uint64_t store, Wanted wanted) const noexcept {
    for (const DecodedChunk& entry : last_two_) {
      if (entry.store == store && wanted(entry)) return &entry;
    }
    return nullptr;
  }
  /// The place of the older one, for the next.
  [[nodiscard]] DecodedChunk& replace() noexcept {
    next_ = 1 - next_;
    last_two_[next_].store = 0;
    return last_two_[next_];
  }

 private:
  std::array<DecodedChunk, 2> last_two_;
  std::size_t next_ = 0;
};

DecodedChunks& decoded_chunks() noexcept {
  thread_local DecodedChunks chunks;
  return chunks;
}

/// Numbers are never reused, as addresses are.
std::uint64_t next_store() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

std::size_t timeline_bytes_for(std::uint64_t readings) noexcept {
  constexpr std::size_t kChunkBytes = kMaxChunkBits / 8 + kWordBytes + kDirectoryBytes + kRingBytes;
  // The oldest of these is dropped as a whole when the newest starts.
  const std::uint64_t chunks = readings / kChunkReadings + 3;
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  if (chunks > (kMost - kFixedBytes) / kChunkBytes) return kMost;
  return std::max(kMinTimelineBytes, kFixedBytes + chunks * kChunkBytes);
}

TimelineStore::TimelineStore(const ChunkCodec& codec, std::size_t memory_limit)
    : id_(next_store()),
      codec_(codec),
      starts_(directory_size(memory_limit)),
      offsets_(directory_size(memory_limit)),
      ring_(ring_size(memory_limit)),
      open_(2 * kOpenWords) {}

void TimelineStore::push(std::uint64_t first_seen, std::uint64_t raw,
                         const GaugeSum& before) noexcept {
  const std::uint64_t stored = stored_.load(std::memory_order_relaxed);
  const std::uint64_t number = stored / kChunkReadings;
  const std::size_t index = stored % kChunkReadings;
  if (index == 0) {
    if (number > 0) close(number - 1);
    open(number, first_seen, before);
  }
  const std::size_t at = open_base(number) + index;
  open_.store(at, first_seen);
  open_.store(at + kConfirmed, first_seen);
  open_.store(at + kRaw, raw);
  stored_.store(stored + 1, std::memory_order_release);
}

void TimelineStore::confirm(std::uint64_t time) noexcept {
  const std::uint64_t last = stored_.load(std::memory_order_relaxed) - 1;
  open_.store(open_base(last / kChunkReadings) + kConfirmed + last % kChunkReadings, time);
}

void TimelineStore::open(std::uint64_t number, std::uint64_t start,
                         const GaugeSum& before) noexcept {
  if (number - dropped_.load(std::memory_order_relaxed) == starts_.size()) drop_oldest();
  const std::size_t entry = number % starts_.size();
  starts_.store(entry, start);
  offsets_.store(entry, static_cast<std::uint32_t>(head_));
  const std::size_t at = open_base(number) + kBefore;
  store_wide(open_, at, before.raw_quanta);
  store_wide(open_, at + 2, before.squared_changes);
  open_.store(at + 4, before.quanta);
}

void TimelineStore::close(std::uint64_t number) noexcept {
  TimelineChunk chunk;
  copy_open(number, kChunkReadings, chunk);
  ChunkWords words;
  const std::size_t bits = codec_.encode(chunk, words);
  const std::size_t count = (bits + kWordBits - 1) / kWordBits;
  while (used_words_.load(std::memory_order_relaxed) + count > ring_.size()) drop_oldest();

  for (std::size_t i = 0; i < count; ++i) {
    ring_.store(wrap(head_ + i, ring_.size()),
                static_cast<Word>(words[i / 2] >> (i % 2 * kWordBits)));
  }
  head_ = wrap(head_ + count, ring_.size());
  used_words_.fetch_add(count, std::memory_order_relaxed);
}

void TimelineStore::drop_oldest() noexcept {
  const std::uint64_t oldest = dropped_.load(std::memory_order_relaxed);
  dropped_.store(oldest + 1, std::memory_order_release);
  used_words_.fetch_sub(words_of(oldest), std::memory_order_relaxed);
}

std::size_t TimelineStore::words_of(std::uint64_t number) const noexcept {
  const std::size_t begin = offsets_.load(number % offsets_.size());
  const std::size_t end = offsets_.load((number + 1) % offsets_.size());
  return end >= begin ? end - begin : end + ring_.size() - begin;
}

std::optional<TimelineStore::ChunkRange> TimelineStore::held() const noexcept {
  // In this order, so that the oldest is never past the newest.
  const std::uint64_t oldest = dropped_.load(std::memory_order_acquire);
  const std::uint64_t stored = this->stored();
  if (stored == 0) return std::nullopt;
  return ChunkRange{.oldest = oldest, .newest = (stored - 1) / kChunkReadings};
}

std::optional<std::uint64_t> TimelineStore::find(ChunkRange range,
                                                 std::uint64_t time) const noexcept {
  // An entry that is replaced during the search has a later time than before, so it ends at a
  // chunk that is right, or at one that was dropped.
  const std::size_t base = range.oldest % starts_.size();
  const auto start = [&](std::uint64_t i) { return starts_.load(wrap(base + i, starts_.size())); };
  // The one looked for is `low` or above, and below `high`.
  std::uint64_t low = 0;
  std::uint64_t high = range.newest - range.oldest;
  const std::uint64_t begin = start(low);
  const std::uint64_t end = start(high);
  if (begin > time) return std::nullopt;
  if (end <= time) return range.newest;

  // Readings mostly come at a steady pace: the search starts where the chunk would then be, and
  // from there at growing distances. That touches few places, and near ones.
  const double part = static_cast<double>(time - begin) / static_cast<double>(end - begin);
  const auto guess = static_cast<std::uint64_t>(part * static_cast<double>(high));
  std::uint64_t step = 1;
  if (start(guess) <= time) {
    low = guess;
    for (; high - low > step && start(low + step) <= time; step *= 2) low += step;
    high = std::min(high, low + step);
  } else {
    high = guess;
    for (; high - low > step && start(high - step) > time; step *= 2) high -= step;
    if (high - low > step) low = high - step;
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (start(middle) <= time ? low : high) = middle;
  }
  return range.oldest + low;
}

const TimelineChunk* TimelineStore::load(std::uint64_t number, TimelineChunk& room) const noexcept {
  while (true) {
    const std::uint64_t stored = this->stored();
    if ((stored - 1) / kChunkReadings > number) return load_closed(number);
    copy_open(number, stored - number * kChunkReadings, room);
    // Chunk number + 2 is written to the same buffer.
    if (this->stored() < (number + 2) * kChunkReadings) return &room;
  }
}

std::optional<TimelineStore::Decoded> TimelineStore::find_decoded(
    std::uint64_t time) const noexcept {
  const auto* const found =
      decoded_chunks().find(id_, [&](const DecodedChunks::DecodedChunk& entry) {
        return entry.chunk.first_seen[0] <= time && time < entry.until;
      });
  if (found == nullptr || dropped_.load(std::memory_order_acquire) > found->number)
    return std::nullopt;
  return Decoded{.number = found->number, .chunk = &found->chunk};
}

const TimelineChunk* TimelineStore::load_closed(std::uint64_t number) const noexcept {
  const auto* const found = decoded_chunks().find(
      id_, [&](const DecodedChunks::DecodedChunk& entry) { return entry.number == number; });
  if (found != nullptr) {
    return dropped_.load(std::memory_order_acquire) <= number ? &found->chunk : nullptr;
  }
  const std::size_t entry = number % starts_.size();
  const std::uint64_t start = starts_.load(entry);
  const std::uint64_t until = starts_.load((number + 1) % starts_.size());
  const std::size_t offset = offsets_.load(entry);
  const std::size_t count = words_of(number);
  ChunkWords words;
  // More than a chunk can have: the directory entries are no longer its own.
  if (count > kMaxChunkBits / kWordBits + 1) return nullptr;
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint64_t low = ring_.load(wrap(offset + i, ring_.size()));
    const std::uint64_t high = ring_.load(wrap(offset + i + 1, ring_.size()));
    words[i / 2] = low | (high << kWordBits);
  }
  if (dropped_.load(std::memory_order_acquire) > number) return nullptr;
  // `BitReader` reads one word after the last.
  words[(count + 1) / 2] = 0;
  DecodedChunks::DecodedChunk& decoded = decoded_chunks().replace();
  codec_.decode(words, start, decoded.chunk);
  decoded.number = number;
  decoded.until = until;
  decoded.store = id_;
  return &decoded.chunk;
}

void TimelineStore::copy_open(std::uint64_t number, std::size_t count,
                              TimelineChunk& chunk) const noexcept {
  const std::size_t base = open_base(number);
  chunk.count = count;
  for (std::size_t i = 0; i < count; ++i) {
    chunk.first_seen[i] = open_.load(base + i);
    chunk.last_confirmed[i] = open_.load(base + kConfirmed + i);
    chunk.raw[i] = open_.load(base + kRaw + i);
  }
  chunk.before.raw_quanta = load_wide(open_, base + kBefore);
  chunk.before.squared_changes = load_wide(open_, base + kBefore + 2);
  chunk.before.quanta = open_.load(base + kBefore + 4);
}

std::optional<std::uint64_t> TimelineStore::last_confirmed() const noexcept {
  while (true) {
    const std::uint64_t stored = this->stored();
    if (stored == 0) return std::nullopt;
    const std::uint64_t number = (stored - 1) / kChunkReadings;
    const std::uint64_t time =
        open_.load(open_base(number) + kConfirmed + (stored - 1) % kChunkReadings);
    // As in `load`: chunk number + 2 is written to the same buffer.
    if (this->stored() < (number + 2) * kChunkReadings) return time;
  }
}

std::size_t TimelineStore::memory_bytes() const noexcept {
  const std::optional<ChunkRange> range = held();
  const std::uint64_t chunks = range ? range->newest - range->oldest + 1 : 0;
  return kFixedBytes + chunks * kDirectoryBytes +
         used_words_.load(std::memory_order_relaxed) * kWordBytes;
}

}  // namespace wattle
