#include "sampling/timeline/timeline.hpp"

#include <algorithm>
#include <string>

#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;

namespace {

std::uint64_t count_of(nanoseconds time) noexcept {
  return static_cast<std::uint64_t>(std::max(time, nanoseconds(0)).count());
}

std::uint64_t nanoseconds_of(TimePoint time) noexcept { return count_of(time.time_since_epoch()); }

const TimelineOptions& checked(const TimelineOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw InvalidArgument("cannot make a timeline: " + what);
  };
  if (options.quantum < nanoseconds(1)) refuse("its quantum must be above 0");
  if (options.period < options.quantum) refuse("its period must be at least its quantum");
  if (options.hold < nanoseconds(0)) refuse("its hold must not be negative");
  if (options.memory_limit < kMinTimelineBytes) {
    refuse("its memory limit must be at least " + std::to_string(kMinTimelineBytes) + " bytes");
  }
  return options;
}

/// Ticks from `bracket.before` to `time`, linear; absent where that reading or the next is missing.
std::optional<double> ticks_since_before(const Bracket& bracket, TimePoint time) noexcept {
  if (!bracket.before) return std::nullopt;
  const nanoseconds since = time - bracket.before->first_seen;
  if (since == nanoseconds(0)) return 0.0;
  if (!bracket.after) return std::nullopt;
  const nanoseconds length = bracket.after->first_seen - bracket.before->first_seen;
  const auto ticks = static_cast<double>(bracket.after->raw - bracket.before->raw);
  return ticks * (static_cast<double>(since.count()) / static_cast<double>(length.count()));
}

}  // namespace

Timeline::Timeline(const TimelineOptions& options)
    : kind_(checked(options).kind),
      quantum_(count_of(options.quantum)),
      hold_((count_of(options.hold) + count_of(options.quantum) - 1) / count_of(options.quantum)),
      store_(ChunkCodec(options.kind, count_of(options.period) / count_of(options.quantum)),
             options.memory_limit) {}

void Timeline::append(TimePoint at, std::uint64_t raw) noexcept {
  const std::uint64_t time = std::max(quanta_of(at), last_confirmed_);
  if (kind_ == TimelineKind::gauge && store_.stored() > 0) {
    const std::uint64_t held_until = last_confirmed_ + hold_;
    if (raw == raw_ && time <= held_until) {
      last_confirmed_ = time;
      store_.confirm(time);
      return;
    }
    const std::uint64_t held = std::min(time, held_until) - first_seen_;
    before_.raw_quanta += Uint128{raw_} * held;
    before_.quanta += held;
    before_.squared_changes += squared_difference(raw, raw_);
  }
  store_.push(time, raw, before_);
  first_seen_ = time;
  last_confirmed_ = time;
  raw_ = raw;
}

Bracket Timeline::at(TimePoint time) const noexcept {
  const std::uint64_t quanta = quanta_of(time);
  while (true) {
    TimelineChunk room;
    const std::optional<FoundChunk> found = load_at(quanta, room);
    if (!found) return {};
    const TimelineChunk& chunk = *found->chunk;
    const auto* const first = chunk.first_seen.data();
    const auto next =
        static_cast<std::size_t>(std::upper_bound(first, first + chunk.count, quanta) - first);
    Bracket bracket;
    if (next > 0) bracket.before = reading(chunk, next - 1);
    if (next < chunk.count) {
      bracket.after = reading(chunk, next);
    } else if (!found->newest) {
      const TimelineChunk* const after = store_.load(found->number + 1, room);
      if (after == nullptr) continue;
      bracket.after = reading(*after, 0);
    }
    return bracket;
  }
}

std::optional<double> Timeline::ticks_between(TimePoint begin, TimePoint end) const noexcept {
  const Bracket first = at(begin);
  const Bracket last = at(end);
  const auto after_begin = ticks_since_before(first, time_of(quanta_of(begin)));
  const auto after_end = ticks_since_before(last, time_of(quanta_of(end)));
  if (!after_begin || !after_end) return std::nullopt;
  const std::uint64_t between = last.before->raw - first.before->raw;
  return static_cast<double>(between) + *after_end - *after_begin;
}

