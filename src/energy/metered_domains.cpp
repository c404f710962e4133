#include "energy/metered_domains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/text/text.hpp"
#include "base/worker.hpp"
#include "energy/source_sensor.hpp"
#include "sampling/aligned.hpp"
#include "sampling/readings.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {

using std::chrono::nanoseconds;

namespace {

/// Readings between the ends of sections are kept only to interpolate an end that was not read.
constexpr std::size_t kHistoryBytes = std::size_t{1} << 20U;

std::uint32_t saturated_ns(nanoseconds width) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(width.count(), 0, kMost));
}

StoredBoundary plain_end(const Boundary& shown) noexcept {
  return {.at = shown.at,
          .ticks = shown.ticks,
          .width_ns = saturated_ns(shown.half_width),
          .state = StoredBoundary::BoundaryState::read};
}

/// The boundary from the last update of a section and the first update of the next.
StoredBoundary aligned_end(const CounterUpdate& ends, const CounterUpdate& starts) noexcept {
  return {.at = ends.at,
          .ticks = ends.ticks,
          .width_ns = saturated_ns(std::max(ends.latency, starts.latency)),
          .next_ns = saturated_ns(starts.at - ends.at),
          .next_ticks = static_cast<std::uint32_t>(starts.ticks - ends.ticks),
          .state = StoredBoundary::BoundaryState::aligned};
}

StoredWaitingPower power_of(const WaitingPower& waiting) noexcept {
  return {.mean_w = static_cast<float>(waiting.mean.si()),
          .standard_uncertainty_w = static_cast<float>(waiting.uncertainty.si())};
}

/// The power may change while the meter runs: by as much as that it is uncertain.
StoredWaitingPower doubted(StoredWaitingPower then, Watts now) noexcept {
  const float change_w = std::abs(static_cast<float>(now.si()) - then.mean_w);
  then.standard_uncertainty_w = std::max(then.standard_uncertainty_w, change_w);
  return then;
}

CounterUpdate ending_update(const StoredBoundary& end) noexcept {
  return {.at = end.at, .latency = nanoseconds(end.width_ns), .ticks = end.ticks};
}

CounterUpdate beginning_update(const StoredBoundary& end) noexcept {
  return {.at = end.at + nanoseconds(end.next_ns),
          .latency = nanoseconds(end.width_ns),
          .ticks = end.ticks + end.next_ticks};
}

/// The middle of the times at which the domains were read; absent where none was.
std::optional<TimePoint> middle_of(std::span<const StoredBoundary> ends) noexcept {
  std::optional<TimePoint> first;
  TimePoint last;
  for (const StoredBoundary& end : ends) {
    if (end.state != StoredBoundary::BoundaryState::read) continue;
    first = std::min(first.value_or(end.at), end.at);
    last = std::max(last, end.at);
  }
  return first ? std::optional(*first + (last - *first) / 2) : std::nullopt;
}

/// As a boundary of a section that ends at `call`: the other domains were read at other times.
std::optional<Boundary> boundary_of(const StoredBoundary& end, TimePoint call) noexcept {
  if (end.state < StoredBoundary::BoundaryState::read) return std::nullopt;
  const nanoseconds skew = std::chrono::abs(end.at - call);
  return Boundary{.at = end.at, .half_width = nanoseconds(end.width_ns) + skew, .ticks = end.ticks};
}

}  // namespace

/// Shared with the keeper, so that either can be the last to let go.
struct MeteredDomains::State {
  State(std::vector<std::unique_ptr<Sensor>> sensors, std::vector<Domain> domains,
        const TimeSource& time)
      : clock(time),
        readings(std::move(sensors), time,
                 {.domains = std::move(domains), .prompt_history_bytes = kHistoryBytes}),
        shown(readings.no_capture()) {}

  CallTimes read(CallKind kind, std::span<StoredBoundary> ends) noexcept;
  CallTimes wait_for_updates(CallKind kind, TimePoint called, std::span<StoredBoundary> ends,
                             std::span<StoredWaitingPower> waiting) noexcept;
  [[nodiscard]] StoredBoundary end_of(std::size_t domain) const noexcept;
  /// The last value of the aligned domain; absent where that failed, or it is missing.
  [[nodiscard]] std::optional<Boundary> shown_by(std::size_t domain) const noexcept {
    return places[domain] ? shown.domains[*places[domain]].counter : std::nullopt;
  }

