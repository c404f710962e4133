#include "sampling/sampler.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "base/schedule.hpp"
#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;

namespace {

/// How often a lane reads what is not power, and what is costly or tells energy beside a gauge.
constexpr nanoseconds kCalmPeriod = std::chrono::milliseconds(500);
constexpr nanoseconds kSlowPeriod = std::chrono::seconds(1);
/// A driver that takes too much time is asked down to so often.
constexpr nanoseconds kLongestPeriod = std::chrono::milliseconds(800);
constexpr int kLongestBackoff = 8;

unsigned ticks_in(nanoseconds length, nanoseconds period) noexcept {
  return static_cast<unsigned>(std::max<std::int64_t>(1, length / period));
}

int longest_backoff(nanoseconds period) noexcept {
  return std::max(kLongestBackoff, static_cast<int>(kLongestPeriod / period));
}

/// The channels of a sensor that `wanted` chooses.
template <class Wanted>
ChannelSet choose(const Sensor& sensor, Wanted wanted) {
  ChannelSet chosen;
  const auto channels = sensor.channels();
  for (std::size_t i = 0; i < std::min(channels.size(), chosen.size()); ++i) {
    if (wanted(channels[i])) chosen.set(i);
  }
  return chosen;
}

/// True if the energy of the channel's domain is to be told, and the channel tells it.
bool tells(const Channel& channel, const SamplerOptions& options) noexcept {
  return channel.tells_energy() &&
         (!options.domains ||
          std::ranges::find(*options.domains, channel.domain) != options.domains->end());
}

/// Of what is read at every `every` ticks of a lane.
HistoryOptions lane_history(nanoseconds period, unsigned every, std::size_t bytes) noexcept {
  const auto longest = std::max(every, static_cast<unsigned>(longest_backoff(period)));
  return {.period = period * every, .longest_period = period * longest, .memory_limit = bytes};
}

/// Of anything but energy the newest values are all that is asked for.
constexpr std::size_t kMetricHistoryBytes = std::size_t{256} << 10U;

/// Histories of the largest size up to `bytes` that there is memory for.
std::unique_ptr<Recorder> make_recorder(const std::shared_ptr<Sensor>& sensor, ChannelSet channels,
                                        HistoryOptions options) {
  constexpr std::size_t kFactor = 8;
  for (;; options.memory_limit /= kFactor) {
    try {
      return std::make_unique<Recorder>(sensor, channels, options);
    } catch (const std::bad_alloc&) {
      if (options.memory_limit / kFactor < kMinTimelineBytes) throw;
    }
  }
}

}  // namespace

Sampler::Sampler(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock,
                 const SamplerOptions& options)
    : clock_(clock), suspend_(clock), interval_began_(clock.now()) {
  for (std::unique_ptr<Sensor>& sensor : sensors) add(std::move(sensor), options);
  std::ranges::sort(tracks_, {}, &Track::domain);
}

void Sampler::add(std::unique_ptr<Sensor> sensor, const SamplerOptions& options) {
  const std::shared_ptr<Sensor> shared = std::move(sensor);
  const std::size_t lanes = lanes_.size();
  try {
    shared->may_block() ? add_device(shared, options) : add_prompt(shared, options);
  } catch (const std::bad_alloc&) {
    if (!options.keeps_going) throw;
    forget(shared->channels(), lanes, "there is not enough memory to read it");
  } catch (const Error& error) {
    if (!options.keeps_going) throw;
    forget(shared->channels(), lanes, error.what());
  }
}

void Sampler::forget(std::span<const Channel> channels, std::size_t lanes,
                     const std::string& reason) {
  std::set<Domain> domains;
  for (const Channel& channel : channels) {
    if (channel.tells_energy()) domains.insert(channel.domain);
  }
  std::erase_if(tracks_, [&](const Track& track) { return domains.contains(track.domain); });
  lanes_.resize(lanes);
  slow_lanes_.resize(std::min(slow_lanes_.size(), lanes));
  for (const Domain& domain : domains) {
    left_out_.push_back({.source = channels.front().source,
                         .subject = domain.name(),
                         .reason = reason,
                         .domain = domain,
                         .shows = {domain.kind()}});
  }
}

void Sampler::add_prompt(std::shared_ptr<Sensor> sensor, const SamplerOptions& options) {
  const ChannelSet telling =
      choose(*sensor, [&](const Channel& channel) { return tells(channel, options); });
  if (telling.none()) return;
  auto recorder = make_recorder(
      sensor, telling, {.period = options.period, .memory_limit = options.prompt_history_bytes});
  track(recorder->histories(), std::nullopt, 0);
  prompt_.push_back(std::move(recorder));
}

