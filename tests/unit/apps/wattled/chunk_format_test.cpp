// Files of the history on disk: what is written is read, and nothing else.
#include "history/chunk_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "history/crc32c.hpp"
#include "sample_chunk.hpp"

namespace wattle::daemon {
namespace {

/// What a reader finds in a chunk.
struct Found {
  std::vector<std::uint64_t> channels;
  std::vector<ValueBatch> batches;
  std::size_t damaged = 0;
  std::size_t torn = 0;
};

Found read(std::string_view bytes) {
  Found found;
  ChunkReader reader(bytes);
  while (const auto part = reader.next()) {
    if (const auto* const channel = std::get_if<StoredChannel>(&*part)) {
      found.channels.push_back(channel->id);
    } else {
      found.batches.push_back(std::get<ValueBatch>(*part));
    }
  }
  found.damaged = reader.damaged_bytes();
  found.torn = reader.torn_bytes();
  return found;
}

TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c("456789", crc32c("123")), crc32c("123456789"));
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
}

TEST(Crc32c, IsTheSameInPiecesOfAnyLength) {
  std::string bytes;
  for (int i = 0; i < 50; ++i) bytes += static_cast<char>(7 * i);
  std::uint32_t by_bytes = 0;
  for (const char& each : bytes) by_bytes = crc32c({&each, 1}, by_bytes);
  EXPECT_EQ(crc32c(bytes), by_bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::string_view all = bytes;
    EXPECT_EQ(crc32c(all.substr(cut), crc32c(all.substr(0, cut))), by_bytes) << cut;
  }
}

TEST(ChunkFormat, AHeaderIsReadAsWritten) {
  const ChunkHeader header{
      .session = 7, .first_batch = 1000, .machine = 9, .made = sample_time(0.125)};
  EXPECT_EQ(ChunkReader(encode(header)).header(), header);
}

/// What docs/daemon.md says of the size: half a second of a counter of 200 W, whose readings are up
/// to 3 ms late.
TEST(ChunkFormat, ACounterTakesElevenBytesAReading) {
  constexpr std::size_t kCounters = 3;
  constexpr int kReadings = 5;
  ValueBatch batch{.number = 1'000'000, .channels = {}};
  for (std::uint64_t channel = 1; channel <= kCounters; ++channel) {
    ChannelValues values{
        .channel = channel, .period = std::chrono::milliseconds(100), .values = {}};
    for (int i = 0; i < kReadings; ++i) {
      const TimePoint at = sample_time(0.1 * i + 0.001 * (i * 7 % 4));
      values.values.push_back(
          {.first = at,
           .last = at,
           .raw = 1'000'000'000'000 + static_cast<std::uint64_t>(i) * 20'000'000 + channel * 7});
    }
    batch.channels.push_back(std::move(values));
  }
  EXPECT_LE(encode(batch, 1).size(), kCounters * kReadings * 11);
}

TEST(ChunkFormat, AChannelIsReadAsWritten) {
  StoredChannel written = sample_gauge(300);
  written.channel.gauge.coverage = 0.25;
  written.channel.gauge.longest_lag = std::chrono::seconds(2);
  written.channel.update = {.mean = std::chrono::milliseconds(100),
                            .spread = std::chrono::milliseconds(1),
                            .p99 = std::chrono::milliseconds(120),
                            .is_observed = true};
  const std::string bytes = encode(ChunkHeader{.session = 1, .made = {}}) + encode(written, 1);
  ChunkReader reader(bytes);
  const auto part = reader.next();
  ASSERT_TRUE(part && std::holds_alternative<StoredChannel>(*part));
  const auto& found = std::get<StoredChannel>(*part);
  EXPECT_EQ(found.id, 300U);
  EXPECT_EQ(found.device, "GPU-aaaa");
  EXPECT_EQ(found.channel.domain, written.channel.domain);
  EXPECT_EQ(found.channel.metric, Metric::power_instant);
  EXPECT_EQ(found.channel.gauge.scale, 1e-3);
  EXPECT_EQ(found.channel.gauge.window, written.channel.gauge.window);
  EXPECT_EQ(found.channel.gauge.coverage, 0.25);
  EXPECT_EQ(found.channel.gauge.time_constant, std::nullopt);
  EXPECT_EQ(found.channel.gauge.longest_lag, written.channel.gauge.longest_lag);
  EXPECT_EQ(found.channel.update.p99, written.channel.update.p99);
  EXPECT_TRUE(found.channel.update.is_observed);
}