  const TimeSource& clock;
  std::mutex mutex;
  Readings readings;
  Capture shown;  ///< by the last `capture`
  /// The index of each domain in `readings.domains()`; absent if no sensor measures it.
  std::vector<std::optional<std::size_t>> places{};
  std::vector<UpdateWatch> watches{};  ///< one for each domain that is aligned
  std::function<void(nanoseconds)> sleep{};
};

StoredBoundary MeteredDomains::State::end_of(std::size_t domain) const noexcept {
  const std::optional<std::size_t> place = places[domain];
  if (!place) return {};
  const Capture::Shown& now = shown.domains[*place];
  if (!now.has_answered) return {.state = StoredBoundary::BoundaryState::late};
  return now.counter ? plain_end(*now.counter) : StoredBoundary{};
}

/// A device that is slow to answer does not delay the others: they are read after it at a start,
/// and before it at a record or stop.
CallTimes MeteredDomains::State::read(CallKind kind, std::span<StoredBoundary> ends) noexcept {
  const auto read_devices = [&] {
    (void)readings.read_lanes(shown, clock.now() + kDriverPatience);
  };
  const auto show_all = [&] {
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = end_of(i);
  };
  TimePoint call;
  if (readings.lane_threads() == 0) {
    readings.read(shown);
    show_all();
    const std::optional<TimePoint> middle = middle_of(ends);
    call = middle ? *middle : clock.now();  // one clock read less
  } else {
    if (kind == CallKind::start) read_devices();
    const TimePoint before = clock.now();
    readings.read(shown);
    call = before + (clock.now() - before) / 2;
    if (kind != CallKind::start) read_devices();
    show_all();
  }
  return {.called = call, .returned = call};
}

CallTimes MeteredDomains::State::wait_for_updates(CallKind kind, TimePoint called,
                                                  std::span<StoredBoundary> ends,
                                                  std::span<StoredWaitingPower> waiting) noexcept {
  // From the second update on the power of this wait is known.
  const std::size_t wanted = kind == CallKind::start ? UpdateWatch::kUpdates + 1 : 2;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (places[i]) watches[i] = UpdateWatch(readings.counter(*places[i])->channel());
  }
  const auto is_done = [&](std::size_t domain) {
    const UpdateWatch& watch = watches[domain];
    return watch.updates() >= wanted || watch.is_overdue() || !shown_by(domain);
  };
  bool done = false;
  while (!done) {
    readings.read(shown);
    done = true;
    for (std::size_t i = 0; i < watches.size(); ++i) {
      if (const auto now = shown_by(i)) watches[i].add(*now);
      done = is_done(i) && done;
    }
  }
  const CallTimes times{.called = called, .returned = clock.now()};
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const UpdateWatch& watch = watches[i];
    const bool is_aligned = watch.updates() >= wanted && !watch.is_overdue();
    if (!is_aligned) {
      ends[i] = end_of(i);
      waiting[i] = {};
    } else if (kind == CallKind::start) {
      ends[i] = aligned_end(watch.newest(), watch.newest());
      waiting[i] = power_of(watch.waiting());
    } else {
      ends[i] = aligned_end(watch.first(), watch.newest());
      waiting[i] = doubted(waiting[i], watch.newest_power());
    }
  }
  return times;
}

MeteredDomains::MeteredDomains(MeterParts parts, const TimeSource& clock)
    : missing_(std::move(parts.missing)), forks_(forks()) {
  std::vector<std::string> names;
  names.reserve(parts.domains.size());
  for (const Domain& domain : parts.domains) names.push_back(domain.name());
  std::size_t of_sources = 0;
  const auto add = [&](std::unique_ptr<Sensor> sensor) {
    if (sensor->channels().empty()) return;
    for (const Channel& channel : sensor->channels()) {
      names.push_back(channel.place);
      parts.domains.push_back(channel.domain);
    }
    of_sources += sensor->channels().size();
    parts.sensors.push_back(std::move(sensor));
  };
  for (const std::shared_ptr<EnergySource>& source : parts.sources) {
    if (!source) throw InvalidArgument("cannot measure a source that is null");
    add(counters_of(source, clock, of_sources));
    add(gauges_of(source, clock, of_sources));
  }
  if (names.empty() && !parts.may_lack_domains) {
    throw InvalidArgument(
        "cannot measure nothing: no domain is named, and no source has a counter");
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw InvalidArgument("cannot measure \"" + printable(name) + "\" twice: name it once");
    }
  }
  names_ = std::make_shared<const std::vector<std::string>>(std::move(names));

  state_ = std::make_shared<State>(std::move(parts.sensors), parts.domains, clock);
  const std::vector<Domain> present = state_->readings.domains();
  for (const Domain& domain : parts.domains) {
    const auto found = std::ranges::find(present, domain);
    state_->places.emplace_back(found == present.end()
                                    ? std::nullopt
                                    : std::optional<std::size_t>(found - present.begin()));
  }
  if (parts.aligned) watch_updates(parts.may_lack_domains);
  state_->sleep = std::move(parts.sleep);
  if (parts.starts_keeper) start_keeper();
}

