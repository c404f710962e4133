#include "sampling/timeline/timeline_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "sanitized.hpp"

namespace wattle {
namespace {

constexpr std::uint64_t kPeriod = 1000;

/// The readings of these tests are functions of their number. They do not compress well, so that
/// chunks are long, and soon dropped.
std::uint64_t scramble(std::uint64_t i) { return (i * 0x9E3779B97F4A7C15U) >> 20U; }
std::uint64_t time_of(std::uint64_t i) { return (i + 1) * kPeriod + scramble(i) % (kPeriod / 2); }
std::uint64_t raw_of(std::uint64_t i) { return scramble(i + 1); }
GaugeSum before(std::uint64_t i) { return {.raw_quanta = Uint128{i} << 64U, .quanta = i}; }

void push(TimelineStore& store, std::uint64_t i) { store.push(time_of(i), raw_of(i), before(i)); }

/// True if chunk `number` holds what was pushed, none of it confirmed later.
bool is_whole(const TimelineChunk& chunk, std::uint64_t number) {
  const std::uint64_t first = number * kChunkReadings;
  if (chunk.before.quanta != first || chunk.before.raw_quanta != before(first).raw_quanta) {
    return false;
  }
  for (std::size_t i = 0; i < chunk.count; ++i) {
    if (chunk.first_seen[i] != time_of(first + i) || chunk.raw[i] != raw_of(first + i) ||
        chunk.last_confirmed[i] != time_of(first + i)) {
      return false;
    }
  }
  return chunk.count > 0;
}

TimelineStore small_store() {
  return TimelineStore(ChunkCodec(TimelineKind::gauge, kPeriod), kMinTimelineBytes);
}

TEST(TimelineStore, IsNotTakenForOneThatWasInItsPlace) {
  std::optional<TimelineStore> store;
  TimelineChunk room;
  for (const std::uint64_t raw : {1U, 2U}) {
    store.emplace(ChunkCodec(TimelineKind::gauge, kPeriod), kMinTimelineBytes);
    for (std::uint64_t i = 0; i < 2 * kChunkReadings; ++i) store->push(i * kPeriod, raw, {});
    ASSERT_TRUE(store->load(0, room));
    const TimelineChunk* const chunk = store->load(0, room);
    ASSERT_TRUE(chunk) << "a second time, from what was decoded";
    EXPECT_EQ(chunk->raw[0], raw);
  }
}

TEST(TimelineStore, DoesNotGiveADroppedChunkThatWasDecodedBefore) {
  TimelineStore store = small_store();
  TimelineChunk room;
  std::uint64_t i = 0;
  while (i < 2 * kChunkReadings) push(store, i++);
  ASSERT_TRUE(store.load(0, room));
  while (store.dropped() == 0) push(store, i++);
  EXPECT_FALSE(store.load(0, room));
  EXPECT_FALSE(store.find_decoded(time_of(0)));
}

TEST(TimelineStore, FindsWhatItDecodedByItsTime) {
  TimelineStore store = small_store();
  for (std::uint64_t i = 0; i < 3 * kChunkReadings; ++i) push(store, i);
  const std::uint64_t first = time_of(kChunkReadings);
  const std::uint64_t next = time_of(2 * kChunkReadings);
  EXPECT_FALSE(store.find_decoded(first)) << "not loaded yet";
  TimelineChunk room;
  const TimelineChunk* const chunk = store.load(1, room);
  for (const std::uint64_t time : {first, next - 1}) {
    const auto found = store.find_decoded(time);
    ASSERT_TRUE(found) << time;
    EXPECT_EQ(found->number, 1U);
    EXPECT_EQ(found->chunk, chunk);
  }
  EXPECT_FALSE(store.find_decoded(first - 1));
  EXPECT_FALSE(store.find_decoded(next));
}

TEST(TimelineStore, HoldsNothingAtFirst) {
  const TimelineStore store = small_store();
  EXPECT_FALSE(store.held());
  EXPECT_EQ(store.stored(), 0U);
}

TEST(TimelineStore, LoadsEveryChunkItHolds) {
  TimelineStore store = small_store();
  for (std::uint64_t i = 0; i < 700; ++i) push(store, i);
  ASSERT_EQ(store.dropped(), 0U);
  for (std::uint64_t number = 0; number <= store.held()->newest; ++number) {
    TimelineChunk room;
    const TimelineChunk* const chunk = store.load(number, room);
    ASSERT_TRUE(chunk);
    EXPECT_TRUE(is_whole(*chunk, number));
  }
}

TEST(TimelineStore, FindsTheLastChunkThatStartsInTime) {
  TimelineStore store = small_store();
  for (std::uint64_t i = 0; i < 10'000; ++i) push(store, i);
  const TimelineStore::ChunkRange held = store.held().value();
  ASSERT_GT(held.oldest, 0U);
  for (std::uint64_t number = held.oldest; number <= held.newest; ++number) {
    const std::uint64_t start = time_of(number * kChunkReadings);
    EXPECT_EQ(store.find(held, start), number);
    EXPECT_EQ(store.find(held, start - 1),
              number == held.oldest ? std::nullopt : std::optional(number - 1));
  }
}

TEST(TimelineStore, RefusesAChunkThatWasDropped) {
  TimelineStore store = small_store();
  for (std::uint64_t i = 0; i < 10'000; ++i) push(store, i);
  TimelineChunk room;
  EXPECT_FALSE(store.load(store.held()->oldest - 1, room));
  EXPECT_TRUE(store.load(store.held()->oldest, room));
}

TEST(TimelineStore, ConfirmsTheLastReading) {
  TimelineStore store = small_store();
  push(store, 0);
  push(store, 1);
  store.confirm(5000);
  TimelineChunk room;
  const TimelineChunk* const chunk = store.load(0, room);
  ASSERT_TRUE(chunk);
  EXPECT_EQ(chunk->last_confirmed[0], time_of(0));
  EXPECT_EQ(chunk->last_confirmed[1], 5000U);
}

// The readers read the two places where they can meet the writer: the chunk that is dropped
// next, and the one that is written.
TEST(TimelineStore, NeverGivesAChunkThatIsPartlyReplaced) {
  TimelineStore store = small_store();
  std::atomic<bool> writing{true};
  std::atomic<std::uint64_t> torn{0};
  std::atomic<std::uint64_t> loaded{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, newest = reader % 2 == 0] {
      TimelineChunk room;
      while (writing) {
        const auto held = store.held();
        if (!held) continue;
        const std::uint64_t number = newest ? held->newest : held->oldest;
        const TimelineChunk* const chunk = store.load(number, room);
        if (chunk == nullptr) continue;
        ++loaded;
        if (!is_whole(*chunk, number)) ++torn;
      }
    });
  }
  constexpr std::uint64_t kReadings = kSanitized ? 300'000 : 2'000'000;
  for (std::uint64_t i = 0; i < kReadings || loaded < 1000; ++i) {
    push(store, i);
    // At first, readers that were interrupted while they copied go on before all is replaced.
    if (i < 30'000 && i % 150 == 0) std::this_thread::yield();
  }
  writing = false;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0U);
}

}  // namespace
}  // namespace wattle
