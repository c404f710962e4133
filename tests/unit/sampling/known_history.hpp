// Histories of channels whose facts a test knows by heart.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sampling/history.hpp"

namespace wattle {

/// Where the times of a test are counted from: a whole number of any timeline's quanta.
inline constexpr TimePoint kBegin{std::chrono::hours(1)};

inline std::vector<std::string_view> names(const Flags& flags) {
  std::vector<std::string_view> names;
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}

/// A counter of half joules that goes around after 1000; at most 100 W.
inline Channel half_joules() {
  using std::chrono::microseconds;
  return {.domain = Domain::package(0),
          .counter = {.tick = Joules(0.5), .modulus = 1000, .max_power = Watts(100.0)},
          .update = {
              .mean = microseconds(1000), .spread = microseconds(270), .p99 = microseconds(2000)}};
}

/// The same of a device that draws 10 W at least while the machine runs.
inline Channel restless_half_joules() {
  Channel channel = half_joules();
  channel.counter.least_power = Watts(10.0);
  return channel;
}

/// A gauge of whole watts, renewed every 100 ms.
inline Channel whole_watts() {
  using std::chrono::milliseconds;
  return {.domain = Domain::nvidia_gpu(0),
          .update = {.mean = milliseconds(100)},
          .metric = Metric::power_instant};
}

/// A history and what reads it. Times are counted from `kBegin`.
class KnownHistory {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  explicit KnownHistory(const Channel& channel,
                        const HistoryOptions& options = {.period = std::chrono::milliseconds(100)})
      : history_(channel, options) {}

  void read(nanoseconds at, std::uint64_t raw) {
    history_.add({.at = kBegin + at, .raw = raw, .status = ReadStatus::ok});
  }
  /// A reading without a value. What stands in its place means nothing.
  void fail(nanoseconds at, ReadStatus status = ReadStatus::retry) {
    history_.add({.at = kBegin + at, .raw = 777, .status = status});
  }
  /// Reads `raw` every 100 ms from `begin` to `end`, both included.
  void read_through(nanoseconds begin, nanoseconds end, std::uint64_t raw) {
    for (nanoseconds at = begin; at <= end; at += std::chrono::milliseconds(100)) read(at, raw);
  }
  void suspend() { history_.note_suspend(); }

  [[nodiscard]] Condition condition(nanoseconds begin, nanoseconds end) const {
    return history_.condition(kBegin + begin, kBegin + end);
  }
  [[nodiscard]] Seconds unknown(nanoseconds begin, nanoseconds end) const {
    return condition(begin, end).unknown;
  }
  [[nodiscard]] std::vector<std::string_view> flags(nanoseconds begin, nanoseconds end) const {
    return names(condition(begin, end).flags);
  }

  [[nodiscard]] History& operator*() noexcept { return history_; }
  [[nodiscard]] const History& operator*() const noexcept { return history_; }
  [[nodiscard]] History* operator->() noexcept { return &history_; }

 private:
  History history_;
};

}  // namespace wattle
