#include "sampling/history.hpp"

#include <algorithm>
#include <functional>

namespace wattle {

using std::chrono::nanoseconds;

namespace {

/// Options for a state that holds from one entry to the next.
TimelineOptions states_options(std::size_t memory_limit) noexcept {
  return {.quantum = nanoseconds(1),
          .period = std::chrono::milliseconds(1),
          .memory_limit = memory_limit};
}

/// The states' raw integers: this bit, and flags.
constexpr std::uint64_t kUnknownState = std::uint64_t{1} << 32U;

bool is_unknown(const StoredReading& state) noexcept { return (state.raw & kUnknownState) != 0; }

Flags flags_of(const StoredReading& state) noexcept {
  return Flags::from_bits(static_cast<std::uint32_t>(state.raw));
}

/// A value is reported until it is due to be read again, and one update of its sensor more: the
/// sensor may still show it. If the update interval is unknown, one more period at least.
nanoseconds longest_age_of_value(const Channel& channel, nanoseconds period) noexcept {
  return period + (channel.update.known() ? channel.update.mean : std::max(period, kAssumedUpdate));
}

nanoseconds longest_validity(const Channel& channel, const HistoryOptions& options) noexcept {
  const nanoseconds covered =
      longest_age_of_value(channel, std::max(options.period, options.longest_period));
  return std::max(covered, options.longest_pause);
}

TimelineOptions values_options(const Channel& channel, const HistoryOptions& options) {
  const bool counter = channel.metric == Metric::energy;
  const nanoseconds quantum = counter ? kCounterQuantum : kGaugeQuantum;
  return {.kind = counter ? TimelineKind::counter : TimelineKind::gauge,
          .quantum = quantum,
          .period = std::max(options.period, quantum),
          .hold = longest_validity(channel, options),
          .memory_limit = options.memory_limit};
}

}  // namespace

History::History(const Channel& channel, const HistoryOptions& options)
    : channel_(channel),
      unwrap_(channel.counter, channel.update.p99),
      period_(options.period),
      longest_pause_(options.longest_pause),
      hold_(longest_validity(channel, options)),
      values_(values_options(channel, options)),
      states_(states_options(kHistoryEventBytes - kMinTimelineBytes)),
      losses_(states_options(kMinTimelineBytes)) {}

void History::set_period(nanoseconds period) noexcept {
  period_.store(period, std::memory_order_relaxed);
}

nanoseconds History::valid_for() const noexcept { return std::max(longest_age(), longest_pause_); }

nanoseconds History::longest_age() const noexcept {
  return longest_age_of_value(channel_, period());
}

nanoseconds History::update() const noexcept {
  if (channel_.update.known() || is_counter()) return channel_.update.mean;
  return kAssumedUpdate;
}

std::optional<TimePoint> History::overdue() const noexcept {
  if (is_counter()) return std::nullopt;
  const std::optional<TimePoint> newest = values_.newest();
  return newest ? std::optional(*newest + valid_for()) : std::nullopt;
}

void History::note_suspend() noexcept {
  if (last_) suspended_ = true;
}

void History::note(TimePoint at, bool unknown, Flags flags) noexcept {
  unknown_ = unknown;
  states_.append(at, flags.bits() | (unknown ? kUnknownState : 0));
}

void History::add(const Reading& reading) noexcept {
  fresh_ = reading.status == ReadStatus::ok;
  note_loss(reading);
  is_counter() ? add_counter(reading) : add_gauge(reading);
}

void History::note_loss(const Reading& reading) noexcept {
  const bool changes = lost_ ? fresh_ : reading.status == ReadStatus::gone;
  if (!changes) return;
  lost_ = !lost_;
  losses_.append(reading.at, lost_ ? 1 : 0);
}

void History::add_counter(const Reading& reading) noexcept {
  track_.is_known = fresh_ || (last_ && reading.status == ReadStatus::stale);
  if (track_.is_known) track_.read_at = reading.at;
  if (!fresh_) return;
  if (suspended_) unwrap_.forget();
  const CounterStep step = unwrap_.update(reading.raw, reading.at);
  if (!last_) track_.first_raw = reading.raw;
  if (last_ && !step.known()) ++track_.losses;
  if (!step.known()) track_.since = reading.at;
  if (!step.known() || step.ticks > 0) track_.moved_at = reading.at;
  if (last_) {
    Flags flags = step.flags();
    if (step.kind == StepKind::first) flags.set(Flag::gap);
    if (!step.known()) note(last_->at, true, flags);
    if (!step.known() || !flags.none()) note(reading.at, false, flags);
  }
  suspended_ = false;
  ticks_ += step.ticks;
  last_ = Boundary{.at = reading.at, .half_width = reading.half_width, .ticks = ticks_};
  values_.append(reading.at, ticks_);
}

void History::add_gauge(const Reading& reading) noexcept {
  const nanoseconds holds = suspended_ ? nanoseconds(0) : valid_for();
  const bool is_overdue = last_ && reading.at > last_->at + holds;
  if (is_overdue && !unknown_) {
    const TimePoint since = last_->at + holds;
    note(since, true, Flags::of(Flag::gap));
  }
  if (!fresh_) return;
  // From the time that the value is stored with.
  if (unknown_) note(reading.at - reading.at.time_since_epoch() % kGaugeQuantum, false, {});
  suspended_ = false;
  last_ = Boundary{.at = reading.at, .half_width = reading.half_width};
  values_.append(reading.at, reading.raw);
}

std::optional<Boundary> History::at(TimePoint time) const noexcept {
  const auto [before, after] = values_.at(time);
  if (!before) return std::nullopt;
  Boundary boundary{.at = time, .ticks = before->raw};
  if (time - before->first_seen < kCounterQuantum) return boundary;
  if (!after) return std::nullopt;
  boundary.bracket = after->first_seen - before->first_seen;
  const auto ticks = static_cast<double>(after->raw - before->raw);
  boundary.fraction = ticks * ((time - before->first_seen) / Seconds(boundary.bracket));
  return boundary;
}

std::optional<StoredReading> History::held(TimePoint time) const noexcept {
  const auto [value, next] = values_.at(time);
  if (!value || time >= value->last_confirmed + hold_) return std::nullopt;
  const auto state = states_.at(time).before;
  if (state && is_unknown(*state)) return std::nullopt;
  // No state says yet that the newest value is no longer valid.
  if (!next && time >= value->last_confirmed + valid_for()) return std::nullopt;
  return value;
}

void History::visit_unknown(TimePoint begin, TimePoint end,
                            const std::function<void(TimePoint, TimePoint)>& visit) const {
  const auto before = states_.at(begin).before;
  bool unknown = before && is_unknown(*before);
  TimePoint since = begin;
  states_.for_each(begin, end, [&](const StoredReading& state) {
    if (unknown && !is_unknown(state) && state.first_seen > since) visit(since, state.first_seen);
    if (!unknown) since = std::max(begin, state.first_seen);
    unknown = is_unknown(state);
  });
  // While the reader waits for the device, no state says that the value is no longer valid.
  const TimePoint from = unknown ? since : std::max(begin, overdue().value_or(end));
  if (end > from) visit(from, end);
}

bool History::was_lost(TimePoint begin, TimePoint end) const {
  const auto before = losses_.at(begin).before;
  bool lost = before && before->raw != 0;
  losses_.for_each(begin, end, [&](const StoredReading& loss) { lost = lost || loss.raw != 0; });
  return lost;
}

GaugeWindow History::gauge_window(TimePoint begin, TimePoint end) const noexcept {
  GaugeWindow sum;
  TimePoint from = begin;
  const auto add_until = [&](TimePoint until) {
    if (until > from) sum += values_.gauge_window(from, until);
  };
  const auto leave_out = [&](TimePoint unknown_from, TimePoint unknown_to) {
    add_until(unknown_from);
    from = unknown_to;
  };
  visit_unknown(begin, end, std::ref(leave_out));  // allocates nothing
  add_until(end);
  return sum;
}

Condition History::condition(TimePoint begin, TimePoint end) const {
  Condition condition;
  const auto before = states_.at(begin).before;
  if (before && is_unknown(*before)) condition.flags |= flags_of(*before);
  states_.for_each(begin, end, [&](const StoredReading& state) {
    const bool starts_after = is_unknown(state) && state.first_seen >= end;
    if (state.first_seen > begin && !starts_after) condition.flags |= flags_of(state);
  });
  if (was_lost(begin, end)) condition.flags.set(Flag::lost);
  const auto add_unknown = [&](TimePoint from, TimePoint to) { condition.unknown += to - from; };
  visit_unknown(begin, end, std::ref(add_unknown));

  const auto oldest = states_.dropped() > 0 ? states_.oldest() : std::nullopt;
  if (oldest && *oldest > begin) {
    condition.flags.set(Flag::gap);
    condition.forgotten = std::min(*oldest, end) - begin;
    condition.unknown += condition.forgotten;
  }
  return condition;
}

}  // namespace wattle