TEST(ChunkFormat, BatchesAreReadAsWritten) {
  const Found found = read(sample_chunk(0, 4));
  EXPECT_THAT(found.channels, testing::ElementsAre(1, 2));
  EXPECT_THAT(found.batches, testing::ElementsAre(sample_batch(0), sample_batch(1), sample_batch(2),
                                                  sample_batch(3)));
  EXPECT_EQ(found.damaged, 0U);
  EXPECT_EQ(found.torn, 0U);
}

TEST(ChunkFormat, RawIntegersAreExactWhateverTheyAre) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  ValueBatch written{.number = kMost, .channels = {{.channel = kMost, .values = {}}}};
  written.channels[0].period = std::chrono::milliseconds(100);
  for (const std::uint64_t raw :
       {std::uint64_t{0}, kMost, std::uint64_t{1}, kMost / 2, kMost - 1}) {
    written.channels[0].values.push_back(
        {.first = sample_time(0.0), .last = sample_time(0.0), .raw = raw});
  }
  const std::string bytes = encode(ChunkHeader{.session = 1, .made = {}}) + encode(written, 1);
  EXPECT_THAT(read(bytes).batches, testing::ElementsAre(written));
}

TEST(ChunkFormat, EveryCutFileIsAPrefixOfWhatWasWritten) {
  const std::string whole = sample_chunk(0, 3);
  const Found all = read(whole);
  std::size_t fewer = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Found found = read(std::string_view(whole).substr(0, size));
    ASSERT_LE(found.batches.size(), all.batches.size());
    ASSERT_TRUE(
        std::ranges::equal(found.batches, std::span(all.batches).first(found.batches.size())))
        << size;
    EXPECT_EQ(found.damaged, 0U) << size;
    fewer += found.batches.size() < all.batches.size() ? 1U : 0U;
  }
  EXPECT_EQ(fewer, whole.size()) << "the last frame needs its last byte";
}

TEST(ChunkFormat, AFlippedBitCostsItsFrameAndChangesNothingElse) {
  const std::string whole = sample_chunk(0, 3);
  const std::vector<ValueBatch> all = read(whole).batches;
  const std::size_t header = encode(*ChunkReader(whole).header()).size();
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[place] = static_cast<char>(static_cast<unsigned char>(whole[place]) ^ (1U << bit));
      const Found found = read(damaged);
      const std::size_t parts = found.batches.size() + found.channels.size();
      ASSERT_EQ(parts, place < header ? 0U : 4U) << place;
      for (const ValueBatch& batch : found.batches)
        ASSERT_TRUE(std::ranges::count(all, batch) == 1);
      ASSERT_EQ(found.damaged + found.torn > 0, place >= header) << place;
    }
  }
}

TEST(ChunkFormat, AFrameOfAnotherSessionIsDamage) {
  const std::string bytes = sample_chunk(0, 1) + encode(sample_batch(1), kSampleSession + 1) +
                            encode(sample_batch(2), kSampleSession);
  EXPECT_THAT(read(bytes).batches, testing::ElementsAre(sample_batch(0), sample_batch(2)));
  EXPECT_GT(read(bytes).damaged, 0U);
}

TEST(ChunkFormat, ChannelsThatGiveNoEnergyAreLeftOut) {
  const auto is_read = [](const StoredChannel& channel) {
    const std::string bytes = encode(ChunkHeader{.session = 1, .made = {}}) + encode(channel, 1);
    return !read(bytes).channels.empty();
  };
  StoredChannel channel = sample_counter(1);
  EXPECT_TRUE(is_read(channel));
  for (const double tick : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    channel.channel.counter.tick = Joules(tick);
    EXPECT_FALSE(is_read(channel)) << tick;
  }
  channel = sample_counter(1);
  channel.channel.metric = Metric::temperature;
  EXPECT_FALSE(is_read(channel));
}

TEST(ChunkFormat, AFileFullOfMarksIsDamageAtABoundedCost) {
  std::string bytes = sample_chunk(0, 2);
  const std::string head("\xF7WF\x0A\x00\x00\x03\x00WXYZ", 12);  // 192 KiB
  for (int i = 0; i < 20'000; ++i) bytes += head;
  const std::size_t good = sample_chunk(0, 2).size();
  const Found found = read(bytes);
  EXPECT_EQ(found.batches.size(), 2U);
  EXPECT_EQ(found.damaged, bytes.size() - good);
  EXPECT_EQ(found.torn, 0U);
}

TEST(ChunkFormat, FilesOfOtherFormatsHaveNoHeader) {
  for (const char* const bytes : {"", "W", "WATTLEH1", "WATTLEH2",
                                  "\x7f"
                                  "ELF and more"}) {
    EXPECT_FALSE(ChunkReader(bytes).header()) << bytes;
  }
}

}  // namespace
}  // namespace wattle::daemon
