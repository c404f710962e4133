#include "energy/metered_domains.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "base/worker.hpp"
#include "energy/source_sensor.hpp"
#include "sampling/aligned.hpp"
#include "sampling/readings.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {

using std::chrono::nanoseconds;

namespace {

/// Readings between the ends of stretches are kept only to look up an end that could not be read.
constexpr std::size_t kHistoryBytes = std::size_t{1} << 20U;

std::uint32_t saturated_ns(nanoseconds width) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(width.count(), 0, kMost));
}

ColumnEnd plain_end(const Boundary& shown) noexcept {
  return {.at = shown.at,
          .ticks = shown.ticks,
          .width_ns = saturated_ns(shown.half_width),
          .state = ColumnEnd::State::read};
}

/// Of the update that a stretch ends with, and the one that the next begins with.
ColumnEnd aligned_end(const CounterUpdate& ends, const CounterUpdate& begins) noexcept {
  return {.at = ends.at,
          .ticks = ends.ticks,
          .width_ns = saturated_ns(std::max(ends.latency, begins.latency)),
          .next_ns = saturated_ns(begins.at - ends.at),
          .next_ticks = static_cast<std::uint32_t>(begins.ticks - ends.ticks),
          .state = ColumnEnd::State::aligned};
}

WaitingPower power_of(const Waiting& waiting) noexcept {
  return {.mean_w = static_cast<float>(waiting.mean.si()),
          .standard_uncertainty_w = static_cast<float>(waiting.uncertainty.si())};
}

/// The power may change while the meter runs: by as much as that it is uncertain.
WaitingPower doubted(WaitingPower then, Watts now) noexcept {
  const float change_w = std::abs(static_cast<float>(now.si()) - then.mean_w);
  then.standard_uncertainty_w = std::max(then.standard_uncertainty_w, change_w);
  return then;
}

CounterUpdate ending_update(const ColumnEnd& end) noexcept {
  return {.at = end.at, .latency = nanoseconds(end.width_ns), .ticks = end.ticks};
}

CounterUpdate beginning_update(const ColumnEnd& end) noexcept {
  return {.at = end.at + nanoseconds(end.next_ns),
          .latency = nanoseconds(end.width_ns),
          .ticks = end.ticks + end.next_ticks};
}

/// The middle of the times at which the columns were read; absent where none was.
std::optional<TimePoint> middle_of(std::span<const ColumnEnd> ends) noexcept {
  std::optional<TimePoint> first;
  TimePoint last;
  for (const ColumnEnd& end : ends) {
    if (end.state != ColumnEnd::State::read) continue;
    first = std::min(first.value_or(end.at), end.at);
    last = std::max(last, end.at);
  }
  return first ? std::optional(*first + (last - *first) / 2) : std::nullopt;
}

/// As a boundary of a stretch that ends at `border`: the others were read at other times.
std::optional<Boundary> boundary_of(const ColumnEnd& end, TimePoint border) noexcept {
  if (end.state < ColumnEnd::State::read) return std::nullopt;
  const nanoseconds skew = std::chrono::abs(end.at - border);
  return Boundary{.at = end.at, .half_width = nanoseconds(end.width_ns) + skew, .ticks = end.ticks};
}

}  // namespace

/// Shared with the keeper, so that either can be the last to let go.
struct MeteredDomains::State {
  State(std::vector<std::unique_ptr<Sensor>> sensors, std::vector<Domain> domains,
        const Clock& time)
      : clock(time),
        readings(std::move(sensors), time,
                 {.domains = std::move(domains), .prompt_history_bytes = kHistoryBytes}),
        shown(readings.no_capture()) {}

  Border read(Edge edge, std::span<ColumnEnd> ends) noexcept;
  Border wait_for_updates(Edge edge, TimePoint called, std::span<ColumnEnd> ends,
                          std::span<WaitingPower> waiting) noexcept;
  [[nodiscard]] ColumnEnd end_of(std::size_t column) const noexcept;
  /// What the column that is aligned showed last; absent where that failed, or it is missing.
  [[nodiscard]] std::optional<Boundary> shown_by(std::size_t column) const noexcept {
    return places[column] ? shown.domains[*places[column]].counter : std::nullopt;
  }

  const Clock& clock;
  std::mutex mutex;
  Readings readings;
  Capture shown;  ///< by the last `capture`
  /// Of each column among `readings.domains()`; absent where nothing tells it.
  std::vector<std::optional<std::size_t>> places{};
  std::vector<UpdateWatch> watches{};  ///< one for each column that is aligned
  std::function<void(nanoseconds)> sleep{};
};

ColumnEnd MeteredDomains::State::end_of(std::size_t column) const noexcept {
  const std::optional<std::size_t> place = places[column];
  if (!place) return {};
  const Capture::Shown& now = shown.domains[*place];
  if (!now.has_answered) return {.state = ColumnEnd::State::late};
  return now.counter ? plain_end(*now.counter) : ColumnEnd{};
}

