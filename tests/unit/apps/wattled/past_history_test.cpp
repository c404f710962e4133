// What earlier runs of the daemon read, as numbers: what was measured, or nothing.
#include "history/past_history.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "history/past_windows.hpp"
#include "sample_chunk.hpp"

namespace wattle::daemon {
namespace {

constexpr std::uint64_t kBatches = 20;

PastHistory past_of(const std::vector<std::string>& chunks,
                    const PastOptions& options = {.begin = {}, .end = TimePoint::max()}) {
  PastHistory past(options);
  for (const std::string& chunk : chunks) (void)past.add(chunk);
  return past;
}

EnergyFigure package_energy(const PastHistory& past, double from, double to,
                            const std::string& device = {}) {
  const auto* const eras = past.find(Domain::package(0), device);
  if (eras == nullptr) return {};
  return past_energy(*eras, sample_time(from), sample_time(to)).result();
}

/// The power in columns of half a second: that of one batch each.
std::vector<ColumnPower> columns_of(const PastHistory& past, const Domain& domain,
                                    const std::string& device) {
  const auto* const eras = past.find(domain, device);
  if (eras == nullptr) return std::vector<ColumnPower>(kBatches - 1);
  return past_columns(*eras, {.begin = sample_time(0.0),
                              .width = std::chrono::milliseconds(500),
                              .count = kBatches - 1,
                              .steps = 1});
}

TEST(PastHistory, HasTheEnergyThatWasCounted) {
  const PastHistory past = past_of({sample_chunk(0, kBatches)});
  // Half seconds of 10 W, 11 W, 12 W and 13 W.
  const EnergyFigure energy = package_energy(past, 0.0, 2.0);
  ASSERT_TRUE(energy.energy);
  EXPECT_NEAR(energy.energy->si(), 23.0, 1e-3);
  EXPECT_EQ(energy.unknown.count(), 0.0);
  EXPECT_EQ(energy.method, Method::counter);
  EXPECT_GT(energy.uncertainty.si(), 0.0);
}

TEST(PastHistory, HasThePowerOfCountersAndGauges) {
  const PastHistory past = past_of({sample_chunk(0, kBatches)});
  const auto counter = columns_of(past, Domain::package(0), "");
  const auto gauge = columns_of(past, Domain::nvidia_gpu(0), "GPU-aaaa");
  for (std::size_t i = 0; i < counter.size(); ++i) {
    const double power = 10.0 + static_cast<double>(i);
    ASSERT_TRUE(counter[i].mean) << i;
    EXPECT_NEAR(counter[i].mean->si(), power, 1e-2) << i;
    ASSERT_TRUE(gauge[i].mean) << i;
    EXPECT_NEAR(gauge[i].mean->si(), power, 1e-2) << i;
  }
}

TEST(PastHistory, OfTwoChunksOfASessionHasNoGapBetween) {
  const PastHistory past = past_of({sample_chunk(0, 10), sample_chunk(10, kBatches)});
  const EnergyFigure energy = package_energy(past, 4.0, 6.0);
  EXPECT_EQ(energy.unknown.count(), 0.0);
  EXPECT_NEAR(energy.energy.value_or(Joules()).si(), 39.0, 1e-3);
}

TEST(PastHistory, WhileNoDaemonRanIsUnknown) {
  // The second session's counter starts again at 0, 100 s later.
  PastHistory past = past_of({sample_chunk(0, 4)});
  constexpr std::uint64_t kOther = kSampleSession + 1;
  std::string later =
      encode(ChunkHeader{.session = kOther, .made = {}}) + encode(sample_counter(5), kOther);
  ValueBatch batch = sample_batch(0);
  batch.channels.resize(1);
  batch.channels[0].channel = 5;
  for (StoredValue& value : batch.channels[0].values) {
    value.first += std::chrono::seconds(100);
    value.last = value.first;
  }
  later += encode(batch, kOther);
  (void)past.add(later);
  const EnergyFigure all = package_energy(past, 0.0, 100.4);
  ASSERT_TRUE(all.energy);
  EXPECT_NEAR(all.energy->si(), (10.0 + 11.0 + 12.0) / 2.0 + 13.0 * 0.4 + 10.0 * 0.4, 1e-3);
  EXPECT_NEAR(all.unknown.count(), 98.1, 1e-3);
  EXPECT_TRUE(all.flags.has(Flag::gap));
  EXPECT_FALSE(package_energy(past, 50.0, 60.0).energy) << "no daemon ran";
}

TEST(PastHistory, ALostBatchIsAGap) {
  std::string chunk = sample_chunk(0, 4);
  for (std::uint64_t number = 5; number < kBatches; ++number) {
    chunk += encode(sample_batch(number), kSampleSession);
  }
  const PastHistory past = past_of({chunk});
  for (const auto& columns : {columns_of(past, Domain::package(0), ""),
                              columns_of(past, Domain::nvidia_gpu(0), "GPU-aaaa")}) {
    EXPECT_TRUE(columns[2].mean);
    EXPECT_FALSE(columns[4].mean);
    EXPECT_TRUE(columns[6].mean);
  }
}

TEST(PastHistory, OfADamagedFileHasTheSameNumbersOrNone) {
  const std::string whole = sample_chunk(0, kBatches);
  const PastHistory good = past_of({whole});
  const auto check = [&](const std::string& damaged, std::size_t place) {
    const PastHistory past = past_of({damaged});
    for (const auto& [domain, device] :
         {std::pair(Domain::package(0), ""), std::pair(Domain::nvidia_gpu(0), "GPU-aaaa")}) {
      const auto expected = columns_of(good, domain, device);
      const auto found = columns_of(past, domain, device);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].mean) continue;
        ASSERT_NEAR(found[i].mean->si(), expected[i].mean->si(), 1e-9) << place << ' ' << i;
      }
    }
    const EnergyFigure energy = package_energy(past, 0.0, 9.9);
    const EnergyFigure all = package_energy(good, 0.0, 9.9);
    ASSERT_LE(energy.energy.value_or(Joules()).si(), all.energy->si() + 1e-9);
    if (energy.energy && energy.unknown.count() == 0.0) {
      ASSERT_NEAR(energy.energy->si(), all.energy->si(), 1e-9) << place;
    }
  };
  for (std::size_t place = 0; place < whole.size(); place += 3) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(~static_cast<unsigned char>(whole[place]));
    check(damaged, place);
    check(whole.substr(0, place), place);
  }
}