Sampler::~Sampler() { stop(); }

void Sampler::stop() noexcept {
  for (const auto& lane : slow_lanes_) {
    if (lane) (void)lane->stop(nanoseconds(0));
  }
  for (const auto& lane : lanes_) (void)lane->stop(nanoseconds(0));
}

void Sampler::add_device(std::shared_ptr<Sensor> sensor, const SamplerOptions& options) {
  const auto channels = sensor->channels();
  const bool has_gauge = std::ranges::any_of(channels, [](const Channel& channel) {
    return channel.tells_energy() && channel.metric != Metric::energy && !channel.costly;
  });
  // Beside a gauge a counter matters at the ends of a window only, where it is asked for.
  const auto is_seldom_read = [&](const Channel& channel) {
    return channel.costly || (has_gauge && channel.metric == Metric::energy);
  };
  const auto telling = [&](const Channel& channel) { return tells(channel, options); };
  const auto is_asked_for = [&](const Channel& channel) {
    return channel.scope == Scope::device && !channel.tells_energy() &&
           std::ranges::find(options.metrics, channel.metric) != options.metrics.end();
  };
  Device device{
      .domain = channels.front().domain, .info = sensor->device(), .number = lanes_.size()};
  std::size_t place = 0;
  const auto task = [&](unsigned every, nanoseconds period, const auto& wanted) {
    const ChannelSet chosen = choose(*sensor, wanted);
    const bool counts = (chosen & choose(*sensor, telling)).any();
    auto recorder = make_recorder(
        sensor, chosen,
        lane_history(period, every, counts ? HistoryOptions{}.memory_limit : kMetricHistoryBytes));
    track(recorder->histories(), lanes_.size(), place);
    place += recorder->histories().size();
    for (const History& history : recorder->histories()) {
      if (!history.channel().tells_energy()) device.gauges.push_back(&history);
    }
    return LaneTask{.recorder = std::move(recorder), .every = every};
  };
  const nanoseconds period = options.period;
  const unsigned calm = ticks_in(kCalmPeriod, period);
  const unsigned seldom = ticks_in(kSlowPeriod, period);
  std::vector<LaneTask> tasks;
  tasks.push_back(
      task(1, period, [&](const Channel& c) { return telling(c) && !is_seldom_read(c); }));
  tasks.push_back(
      task(seldom, period, [&](const Channel& c) { return telling(c) && is_seldom_read(c); }));
  tasks.push_back(
      task(calm, period, [&](const Channel& c) { return is_asked_for(c) && !c.costly; }));
  const bool lists_processes = options.lists_processes && is_gpu(*sensor);
  std::vector<LaneTask> slow;
  // The first: `processes` asks it.
  slow.push_back(task(1, options.list_period, [](const Channel&) { return false; }));
  slow.back().lists_processes = lists_processes;
  slow.push_back(task(ticks_in(kSlowPeriod, options.list_period), options.list_period,
                      [&](const Channel& c) { return is_asked_for(c) && c.costly; }));
  const auto start = [&](std::vector<LaneTask> work, nanoseconds every, bool only_when_asked) {
    const LaneOptions lane{.period = every,
                           .only_when_asked = only_when_asked,
                           .longest_backoff = longest_backoff(every)};
    return std::make_unique<Lane>(std::move(work), lane, clock_);
  };
  lanes_.push_back(start(std::move(tasks), period, options.only_when_asked));
  const bool has_work = lists_processes || !slow.back().recorder->histories().empty();
  slow_lanes_.push_back(has_work ? start(std::move(slow), options.list_period, false) : nullptr);
  if (is_gpu(*sensor)) devices_.push_back(std::move(device));
}

void Sampler::track(const std::deque<History>& histories, std::optional<std::size_t> lane,
                    std::size_t first_place) {
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const Channel& channel = histories[i].channel();
    if (!channel.tells_energy()) continue;
    auto found = std::ranges::find(tracks_, channel.domain, &Track::domain);
    if (found == tracks_.end()) {
      found = tracks_.insert(found, Track{.domain = channel.domain, .lane = lane});
    }
    if (channel.metric == Metric::energy) {
      found->counter = &histories[i];
      found->place = first_place + i;
    } else {
      found->gauges.push_back(&histories[i]);
      std::ranges::stable_sort(found->gauges, {},
                               [](const History* gauge) { return gauge->channel().metric; });
    }
  }
}