/// A device that is slow to answer does not shift the others: they are read behind it at a begin,
/// and before it at an end.
Border MeteredDomains::State::read(Edge edge, std::span<ColumnEnd> ends) noexcept {
  const auto read_devices = [&] {
    (void)readings.read_lanes(shown, clock.now() + kDriverPatience);
  };
  const auto show_all = [&] {
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = end_of(i);
  };
  TimePoint border;
  if (readings.lane_threads() == 0) {
    readings.read(shown);
    show_all();
    const std::optional<TimePoint> middle = middle_of(ends);
    border = middle ? *middle : clock.now();  // a look at the clock is saved
  } else {
    if (edge == Edge::begin) read_devices();
    const TimePoint before = clock.now();
    readings.read(shown);
    border = before + (clock.now() - before) / 2;
    if (edge != Edge::begin) read_devices();
    show_all();
  }
  return {.called = border, .returned = border};
}

Border MeteredDomains::State::wait_for_updates(Edge edge, TimePoint called,
                                               std::span<ColumnEnd> ends,
                                               std::span<WaitingPower> waiting) noexcept {
  // From the second update on the power of this wait is known.
  const std::size_t wanted = edge == Edge::begin ? UpdateWatch::kUpdates + 1 : 2;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (places[i]) watches[i] = UpdateWatch(readings.counter(*places[i])->channel());
  }
  const auto is_done = [&](std::size_t column) {
    const UpdateWatch& watch = watches[column];
    return watch.updates() >= wanted || watch.is_overdue() || !shown_by(column);
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
  const Border border{.called = called, .returned = clock.now()};
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const UpdateWatch& watch = watches[i];
    const bool is_aligned = watch.updates() >= wanted && !watch.is_overdue();
    if (!is_aligned) {
      ends[i] = end_of(i);
      waiting[i] = {};
    } else if (edge == Edge::begin) {
      ends[i] = aligned_end(watch.newest(), watch.newest());
      waiting[i] = power_of(watch.waiting());
    } else {
      ends[i] = aligned_end(watch.first(), watch.newest());
      waiting[i] = doubted(waiting[i], watch.newest_power());
    }
  }
  return border;
}

MeteredDomains::MeteredDomains(ColumnParts parts, const Clock& clock)
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
    add(std::make_unique<SourceSensor>(source, clock, of_sources));
    add(std::make_unique<SourceGauges>(source, clock, of_sources));
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
  if (parts.keeps) start_keeper();
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

Border MeteredDomains::capture(Edge edge, std::span<ColumnEnd> ends,
                               std::span<WaitingPower> waiting) noexcept {
  if (forks_ != forks()) {
    std::ranges::fill(ends, ColumnEnd{});
    const TimePoint now = state_->clock.now();
    return {.called = now, .returned = now};
  }
  const TimePoint called = aligned() ? state_->clock.now() : TimePoint();
  const std::scoped_lock lock(state_->mutex);
  return aligned() ? state_->wait_for_updates(edge, called, ends, waiting)
                   : state_->read(edge, ends);
}

MeasuredEnergy MeteredDomains::energy(std::size_t column, const Stretch& stretch) const {
  const std::optional<std::size_t> place = state_->places[column];
  if (!place) return {.unknown = stretch.end - stretch.begin, .flags = Flags::of(Flag::gap)};

  using End = ColumnEnd::State;
  const Readings& readings = state_->readings;
  const WaitingPower& waiting = stretch.waiting_before;
  if (stretch.first.state == End::aligned && stretch.last.state == End::aligned &&
      !std::isnan(waiting.mean_w)) {
    const float uncertainty_w =
        std::max(waiting.standard_uncertainty_w, stretch.waiting_after.standard_uncertainty_w);
    return aligned_energy(*readings.counter(*place),
                          {.begin = stretch.begin,
                           .end = stretch.end,
                           .first = beginning_update(stretch.first),
                           .last = ending_update(stretch.last),
                           .waiting = {.mean = Watts(static_cast<double>(waiting.mean_w)),
                                       .uncertainty = Watts(static_cast<double>(uncertainty_w))}})
        .measured();
  }
  Flags flags;
  if (aligned()) flags.set(Flag::unaligned);
  const bool is_late = stretch.first.state == End::late || stretch.last.state == End::late;
  if (is_late) flags.set(Flag::late);
  const auto first = boundary_of(stretch.first, stretch.begin);
  const auto last = boundary_of(stretch.last, stretch.end);
  // What was read behind a border is part of the stretch before it: neighbours lose nothing.
  const TimePoint begin = first ? std::max(stretch.begin, first->at) : stretch.begin;
  TimePoint end = stretch.end;
  if (last) end = stretch.is_followed ? last->at : std::min(stretch.end, last->at);
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