TEST(PastHistory, ChunksOfAnotherMachineAreRefused) {
  PastHistory past({.begin = {}, .end = TimePoint::max(), .machine = 1});
  EXPECT_EQ(past.add(sample_chunk(0, 2, 2)).refusal, "it was read on another machine");
  EXPECT_EQ(past.find(Domain::package(0), ""), nullptr);
  EXPECT_EQ(past.add(sample_chunk(0, 2, 1)).refusal, "");
  EXPECT_EQ(past.add(sample_chunk(0, 2, 0)).refusal, "") << "it is not known where";
}

TEST(PastHistory, AnotherDeviceOfTheSameNameIsAnotherDomain) {
  const PastHistory past = past_of({sample_chunk(0, 4)});
  EXPECT_NE(past.find(Domain::nvidia_gpu(0), "GPU-aaaa"), nullptr);
  EXPECT_EQ(past.find(Domain::nvidia_gpu(0), "GPU-bbbb"), nullptr);
}

TEST(PastHistory, ValuesOutsideOfWhatIsKeptAreLeftOut) {
  const PastHistory past =
      past_of({sample_chunk(0, kBatches)}, {.begin = sample_time(2.0), .end = sample_time(4.0)});
  EXPECT_EQ(past.first(), sample_time(2.0));
  EXPECT_FALSE(package_energy(past, 0.0, 1.9).energy);
  EXPECT_FALSE(package_energy(past, 5.0, 6.0).energy);
  EXPECT_TRUE(package_energy(past, 2.0, 3.0).energy);
}

TEST(PastHistory, AWallClockThatWasSetBackRepeatsNothing) {
  // Batches 2 and 3 have the times of batches 0 and 1.
  std::string chunk = sample_chunk(0, 2);
  for (std::uint64_t number = 2; number < 6; ++number) {
    ValueBatch batch = sample_batch(number);
    for (StoredValue& value : batch.channels[0].values) {
      value.first -= std::chrono::seconds(1);
      value.last = value.first;
    }
    chunk += encode(batch, kSampleSession);
  }
  const EnergyFigure energy = package_energy(past_of({chunk}), 0.0, 1.9);
  // What batches 2 and 3 counted is in no time that is known.
  ASSERT_TRUE(energy.energy);
  EXPECT_NEAR(energy.energy->si(), 10.0 / 2 + 11.0 * 0.4 + 14.0 / 2 + 15.0 * 0.4, 0.01);
  EXPECT_GT(energy.unknown.count(), 0.05);
}