void Sampler::read(bool ends_interval) noexcept {
  if (suspend_.was_suspended()) {
    for (const auto& recorder : prompt_) recorder->note_suspend();
  }
  for (const auto& recorder : prompt_) recorder->read();
  for (Track& track : tracks_) {
    if (track.lane || track.counter == nullptr) continue;
    track.last = track.counter->last();
    if (has_begun_) continue;
    track.first = track.last;
    track.interval_begin = track.last;
  }
  has_begun_ = true;
  if (!ends_interval) return;
  const TimePoint now = clock_.now();
  for (Track& track : tracks_) {
    const bool counts = track.counter != nullptr && !track.lane;
    track.intervals.add(counts ? counted_power(track) : gauged_power(track, now));
  }
  interval_began_ = now;
}

bool Sampler::read_lanes(TimePoint deadline) {
  owed_.resize(lanes_.size());
  std::vector<bool> is_stuck;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    is_stuck.push_back(!lanes_[i]->has_answered(owed_[i]));
    if (!is_stuck[i]) owed_[i] = lanes_[i]->ask();
  }
  bool all = true;
  // The one that was asked last is waited for first: when it is done most others are, and this
  // thread was woken up once.
  for (std::size_t i = lanes_.size(); i-- > 0;) {
    const auto boundaries =
        is_stuck[i] ? std::optional<Lane::Boundaries>() : lanes_[i]->wait_for(owed_[i], deadline);
    all = all && boundaries;
    for (Track& track : tracks_) {
      if (track.lane != i) continue;
      track.is_answered = boundaries.has_value();
      track.was_answered = track.was_answered && track.is_answered;
      if (track.counter == nullptr) continue;
      track.last = boundaries ? boundaries->at(track.place) : std::nullopt;
      if (!lanes_have_begun_) track.first = track.last;
    }
  }
  lanes_have_begun_ = true;
  interval_began_ = clock_.now();
  return all;
}

bool Sampler::read_all_lanes(TimePoint deadline) {
  std::vector<std::uint64_t> asked;
  asked.reserve(slow_lanes_.size());
  for (const auto& lane : slow_lanes_) asked.push_back(lane ? lane->ask() : 0);
  bool all = read_lanes(deadline);
  for (std::size_t i = 0; i < slow_lanes_.size(); ++i) {
    if (slow_lanes_[i]) all = slow_lanes_[i]->wait_for(asked[i], deadline).has_value() && all;
  }
  return all;
}

/// From one end of an interval to the other, both of them read just then.
std::optional<Watts> Sampler::counted_power(Track& track) noexcept {
  const std::optional<Boundary> begin = track.interval_begin;
  const std::optional<Boundary> end =
      track.counter->is_fresh() ? track.counter->last() : std::nullopt;
  track.interval_begin = end;
  if (!begin || !end || end->at <= begin->at) return std::nullopt;
  if (track.counter->condition(begin->at, end->at).unknown > nanoseconds(0)) return std::nullopt;
  const auto ticks = static_cast<double>(end->ticks - begin->ticks);
  track.is_stuck = is_stuck(track.counter->channel(), ticks, end->at - begin->at);
  if (track.is_stuck) return std::nullopt;
  return Joules(track.counter->channel().scale() * ticks) / Seconds(end->at - begin->at);
}

/// Of the time in which there was a value, where that is most of the interval.
std::optional<Watts> Sampler::gauged_power(const Track& track, TimePoint now) const noexcept {
  const nanoseconds length = now - interval_began_;
  for (const History* gauge : track.gauges) {
    const GaugeWindow window = gauge->gauge_window(interval_began_, now);
    if (window.known < length / 2 || window.known <= nanoseconds(0)) continue;
    const double raw =
        static_cast<double>(window.raw_ns) / static_cast<double>(window.known.count());
    return Watts(gauge->channel().scale() * raw);
  }
  return std::nullopt;
}

std::optional<Watts> Sampler::interval_power() const noexcept {
  std::optional<Watts> sum;
  for (const Track& track : tracks_) {
    if (!counts_in_total(track.domain.kind()) || track.is_stuck) continue;
    const std::optional<Watts> power = track.intervals.last();
    if (!power) return std::nullopt;
    sum = sum.value_or(Watts(0.0)) + *power;
  }
  return sum;
}