void MeteredDomains::watch_updates(bool may_be_missing) {
  for (std::size_t i = 0; i < names_->size(); ++i) {
    const std::optional<std::size_t> place = state_->places[i];
    const History* counter = place ? state_->readings.counter(*place) : nullptr;
    if (!place && may_be_missing) {
      state_->watches.emplace_back();  // unknown throughout: nothing waits for it
      continue;
    }
    if (counter == nullptr || !can_align(counter->channel())) {
      throw InvalidArgument("cannot align to " + (*names_)[i] +
                            ": it has no counter that is renewed at least every 5 ms; leave it "
                            "out, or measure without `aligned`");
    }
    state_->watches.emplace_back(counter->channel());
  }
  if (state_->readings.lane_threads() != 0) {
    throw InvalidArgument(
        "cannot align: a device is read in a thread of its own; measure without `aligned`");
  }
}

void MeteredDomains::start_keeper() {
  const auto keep = [state = state_] {
    const std::scoped_lock lock(state->mutex);
    state->readings.read();
  };
  keeper_ = std::make_unique<Worker>(Worker::every(state_->readings.keeper_period(), keep),
                                     "a thread to read energy counters with");
}

MeteredDomains::~MeteredDomains() {
  if (forks_ != forks()) {
    leak(state_);  // the parent's descriptors are not a child's to close
  } else if (keeper_) {
    (void)keeper_->stop(kDriverPatience);
  }
}

bool MeteredDomains::aligned() const noexcept { return !state_->watches.empty(); }

CallTimes MeteredDomains::capture(CallKind kind, std::span<StoredBoundary> ends,
                                  std::span<StoredWaitingPower> waiting) noexcept {
  if (forks_ != forks()) {
    std::ranges::fill(ends, StoredBoundary{});
    const TimePoint now = state_->clock.now();
    return {.called = now, .returned = now};
  }
  const TimePoint called = aligned() ? state_->clock.now() : TimePoint();
  const std::scoped_lock lock(state_->mutex);
  return aligned() ? state_->wait_for_updates(kind, called, ends, waiting)
                   : state_->read(kind, ends);
}

MeasuredEnergy MeteredDomains::energy(std::size_t domain, const Section& section) const {
  const std::optional<std::size_t> place = state_->places[domain];
  if (!place) return {.unknown = section.end - section.begin, .flags = Flags::of(Flag::gap)};

  using End = StoredBoundary::BoundaryState;
  const Readings& readings = state_->readings;
  const StoredWaitingPower& waiting = section.waiting_before;
  if (section.first.state == End::aligned && section.last.state == End::aligned &&
      !std::isnan(waiting.mean_w)) {
    const float uncertainty_w =
        std::max(waiting.standard_uncertainty_w, section.waiting_after.standard_uncertainty_w);
    return aligned_energy(*readings.counter(*place),
                          {.begin = section.begin,
                           .end = section.end,
                           .first = beginning_update(section.first),
                           .last = ending_update(section.last),
                           .waiting = {.mean = Watts(static_cast<double>(waiting.mean_w)),
                                       .uncertainty = Watts(static_cast<double>(uncertainty_w))}})
        .measured();
  }
  Flags flags;
  if (aligned()) flags.set(Flag::unaligned);
  const bool is_late = section.first.state == End::late || section.last.state == End::late;
  if (is_late) flags.set(Flag::late);
  const auto first = boundary_of(section.first, section.begin);
  const auto last = boundary_of(section.last, section.end);
  // Energy read after a call belongs to the section before it: neighbours lose nothing.
  const TimePoint begin = first ? std::max(section.begin, first->at) : section.begin;
  TimePoint end = section.end;
  if (last) end = section.is_followed ? last->at : std::min(section.end, last->at);
  MeasuredEnergy energy =
      readings.energy(*place, {.begin = begin, .end = end, .first = first, .last = last})
          .measured();
  energy.flags |= flags;
  return energy;
}

void MeteredDomains::sleep(nanoseconds time) const {
  state_->sleep ? state_->sleep(time) : std::this_thread::sleep_for(time);
}

}  // namespace wattle::detail
