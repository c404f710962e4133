#include "sampling/history.hpp"

#include <algorithm>

namespace wattle {

using std::chrono::nanoseconds;

namespace {

constexpr std::size_t kStateBytes = std::size_t{64} << 10U;

/// A value holds until it is due to be read again, and one update of its sensor more: that long
/// the sensor may go on showing it. Where nobody knows the update, one more period.
nanoseconds believed_for(const Channel& channel, nanoseconds period) noexcept {
  return period + (channel.update.known() ? channel.update.mean : period);
}

nanoseconds longest_belief(const Channel& channel, const HistoryOptions& options) noexcept {
  return believed_for(channel, std::max(options.period, options.longest_period));
}

TimelineOptions values_options(const Channel& channel, const HistoryOptions& options) {
  const bool counter = channel.metric == Metric::energy;
  const nanoseconds quantum =
      counter ? std::chrono::microseconds(1) : std::chrono::microseconds(100);
  return {.kind = counter ? TimelineKind::counter : TimelineKind::gauge,
          .quantum = quantum,
          .period = std::max(options.period, quantum),
          .hold = longest_belief(channel, options),
          .memory_limit = options.memory_limit};
}

}  // namespace

History::History(const Channel& channel, const HistoryOptions& options)
    : channel_(channel),
      unwrap_(channel.counter, channel.update.p99),
      period_(options.period),
      believed_(believed_for(channel, options.period)),
      hold_(longest_belief(channel, options)),
      values_(values_options(channel, options)),
      states_({.quantum = nanoseconds(1),
               .period = std::chrono::milliseconds(1),
               .memory_limit = kStateBytes}) {}

void History::set_period(nanoseconds period) noexcept {
  period_.store(period, std::memory_order_relaxed);
  believed_ = believed_for(channel_, period);
}

void History::note_suspend() noexcept {
  if (last_) suspended_ = true;
}

void History::note(TimePoint at, bool unknown, Flags flags) noexcept {
  unknown_ = unknown;
  states_.append(at, flags.bits() | (unknown ? history_state::kUnknown : 0));
}

void History::add(const Reading& reading) noexcept {
  fresh_ = reading.status == ReadStatus::ok;
  if (reading.status == ReadStatus::gone && !lost_) {
    lost_ = true;
    note(reading.at, unknown_, Flags::of(Flag::lost));
  } else if (fresh_ && lost_) {
    lost_ = false;
    note(reading.at, unknown_, {});
  }
  is_counter() ? add_counter(reading) : add_gauge(reading);
}

void History::add_counter(const Reading& reading) noexcept {
  if (!fresh_) return;
  if (suspended_) unwrap_.forget();
  const CounterStep step = unwrap_.update(reading.raw, reading.at);
  if (last_) {
    Flags flags;
    if (step.kind == StepKind::wrapped) flags.set(Flag::wrapped);
    if (step.kind == StepKind::reset) flags.set(Flag::reset);
    if (step.kind == StepKind::implausible) flags.set(Flag::implausible);
    if (step.kind == StepKind::first) flags.set(Flag::gap);
    if (step.ambiguous) flags.set(Flag::ambiguous);
    if (!step.known()) note(last_->at, true, flags);
    if (!step.known() || !flags.none()) note(reading.at, false, flags);
  }
  suspended_ = false;
  ticks_ += step.ticks;
  last_ = Boundary{.at = reading.at, .half_width = reading.half_width, .ticks = ticks_};
  values_.append(reading.at, ticks_);
}

void History::add_gauge(const Reading& reading) noexcept {
  const bool overdue = last_ && reading.at > last_->at + believed_;
  if (last_ && !unknown_ && (overdue || suspended_)) {
    const TimePoint since = suspended_ ? last_->at : last_->at + believed_;
    note(since, true, Flags::of(Flag::gap));
  }
  if (!fresh_) return;
  if (unknown_) note(reading.at, false, {});
  suspended_ = false;
  last_ = Boundary{.at = reading.at, .half_width = reading.half_width};
  values_.append(reading.at, reading.raw);
}

std::optional<Boundary> History::at(TimePoint time) const noexcept {
  const auto [before, after] = values_.at(time);
  if (!before) return std::nullopt;
  Boundary boundary{.at = time, .ticks = before->raw};
  if (before->first_seen == time) return boundary;
  if (!after) return std::nullopt;
  boundary.bracket = after->first_seen - before->first_seen;
  const auto ticks = static_cast<double>(after->raw - before->raw);
  boundary.fraction = ticks * ((time - before->first_seen) / Seconds(boundary.bracket));
  return boundary;
}

Condition History::condition(TimePoint begin, TimePoint end) const {
  Condition condition;
  const auto merge = [&](const StoredReading& state) {
    condition.flags |= Flags::from_bits(static_cast<std::uint32_t>(state.raw));
  };
  if (const auto before = states_.at(begin).before) {
    const bool lasts = (before->raw & history_state::kUnknown) != 0 ||
                       Flags::from_bits(static_cast<std::uint32_t>(before->raw)).has(Flag::lost);
    if (lasts) merge(*before);
  }
  states_.for_each(begin, end, [&](const StoredReading& state) {
    if (state.first_seen > begin) merge(state);
  });
  each_unknown(begin, end, [&](TimePoint from, TimePoint to) { condition.unknown += to - from; });

  // Events that were dropped to save memory could have said anything.
  const auto oldest = states_.dropped() > 0 ? states_.oldest() : std::nullopt;
  if (oldest && *oldest > begin) {
    condition.flags.set(Flag::gap);
    condition.unknown += std::min(*oldest, end) - begin;
  }
  return condition;
}

}  // namespace wattle
