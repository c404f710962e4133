// What a timeline has to answer, from plain vectors, by other ways than the timeline's own.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sampling/timeline/timeline.hpp"

namespace wattle {

/// Keeps every reading. Times must not decrease nor lie before the epoch.
class PlainTimeline {
 public:
  explicit PlainTimeline(const TimelineOptions& options)
      : options_(options),
        hold_((options.hold + options.quantum - std::chrono::nanoseconds(1)) / options.quantum *
              options.quantum) {}

  void append(TimePoint time_read, std::uint64_t raw) {
    const TimePoint time = floor(time_read);
    const bool gauge = options_.kind == TimelineKind::gauge;
    if (gauge && !readings_.empty()) {
      StoredReading& last = readings_.back();
      if (last.raw == raw && time <= last.last_confirmed + hold_) {
        last.last_confirmed = time;
        return;
      }
    }
    if (gauge) integrals_.push_back(integral_until(time));
    readings_.push_back({.first_seen = time, .last_confirmed = time, .raw = raw});
  }

  [[nodiscard]] const std::vector<StoredReading>& readings() const { return readings_; }

  [[nodiscard]] Bracket at(TimePoint time) const {
    const std::size_t next = index_after(floor(time));
    Bracket bracket;
    if (next > 0) bracket.before = readings_[next - 1];
    if (next < readings_.size()) bracket.after = readings_[next];
    return bracket;
  }

  [[nodiscard]] std::optional<double> ticks(TimePoint begin, TimePoint end) const {
    const Bracket from = at(begin);
    const Bracket to = at(end);
    const auto known = [](const Bracket& bracket, TimePoint time) {
      return bracket.before && (bracket.after || bracket.before->first_seen == time);
    };
    if (!known(from, floor(begin)) || !known(to, floor(end))) return std::nullopt;
    return static_cast<double>(to.before->raw - from.before->raw) + beyond(to, floor(end)) -
           beyond(from, floor(begin));
  }

  [[nodiscard]] GaugeWindow integral(TimePoint begin, TimePoint end) const {
    const GaugeWindow from = integral_until(begin);
    const GaugeWindow to = integral_until(end);
    return {.raw_ns = to.raw_ns - from.raw_ns, .known = to.known - from.known};
  }

 private:
  [[nodiscard]] TimePoint floor(TimePoint time) const {
    return TimePoint(time.time_since_epoch() / options_.quantum * options_.quantum);
  }

  /// Of the first reading after `time`.
  [[nodiscard]] std::size_t index_after(TimePoint time) const {
    return static_cast<std::size_t>(
        std::ranges::upper_bound(readings_, time, {}, &StoredReading::first_seen) -
        readings_.begin());
  }

  static double beyond(const Bracket& bracket, TimePoint time) {
    if (bracket.before->first_seen == time) return 0.0;
    const auto ticks = static_cast<double>(bracket.after->raw - bracket.before->raw);
    const auto part = static_cast<double>((time - bracket.before->first_seen).count());
    const auto whole =
        static_cast<double>((bracket.after->first_seen - bracket.before->first_seen).count());
    return ticks * (part / whole);
  }

  [[nodiscard]] GaugeWindow integral_until(TimePoint time) const {
    const std::size_t next = index_after(time);
    if (next == 0) return {};
    const StoredReading& last = readings_[next - 1];
    const auto held = std::min(time, last.last_confirmed + hold_) - last.first_seen;
    const GaugeWindow& before = integrals_[next - 1];
    return {.raw_ns = before.raw_ns + Uint128{last.raw} * static_cast<std::uint64_t>(held.count()),
            .known = before.known + held};
  }

  TimelineOptions options_;
  std::chrono::nanoseconds hold_;
  std::vector<StoredReading> readings_;
  std::vector<GaugeWindow> integrals_;  ///< until each reading; gauges only
};

}  // namespace wattle