std::optional<Watts> Sampler::interval_power(const Domain& domain) const noexcept {
  const auto found = std::ranges::find(tracks_, domain, &Track::domain);
  return found == tracks_.end() ? std::nullopt : found->intervals.last();
}

nanoseconds Sampler::keeper_period() const noexcept {
  nanoseconds shortest = std::chrono::minutes(1);
  for (const Track& track : tracks_) {
    if (track.counter == nullptr || track.lane) continue;
    shortest = std::min(shortest, wattle::keeper_period(track.counter->channel().counter));
  }
  return shortest;
}

std::vector<Sampler::Result> Sampler::results(TimePoint begin, TimePoint end) const {
  std::vector<Result> results;
  for (const Track& track : tracks_) {
    const History& source = track.counter != nullptr ? *track.counter : *track.gauges.front();
    Result result{
        .channel = source.channel(),
        .figure =
            figure(track, {.begin = begin, .end = end, .first = track.first, .last = track.last})};
    result.figure.max = track.intervals.max();
    if (track.lane && !track.was_answered) result.figure.flags.set(Flag::late);
    results.push_back(std::move(result));
  }
  return results;
}

std::vector<Domain> Sampler::domains() const {
  std::vector<Domain> domains;
  domains.reserve(tracks_.size());
  for (const Track& track : tracks_) domains.push_back(track.domain);
  return domains;
}

EnergyFigure Sampler::figure(const Track& track, const CounterWindowAsked& window) {
  return domain_energy(track.counter, track.gauges, window);
}

EnergyFigure Sampler::figure(std::size_t domain, const CounterWindowAsked& window) const {
  return figure(tracks_[domain], window);
}

std::optional<Boundary> Sampler::last(std::size_t domain) const noexcept {
  const Track& track = tracks_[domain];
  if (track.counter == nullptr) return std::nullopt;
  if (track.lane) return track.last;
  return track.counter->is_fresh() ? track.counter->last() : std::nullopt;
}

bool Sampler::has_answered(std::size_t domain) const noexcept {
  return tracks_[domain].is_answered;
}

const History* Sampler::counter(std::size_t domain) const noexcept {
  return tracks_[domain].counter;
}

std::span<const History* const> Sampler::gauges(std::size_t domain) const noexcept {
  return tracks_[domain].gauges;
}

std::optional<double> Sampler::latest(const Device& device, Metric metric,
                                      TimePoint since) const noexcept {
  const auto value_in = [&](const std::vector<const History*>& gauges) -> std::optional<double> {
    const auto gauge = std::ranges::find(
        gauges, metric, [](const History* history) { return history->channel().metric; });
    return gauge == gauges.end() ? std::nullopt : latest(**gauge, since);
  };
  if (const auto value = value_in(device.gauges)) return value;
  const auto track = std::ranges::find(tracks_, device.domain, &Track::domain);
  return track == tracks_.end() ? std::nullopt : value_in(track->gauges);
}

std::optional<double> Sampler::latest(const History& gauge, TimePoint since) const noexcept {
  const TimePoint now = clock_.now();
  const std::optional<StoredReading> last = gauge.values().at(now).before;
  if (!last || now > last->last_confirmed + gauge.belief()) return std::nullopt;
  // What is costly is read at times of its own; times of a history are rounded down to a grid.
  if (!gauge.channel().costly && last->last_confirmed + kGaugeQuantum < since) return std::nullopt;
  if (!gauge.condition(now, now).flags.none()) return std::nullopt;  // lost
  return gauge.channel().scale() * static_cast<double>(last->raw);
}

std::optional<ProcessList> Sampler::processes(const Device& device) const {
  const auto& lane = slow_lanes_.at(device.number);
  ProcessList list = lane ? lane->processes(0) : ProcessList{};
  return list.number == 0 ? std::nullopt : std::optional(std::move(list));
}

nanoseconds Sampler::lane_cpu() const noexcept {
  nanoseconds sum{0};
  for (const auto& lane : lanes_) sum += lane->cpu();
  for (const auto& lane : slow_lanes_) sum += lane ? lane->cpu() : nanoseconds(0);
  return sum;
}

std::uint64_t Sampler::lane_ticks() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& lane : lanes_) sum += lane->ticks();
  for (const auto& lane : slow_lanes_) sum += lane ? lane->ticks() : 0;
  return sum;
}

std::uint64_t Sampler::lane_missed() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& lane : lanes_) sum += lane->missed();
  for (const auto& lane : slow_lanes_) sum += lane ? lane->missed() : 0;
  return sum;
}

}  // namespace wattle