TEST(PastHistory, AnotherSourceOfTheSameDomainIsAddedUpByItself) {
  PastHistory past = past_of({sample_chunk(0, 4)});
  constexpr std::uint64_t kOther = kSampleSession + 1;
  StoredChannel channel = sample_counter(1);
  channel.channel.counter.tick = Joules(1e-6);
  std::string later = encode(ChunkHeader{.session = kOther, .made = {}}) + encode(channel, kOther);
  ValueBatch batch{.number = 0, .channels = {{.channel = 1, .values = {}}}};
  batch.channels[0].period = std::chrono::milliseconds(100);
  for (std::uint64_t i = 0; i <= 10; ++i) {
    const TimePoint at = sample_time(10.0 + static_cast<double>(i) / 10.0);
    batch.channels[0].values.push_back({.first = at, .last = at, .raw = 5'000'000 * i});
  }
  (void)past.add(later + encode(batch, kOther));
  ASSERT_EQ(past.find(Domain::package(0), "")->size(), 2U);
  const EnergyFigure energy = package_energy(past, 0.0, 11.0);
  ASSERT_TRUE(energy.energy);
  EXPECT_NEAR(energy.energy->si(), (10.0 + 11.0 + 12.0) / 2.0 + 13.0 * 0.4 + 50.0, 1e-3);
  EXPECT_NEAR(energy.unknown.count(), 8.1, 1e-3);
}

TEST(PastHistory, TooManyChannelsAreLeftOut) {
  std::string chunk = encode(ChunkHeader{.session = 1, .made = {}});
  for (std::uint64_t id = 0; id < 2000; ++id) {
    chunk += encode(sample_counter(id, std::to_string(id)), 1);
  }
  const PastHistory past = past_of({chunk});
  EXPECT_NE(past.find(Domain::package(0), "100"), nullptr);
  EXPECT_EQ(past.find(Domain::package(0), "1999"), nullptr) << "it takes no memory";
}

TEST(PastHistory, AChunkWithoutTheDescriptionOfAChannelIsAGap) {
  std::string damaged = sample_chunk(10, 20);
  const std::size_t header = encode(*ChunkReader(damaged).header()).size();
  damaged[header + 20] = static_cast<char>(~static_cast<unsigned char>(damaged[header + 20]));
  const PastHistory past = past_of({sample_chunk(0, 10), damaged, sample_chunk(20, 30)});
  const EnergyFigure energy = package_energy(past, 4.0, 11.0);
  EXPECT_NEAR(energy.unknown.count(), 5.1, 1e-3);
  EXPECT_FALSE(package_energy(past, 5.0, 9.0).energy);
}

TEST(PastHistory, AfterTheLastValueNothingIsKnown) {
  PastHistory past = past_of({sample_chunk(0, 4)});
  prepare_columns(past);
  const auto* const eras = past.find(Domain::nvidia_gpu(0), "GPU-aaaa");
  ASSERT_NE(eras, nullptr);
  const auto columns = past_columns(
      *eras,
      {.begin = sample_time(1.7), .width = std::chrono::milliseconds(100), .count = 4, .steps = 1});
  EXPECT_TRUE(columns[0].mean);
  EXPECT_TRUE(columns[1].mean);
  EXPECT_FALSE(columns[2].mean) << "the last value is of 1.9 s";
  EXPECT_FALSE(columns[3].mean);
}

TEST(PastHistory, LongValuesOfATimeThatIsKnownCostLittle) {
  std::string chunk = sample_chunk(0, 2);
  ValueBatch batch = sample_batch(2);
  batch.channels[1].period = std::chrono::milliseconds(10);
  batch.channels[1].values = {
      {.first = sample_time(-599.0), .last = sample_time(0.5), .raw = 10'000}};
  chunk += encode(batch, kSampleSession);
  PastHistory past({.begin = {}, .end = TimePoint::max()});
  EXPECT_LT(past.add(chunk).values, 50U);
}

}  // namespace
}  // namespace wattle::daemon
