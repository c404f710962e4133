#include "sampling/timeline/timeline_chunk.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

namespace wattle {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

std::size_t expect_round_trip(TimelineKind kind, std::uint64_t period, const TimelineChunk& chunk) {
  const ChunkCodec codec(kind, period);
  ChunkWords words;
  const std::size_t bits = codec.encode(chunk, words);
  EXPECT_LE(bits, kMaxChunkBits);
  TimelineChunk back;
  codec.decode(words, chunk.first_seen[0], back);
  EXPECT_EQ(back.count, kChunkReadings);
  EXPECT_EQ(back.first_seen, chunk.first_seen);
  EXPECT_EQ(back.raw, chunk.raw);
  if (kind == TimelineKind::gauge) {
    EXPECT_EQ(back.last_confirmed, chunk.last_confirmed);
    EXPECT_TRUE(back.before.raw_quanta == chunk.before.raw_quanta);
    EXPECT_EQ(back.before.quanta, chunk.before.quanta);
  }
  return bits;
}

/// One reading a period, each `step` more than the one before.
TimelineChunk regular(std::uint64_t period, std::uint64_t step) {
  TimelineChunk chunk;
  chunk.count = kChunkReadings;
  for (std::size_t i = 0; i < kChunkReadings; ++i) {
    chunk.first_seen[i] = 1'000'000 + i * period;
    chunk.last_confirmed[i] = chunk.first_seen[i];
    chunk.raw[i] = 5'000'000 + i * step;
  }
  return chunk;
}

TEST(ChunkCodec, KeepsARegularCounterInAFewBytes) {
  EXPECT_LE(expect_round_trip(TimelineKind::counter, 1000, regular(1000, 1966)), 8U * 24U);
}

TEST(ChunkCodec, KeepsARegularGaugeInAFewBytes) {
  EXPECT_LE(expect_round_trip(TimelineKind::gauge, 500, regular(500, 0)), 8U * 24U);
}

TEST(ChunkCodec, KeepsLateAndMissedReadings) {
  TimelineChunk chunk = regular(1000, 1966);
  chunk.first_seen[3] += 999;
  for (std::size_t i = 60; i < kChunkReadings; ++i) chunk.first_seen[i] += 86'400'000'000;
  expect_round_trip(TimelineKind::counter, 1000, chunk);
}

TEST(ChunkCodec, KeepsACounterThatRestarts) {
  TimelineChunk chunk = regular(1000, 1966);
  for (std::size_t i = 60; i < kChunkReadings; ++i) chunk.raw[i] = i * 1966;
  EXPECT_LE(expect_round_trip(TimelineKind::counter, 1000, chunk), 8U * 400U);
}

TEST(ChunkCodec, KeepsTheSumsOfAGaugeWhole) {
  TimelineChunk chunk = regular(1000, 3);
  chunk.before.raw_quanta = (Uint128{kLargest} << 63U) | 12345U;
  chunk.before.quanta = kLargest;
  expect_round_trip(TimelineKind::gauge, 1000, chunk);
}

TEST(ChunkCodec, KeepsAnythingAtAll) {
  std::mt19937_64 random(1);
  const auto any = [&] { return random() >> (random() % 64); };
  for (int round = 0; round < 3000 && !::testing::Test::HasFailure(); ++round) {
    const std::uint64_t period = 1 + (any() >> 1U);
    TimelineChunk chunk = regular(period >> 8U, any());
    const std::uint64_t one_in = 1 + any() % 200;
    std::uint64_t later = 0;
    for (std::size_t i = 0; i < kChunkReadings; ++i) {
      if (random() % one_in == 0) later += any() >> 8U;
      if (random() % one_in == 0) chunk.raw[i] = any();
      chunk.first_seen[i] += later;
      chunk.last_confirmed[i] = chunk.first_seen[i] + (random() % one_in == 0 ? any() >> 8U : 0);
    }
    chunk.before.raw_quanta = (Uint128{any()} << 64U) | any();
    chunk.before.quanta = any();
    expect_round_trip(round % 2 == 0 ? TimelineKind::counter : TimelineKind::gauge, period, chunk);
  }
}

}  // namespace
}  // namespace wattle
