// For how long a GPU worked, by what the driver answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "fakes/virtual_clock.hpp"
#include "nvml_test.hpp"
#include "sensors/nvml/busy_times.hpp"

namespace wattle::nvml {
namespace {

struct Recorded {
  std::uint64_t at_us;
  std::uint32_t percent;
};

/// An H100 (driver 580.159.04) that works for a second, pauses for a second, and so on; the load's
/// own clock says 1.5787 s of 3.4027 s.
constexpr std::array kSecondsInTurn = {
    Recorded{0, 99},        Recorded{199721, 100},  Recorded{402375, 100},  Recorded{599976, 87},
    Recorded{799843, 0},    Recorded{1000109, 0},   Recorded{1200181, 0},   Recorded{1402941, 0},
    Recorded{1599993, 12},  Recorded{1799699, 100}, Recorded{2000071, 100}, Recorded{2200067, 99},
    Recorded{2403058, 100}, Recorded{2600021, 87},  Recorded{2800137, 0},   Recorded{2999826, 0},
    Recorded{3200156, 0},   Recorded{3402669, 0}};
/// The same with pulses of 10 ms, three each second: 0.1006 s of 3.4032 s.
/// nvmlDeviceGetUtilizationRates showed 10 % or 0 %, 4.0 % on average.
constexpr std::array kPulses = {Recorded{0, 5},       Recorded{199994, 0},  Recorded{403190, 4},
                                Recorded{600115, 5},  Recorded{800162, 0},  Recorded{999886, 5},
                                Recorded{1199865, 0}, Recorded{1402642, 4}, Recorded{1600208, 5},
                                Recorded{1800252, 0}, Recorded{2000141, 5}, Recorded{2199970, 0},
                                Recorded{2402688, 4}, Recorded{2600032, 5}, Recorded{2800127, 0},
                                Recorded{3000202, 5}, Recorded{3200187, 0}, Recorded{3403181, 4}};

/// A driver that has these samples. NVML's functions have no state to pass: it is here.
std::vector<Sample> kept_samples;  // NOLINT: see above
int questions = 0;                 // NOLINT: see above

Api sampled_driver(std::span<const Recorded> samples) {
  constexpr std::uint64_t kFirstUs = 1'795'690'000'000'000;
  kept_samples.clear();
  for (const Recorded& recorded : samples) {
    Sample& sample = kept_samples.emplace_back();
    sample.timestamp_us = kFirstUs + recorded.at_us;
    std::memcpy(sample.value.data(), &recorded.percent, sizeof recorded.percent);
  }
  questions = 0;
  Api api{DynamicLibrary()};
  api.samples = [](Handle, std::uint32_t, unsigned long long last_us, ValueType* type,
                   std::uint32_t* count, Sample* out) {
    ++questions;
    *type = ValueType::unsigned_int;
    *count = 0;
    for (const Sample& sample : kept_samples) {
      if (sample.timestamp_us > last_us) out[(*count)++] = sample;
    }
    return *count != 0 ? Return::success : Return::not_found;
  };
  return api;
}

/// From the first sample on, of which it is not known how long it is of.
BusyTime busy_of(std::span<const Recorded> samples) {
  const fakes::VirtualClock clock;
  BusySamples busy;
  (void)busy.until_now(sampled_driver(samples.first(1)), nullptr, clock);
  return busy.until_now(sampled_driver(samples), nullptr, clock).value();
}

TEST(BusySamples, OfAnH100AreTheTimeThatItWorked) {
  const BusyTime seconds_in_turn = busy_of(kSecondsInTurn);
  EXPECT_EQ(seconds_in_turn.known, std::chrono::microseconds(3'402'669));
  EXPECT_NEAR(Seconds(seconds_in_turn.busy).count(), 1.5787, 0.01);
  const BusyTime pulses = busy_of(kPulses);
  EXPECT_EQ(pulses.known, std::chrono::microseconds(3'403'181));
  EXPECT_NEAR(Seconds(pulses.busy).count(), 0.1006, 0.02);
}

TEST(BusySamples, AreAddedOnceHoweverOftenTheDriverIsAsked) {
  const fakes::VirtualClock clock;
  BusySamples samples;
  (void)samples.until_now(sampled_driver(std::span(kSecondsInTurn).first(1)), nullptr, clock);
  const Api api = sampled_driver(kSecondsInTurn);
  const BusyTime once = samples.until_now(api, nullptr, clock).value();
  const BusyTime again = samples.until_now(api, nullptr, clock).value();
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(again.busy, once.busy);
  EXPECT_EQ(again.known, once.known);
}

TEST(BusySamples, HaveNothingOfAPauseInWhichTheDriverHadNone) {
  constexpr std::array kPause = {Recorded{0, 100}, Recorded{200'000, 100},
                                 Recorded{60'000'000, 100}, Recorded{60'200'000, 50}};
  const BusyTime busy = busy_of(kPause);
  EXPECT_EQ(busy.known, std::chrono::milliseconds(400));
  EXPECT_EQ(busy.busy, std::chrono::milliseconds(300));
}

TEST(BusySamples, HaveNothingOfWhatWasBeforeTheFirstQuestion) {
  const fakes::VirtualClock clock;
  const BusyTime busy =
      BusySamples().until_now(sampled_driver(kSecondsInTurn), nullptr, clock).value();
  EXPECT_EQ(busy.known, std::chrono::nanoseconds(0));
}

TEST(BusySamples, AreNotKnownWhereTheyAreImpossible) {
  constexpr std::array kImpossible = {Recorded{0, 100}, Recorded{200'000, 101},
                                      Recorded{400'000, 50},
                                      Recorded{16'000'000'000'000'000'000U, 50}};
  EXPECT_EQ(busy_of(kImpossible).known, std::chrono::milliseconds(200));
}

TEST(BusySamples, AreAbsentWhereTheDriverDoesNotHaveThem) {
  const fakes::VirtualClock clock;
  EXPECT_FALSE(BusySamples().until_now(Api{DynamicLibrary()}, nullptr, clock)) << "no function";
  Api odd = sampled_driver(kPulses);
  odd.samples = [](Handle, std::uint32_t, unsigned long long, ValueType* type, std::uint32_t* count,
                   Sample*) {
    *type = ValueType::real;
    *count = 0;
    return Return::success;
  };
  EXPECT_FALSE(BusySamples().until_now(odd, nullptr, clock)) << "of another type";
  odd.samples = [](Handle, std::uint32_t, unsigned long long, ValueType*, std::uint32_t* count,
                   Sample*) {
    *count = 1'000'000;
    return Return::success;
  };
  EXPECT_FALSE(BusySamples().until_now(odd, nullptr, clock)) << "more than there was room for";
}

}  // namespace
}  // namespace wattle::nvml
