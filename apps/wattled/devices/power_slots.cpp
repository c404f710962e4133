#include "devices/power_slots.hpp"

#include <algorithm>
#include <optional>

#include "sampling/integrate.hpp"

namespace wattle::daemon {
namespace {

using std::chrono::nanoseconds;

/// Means of a counter over less than this many of its updates say little.
constexpr int kUpdatesPerMean = 10;
/// A source that was not read for this long is not waited for.
constexpr nanoseconds kPatienceWithSource = std::chrono::seconds(1);
/// Slots that one call of `take` adds at most: after a pause of the sensor there are many.
constexpr int kMostSlotsAtOnce = 64;
/// The most that Unix times, which are floating-point numbers, may be off.
constexpr nanoseconds kUnixError = std::chrono::milliseconds(1);

Watts watts_of(float watts) noexcept { return Watts(static_cast<double>(watts)); }

void extend(PowerSummary& slot, Watts power) noexcept {
  const auto watts = static_cast<float>(power.si());
  slot.lowest = std::min(slot.lowest, watts);
  slot.highest = std::max(slot.highest, watts);
}

PowerSummary known_slot(Watts mean, double known) noexcept {
  PowerSummary slot{.sum = static_cast<float>(mean.si() * known),
                    .known = static_cast<float>(known)};
  extend(slot, mean);
  return slot;
}

PowerSummary counter_slot(const History& counter, TimePoint begin, TimePoint end) {
  const auto first = counter.at(begin);
  const auto last = counter.at(end);
  if (!first || !last || counter.condition(begin, end).unknown > nanoseconds(0)) return {};
  const auto mean = counted_power(counter.channel(), *first, *last).power;
  if (!mean) return {};
  PowerSummary slot = known_slot(*mean, 1.0);
  const nanoseconds least = kUpdatesPerMean * counter.update();
  const auto around_end = counter.values().at(end);
  std::optional<StoredReading> since = counter.values().at(begin).before;
  const auto take = [&](const StoredReading& reading) {
    const nanoseconds length = since ? reading.first_seen - since->first_seen : nanoseconds(0);
    if (since && (length < least || length <= nanoseconds(0))) return;
    if (since) {
      const auto ticks = static_cast<double>(reading.raw - since->raw);
      const auto power = counted_power(counter.channel(), ticks, length).power;
      if (!power) return;
      extend(slot, *power);
    }
    since = reading;
  };
  counter.values().for_each(begin, end, take);
  if (last->bracket > nanoseconds(0) && around_end.after) take(*around_end.after);
  return slot;
}

PowerSummary gauge_slot(const History& gauge, TimePoint begin, TimePoint end) {
  const GaugeWindow window = gauge.gauge_window(begin, end);
  const double known = Seconds(window.known) / Seconds(end - begin);
  if (known < 0.5) return {};
  const double scale = gauge.channel().scale();
  PowerSummary slot = known_slot(Watts(scale * window.mean_raw()), known);
  const auto take = [&](const StoredReading& reading) {
    if (reading.first_seen < end) extend(slot, Watts(scale * static_cast<double>(reading.raw)));
  };
  if (const auto held = gauge.held(begin)) take(*held);
  gauge.values().for_each(begin, end, take);
  return slot;
}

}  // namespace

std::int64_t SlotGrid::slot_at(TimePoint time) const noexcept {
  const nanoseconds since = time - origin + kUnixError;
  const std::int64_t whole = since / kSlot;
  return since % kSlot < nanoseconds(0) ? whole - 1 : whole;
}

bool SlotGrid::holds(const TimeColumns& columns) const noexcept {
  return columns.width % kSlot == nanoseconds(0) &&
         columns.begin - start(slot_at(columns.begin)) < kUnixError;
}

PowerSlots::PowerSlots(const PowerSource& source, const SlotGrid& grid, TimePoint now,
                       std::size_t kept)
    : source_(source), grid_(grid), first_(grid.slot_at(now)), pyramid_(kept) {}

void PowerSlots::take() {
  for (int i = 0; i < kMostSlotsAtOnce; ++i) {
    const std::int64_t next = end();
    if (!is_read_until(grid_.start(next + 1))) return;
    pyramid_.push(slot(grid_.start(next), grid_.start(next + 1)));
  }
}

bool PowerSlots::is_read_until(TimePoint end) const noexcept {
  TimePoint first = TimePoint::max();
  TimePoint last = TimePoint::min();
  const auto see = [&](const History& history) {
    const TimePoint newest = history.values().newest().value_or(TimePoint::min());
    first = std::min(first, newest);
    last = std::max(last, newest);
  };
  if (source_.counter != nullptr) see(*source_.counter);
  for (const History* gauge : source_.gauges) see(*gauge);
  return first <= last && (first >= end || last >= end + kPatienceWithSource);
}

PowerSummary PowerSlots::slot(TimePoint begin, TimePoint end) const {
  for (const History* gauge : source_.gauges) {
    const PowerSummary slot = gauge_slot(*gauge, begin, end);
    if (slot.known > 0.0F) return slot;
  }
  return source_.counter == nullptr ? PowerSummary{} : counter_slot(*source_.counter, begin, end);
}

PowerSummary PowerSlots::sum(std::int64_t first, std::int64_t last) const {
  const auto number = [&](std::int64_t slot) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(slot - first_, 0));
  };
  return pyramid_.sum(number(first), number(last));
}

CounterEdge PowerSlots::edge(std::int64_t slot) const {
  const PowerSummary before = sum(slot - 1, slot);
  const PowerSummary after = sum(slot, slot + 1);
  const Watts highest = watts_of(std::max({before.highest, after.highest, 0.0F}));
  const bool has_both = before.known > 0.0F && after.known > 0.0F;
  const Watts lowest = watts_of(has_both ? std::min(before.lowest, after.lowest) : 0.0F);
  return {.power = highest, .change = highest - lowest, .bracket = source_.counter->period()};
}

std::vector<ColumnPower> PowerSlots::columns(const TimeColumns& columns) const {
  std::vector<ColumnPower> all(columns.count);
  const std::int64_t begin = grid_.slot_at(columns.begin);
  const std::int64_t slots = columns.width / SlotGrid::kSlot;
  for (std::size_t i = 0; i < columns.count; ++i) {
    const std::int64_t first = begin + static_cast<std::int64_t>(i) * slots;
    const PowerSummary found = sum(first, first + slots);
    if (2.0F * found.known < static_cast<float>(slots)) continue;
    // Too short to show that a counter is stuck, slots may be 0 W.
    if (found.sum == 0.0F && source_.counter != nullptr &&
        !counted_power(source_.counter->channel(), 0.0, columns.width).power) {
      continue;
    }
    all[i] = {.mean = watts_of(found.sum) / static_cast<double>(found.known),
              .lowest = watts_of(found.lowest),
              .highest = watts_of(found.highest)};
    if (source_.gauges.empty() && found.known == static_cast<float>(slots)) {
      all[i].uncertainty =
          column_uncertainty(source_.counter->channel(), edge(first), edge(first + slots)) /
          Seconds(columns.width);
    }
  }
  return all;
}

}  // namespace wattle::daemon
