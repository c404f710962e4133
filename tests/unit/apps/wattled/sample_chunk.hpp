// Chunks of the history on disk, as a daemon writes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "history/chunk_format.hpp"

namespace wattle::daemon {

inline constexpr std::uint64_t kSampleSession = 0x1234'5678'9abc'def0;

/// So many seconds after the first value of a sample.
inline TimePoint sample_time(double seconds) { return stored_time(1'763'690'000.0 + seconds); }

/// A counter of ticks of 2^-14 J.
inline StoredChannel sample_counter(std::uint64_t id, const std::string& device = {}) {
  return {.id = id,
          .device = device,
          .channel = {
              .domain = Domain::package(0),
              .counter = {.tick = Joules(1.0 / 16384.0), .max_power = Watts(2000.0)},
              .update = {.mean = std::chrono::milliseconds(1), .p99 = std::chrono::milliseconds(2)},
              .source = "powercap"}};
}

/// A gauge in milliwatts.
inline StoredChannel sample_gauge(std::uint64_t id) {
  return {.id = id,
          .device = "GPU-aaaa",
          .channel = {.domain = Domain::nvidia_gpu(0),
                      .source = "nvml",
                      .metric = Metric::power_instant,
                      .gauge = {.scale = 1e-3, .window = std::chrono::milliseconds(25)}}};
}

/// Values of half a second, from second `number` / 2 on: five readings of counter 1, whose power is
/// `number` + 10 W, and one value of gauge 2, confirmed for 0.4 s.
inline ValueBatch sample_batch(std::uint64_t number) {
  constexpr std::uint64_t kTicks = 16384;
  ChannelValues counter{.channel = 1, .period = std::chrono::milliseconds(100), .values = {}};
  std::uint64_t ticks = 0;
  for (std::uint64_t earlier = 0; earlier < number; ++earlier) ticks += (earlier + 10) * kTicks / 2;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const double at = static_cast<double>(number) / 2.0 + static_cast<double>(i) / 10.0;
    counter.values.push_back({.first = sample_time(at),
                              .last = sample_time(at),
                              .raw = ticks + (number + 10) * kTicks * i / 10,
                              .has_gap = number == 0 && i == 0});
  }
  const double from = static_cast<double>(number) / 2.0;
  ChannelValues gauge{.channel = 2, .period = std::chrono::milliseconds(100), .values = {}};
  gauge.values.push_back({.first = sample_time(from),
                          .last = sample_time(from + 0.4),
                          .raw = 1000 * (number + 10),
                          .has_gap = number == 0});
  return {.number = number, .channels = {counter, gauge}};
}

/// A chunk with both channels and the batches from `first` to before `end`.
inline std::string sample_chunk(std::uint64_t first, std::uint64_t end, std::uint64_t machine = 0) {
  std::string bytes = encode(ChunkHeader{.session = kSampleSession,
                                         .first_batch = first,
                                         .machine = machine,
                                         .made = sample_time(static_cast<double>(first) / 2.0)});
  bytes += encode(sample_counter(1), kSampleSession) + encode(sample_gauge(2), kSampleSession);
  for (std::uint64_t number = first; number < end; ++number) {
    bytes += encode(sample_batch(number), kSampleSession);
  }
  return bytes;
}

}  // namespace wattle::daemon