GaugeWindow Timeline::gauge_window(TimePoint begin, TimePoint end) const noexcept {
  // The end first: readings that are dropped during the call then count as unknown. Both from one
  // chunk where they lie in one: it may be open, and say something else about times to come a
  // moment later.
  TimelineChunk room;
  std::optional<FoundChunk> found = load_at(quanta_of(end), room);
  if (!found) return {};
  const GaugeWindow until_end = integral_until(end, *found->chunk);
  if (quanta_of(begin) < found->chunk->first_seen[0]) found = load_at(quanta_of(begin), room);
  const GaugeWindow until_begin = integral_until(begin, *found->chunk);
  if (until_end.known <= until_begin.known) return {};
  return {.raw_ns = until_end.raw_ns - until_begin.raw_ns,
          .known = until_end.known - until_begin.known};
}

GaugeWindow Timeline::integral_until(TimePoint time, const TimelineChunk& chunk) const noexcept {
  const std::uint64_t quantum_ns = quantum_.divisor();
  const std::uint64_t quanta = quanta_of(time);
  GaugeSum sum = chunk.before;
  GaugeWindow window;
  for (std::size_t i = 0; i < chunk.count && chunk.first_seen[i] <= quanta; ++i) {
    const std::uint64_t held_until = chunk.last_confirmed[i] + hold_;
    if (i + 1 < chunk.count && chunk.first_seen[i + 1] <= quanta) {
      const std::uint64_t held =
          std::min(chunk.first_seen[i + 1], held_until) - chunk.first_seen[i];
      sum.raw_quanta += Uint128{chunk.raw[i]} * held;
      sum.quanta += held;
    } else {
      const std::uint64_t until_ns =
          quanta < held_until ? nanoseconds_of(time) : held_until * quantum_ns;
      const std::uint64_t held_ns = until_ns - chunk.first_seen[i] * quantum_ns;
      window.raw_ns = Uint128{chunk.raw[i]} * held_ns;
      window.known = nanoseconds(held_ns);
    }
  }
  window.raw_ns += sum.raw_quanta * quantum_ns;
  window.known += nanoseconds(sum.quanta * quantum_ns);
  return window;
}

std::uint64_t Timeline::size() const noexcept {
  const std::uint64_t dropped = store_.dropped();
  return store_.stored() - dropped;
}

std::optional<TimePoint> Timeline::oldest() const noexcept {
  TimelineChunk room;
  const std::optional<FoundChunk> found = load_at(0, room);
  return found ? std::optional(time_of(found->chunk->first_seen[0])) : std::nullopt;
}

std::optional<TimePoint> Timeline::since_newest(std::uint64_t count) const noexcept {
  // Readings that are dropped during the call are far from the newest, unless the limit of memory
  // is that tight.
  const std::uint64_t dropped = store_.dropped();
  const std::uint64_t stored = store_.stored();
  if (stored - dropped <= count || count == 0) return std::nullopt;
  const std::uint64_t first = stored - count;
  TimelineChunk room;
  const TimelineChunk* const chunk = store_.load(first / kChunkReadings, room);
  if (chunk == nullptr) return std::nullopt;
  return time_of(chunk->first_seen[first % kChunkReadings]);
}

std::optional<TimePoint> Timeline::newest() const noexcept {
  const std::optional<std::uint64_t> quanta = store_.last_confirmed();
  return quanta ? std::optional(time_of(*quanta)) : std::nullopt;
}

std::optional<Timeline::FoundChunk> Timeline::load_at(std::uint64_t quanta,
                                                      TimelineChunk& room) const noexcept {
  if (const auto decoded = store_.find_decoded(quanta)) {
    return FoundChunk{.chunk = decoded->chunk, .number = decoded->number, .newest = false};
  }
  while (true) {
    const auto held = store_.held();
    if (!held) return std::nullopt;
    const std::uint64_t number = store_.find(*held, quanta).value_or(held->oldest);
    if (const TimelineChunk* const chunk = store_.load(number, room)) {
      return FoundChunk{.chunk = chunk, .number = number, .newest = number == held->newest};
    }
  }
}

std::uint64_t Timeline::quanta_of(TimePoint time) const noexcept {
  return quantum_.quotient(nanoseconds_of(time));
}

TimePoint Timeline::time_of(std::uint64_t quanta) const noexcept {
  return TimePoint(nanoseconds(static_cast<std::int64_t>(quanta * quantum_.divisor())));
}

StoredReading Timeline::reading(const TimelineChunk& chunk, std::size_t i) const noexcept {
  const bool gauge = kind_ == TimelineKind::gauge;
  return {.first_seen = time_of(chunk.first_seen[i]),
          .last_confirmed = time_of(gauge ? chunk.last_confirmed[i] : chunk.first_seen[i]),
          .raw = chunk.raw[i]};
}

}  // namespace wattle
