#include "sampling/update_observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <thread>

#include "base/json/enum_table.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

// All intervals of two seconds at 1 kHz, and 32 KiB.
constexpr std::size_t kMostIntervals = 2048;
constexpr std::size_t kMostOthers = 512;
// Below that, a mean and a spread say nothing.
constexpr std::size_t kFewestIntervals = 4;

/// The longest time in which the value can have changed between the two.
nanoseconds apart(const Reading& before, const Reading& after) noexcept {
  return (after.at + after.half_width) - (before.at - before.half_width);
}

nanoseconds median(std::span<const nanoseconds> values) {
  return quantile<nanoseconds>(sorted(values), 0.5);
}

/// `sorted` is not empty.
UpdateInterval summary(std::span<const nanoseconds> sorted) {
  const auto count = static_cast<double>(sorted.size());
  double sum = 0.0;
  for (const nanoseconds length : sorted) sum += static_cast<double>(length.count());
  const double mean = sum / count;
  double squares = 0.0;
  for (const nanoseconds length : sorted) {
    squares += std::pow(static_cast<double>(length.count()) - mean, 2.0);
  }
  const double spread = std::sqrt(squares / std::max(count - 1.0, 1.0));
  return {.mean = nanoseconds(std::llround(mean)),
          .spread = nanoseconds(std::llround(spread)),
          .p99 = quantile(sorted, 0.99),
          .is_observed = true};
}

/// Those among `sorted` that are no multiples of the shortest common one.
std::span<const nanoseconds> singles(std::span<const nanoseconds> sorted) {
  const nanoseconds longest = quantile(sorted, 0.1) * 3 / 2;
  const auto end = std::ranges::upper_bound(sorted, longest);
  return sorted.first(static_cast<std::size_t>(end - sorted.begin()));
}

}  // namespace

std::string_view to_string(PeriodDoubt doubt) noexcept {
  constexpr std::array<std::string_view, 7> kReasons = {"",
                                                        "it could not be read",
                                                        "it did not change",
                                                        "it changed too rarely",
                                                        "it changes faster than it was read",
                                                        "it is often renewed without a change",
                                                        "unknown"};
  return entry_of(kReasons, doubt);
}

UpdateObserver::UpdateObserver(const Channel& channel)
    : intervals_(kMostIntervals), steps_(kMostOthers), polls_(kMostOthers), calls_(kMostOthers) {
  if (channel.metric == Metric::energy) counter_.emplace(channel.counter, channel.update.p99);
}

void UpdateObserver::add(const Reading& reading) noexcept {
  if (reading.status != ReadStatus::ok && reading.status != ReadStatus::stale) {
    ++failed_;
    return;
  }
  const nanoseconds call = 2 * reading.half_width;
  calls_.add(call);
  longest_call_ = std::max(longest_call_, call);
  if (readings_++ == 0) {
    first_at_ = reading.at;
    if (counter_) counter_->update(reading.raw, reading.at);
  } else {
    polls_.add(reading.at - last_.at);
    widest_ = std::max(widest_, apart(last_, reading));
    note_change(reading);
  }
  last_ = reading;
}

void UpdateObserver::note_change(const Reading& reading) noexcept {
  const std::optional<std::uint64_t> step = step_to(reading);
  if (!step) {
    fell_ = true;
    changed_at_.reset();
    return;
  }
  if (*step == 0) return;
  ++changes_;
  steps_.add(*step);
  const TimePoint at = last_.at + (reading.at - last_.at) / 2;
  if (changed_at_) {
    intervals_.add({.length = at - *changed_at_, .widest = widest_});
  }
  changed_at_ = at;
  widest_ = apart(last_, reading);
}

std::optional<std::uint64_t> UpdateObserver::step_to(const Reading& reading) noexcept {
  const auto [low, high] = std::minmax(last_.raw, reading.raw);
  if (!counter_) return high - low;
  const CounterStep step = counter_->update(reading.raw, reading.at);
  if (step.kind == StepKind::reset) return std::nullopt;
  return step.kind == StepKind::wrapped ? step.ticks : high - low;
}

std::vector<nanoseconds> UpdateObserver::counting(nanoseconds typical) const {
  std::vector<nanoseconds> lengths;
  for (const ObservedInterval& interval : intervals_.sample()) {
    if (2 * interval.widest <= typical) lengths.push_back(interval.length);
  }
  std::ranges::sort(lengths);
  return lengths;
}

void UpdateObserver::judge_period(Observation& seen) const {
  if (readings_ == 0) return;
  seen.doubt = changes_ == 0 ? PeriodDoubt::no_change : PeriodDoubt::few_changes;
  std::vector<nanoseconds> all;
  for (const ObservedInterval& interval : intervals_.sample()) all.push_back(interval.length);
  if (all.empty()) return;
  const nanoseconds typical = median(all);
  seen.median = typical;
  if (all.size() < kFewestIntervals) return;
  const std::vector<nanoseconds> lengths = counting(typical);
  if (4 * lengths.size() < all.size()) {
    seen.doubt = PeriodDoubt::slow_polls;
    // However rarely it is read, there are no more changes than renewals. Of a value that changes
    // at each second or third reading the median is less than that.
    seen.at_most = std::max(typical, summary(all).mean);
    return;
  }
  if (lengths.size() < kFewestIntervals) return;
  const std::span<const nanoseconds> single = counter_ ? lengths : singles(lengths);
  const UpdateInterval interval = summary(single);
  const bool hidden = counter_ ? seen.median_step <= 1 : 2 * single.size() < lengths.size();
  seen.doubt = hidden ? PeriodDoubt::hidden : PeriodDoubt::none;
  if (hidden) {
    // Each change is known to within a reading.
    seen.at_most = interval.mean + seen.poll;
  } else {
    seen.interval = interval;
  }
}

Observation UpdateObserver::observation() const {
  const std::vector<std::uint64_t> steps = sorted(steps_.sample());
  Observation seen{.readings = readings_,
                   .failed = failed_,
                   .changes = changes_,
                   .poll = median(polls_.sample()),
                   .least_step = quantile<std::uint64_t>(steps, 0.0),
                   .median_step = quantile<std::uint64_t>(steps, 0.5),
                   .call = median(calls_.sample()),
                   .longest_call = longest_call_};
  if (readings_ != 0) seen.length = last_.at - first_at_;
  if (counter_ && readings_ > 1) seen.monotonic = !fell_;
  judge_period(seen);
  return seen;
}

std::vector<Observation> observe(Sensor& sensor, ChannelSet wanted, Polling polling,
                                 const TimeSource& clock, const std::function<bool()>& goes_on) {
  std::vector<UpdateObserver> observers(sensor.channels().begin(), sensor.channels().end());
  std::vector<Reading> readings(observers.size());
  const TimePoint end = clock.now() + polling.length;
  while (clock.now() < end && goes_on()) {
    sensor.read_some(wanted, readings);
    for (std::size_t i = 0; i < observers.size(); ++i) {
      if (wanted[i]) observers[i].add(readings[i]);
    }
    if (polling.pause > nanoseconds(0)) std::this_thread::sleep_for(polling.pause);
  }
  std::vector<Observation> seen;
  seen.reserve(observers.size());
  for (const UpdateObserver& observer : observers) seen.push_back(observer.observation());
  return seen;
}

}  // namespace wattle
