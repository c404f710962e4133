#include "sampling/readings.hpp"

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
bool tells(const Channel& channel, const ReadingsOptions& options) noexcept {
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

Readings::Readings(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock,
                   const ReadingsOptions& options)
    : clock_(clock), suspend_(clock) {
  for (std::unique_ptr<Sensor>& sensor : sensors) add(std::move(sensor), options);
  std::ranges::sort(tracks_, {}, &Track::domain);
}

void Readings::add(std::unique_ptr<Sensor> sensor, const ReadingsOptions& options) {
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

void Readings::forget(std::span<const Channel> channels, std::size_t lanes,
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

void Readings::add_prompt(std::shared_ptr<Sensor> sensor, const ReadingsOptions& options) {
  const ChannelSet telling =
      choose(*sensor, [&](const Channel& channel) { return tells(channel, options); });
  if (telling.none()) return;
  auto recorder = make_recorder(
      sensor, telling, {.period = options.period, .memory_limit = options.prompt_history_bytes});
  track(recorder->histories(), std::nullopt, 0);
  prompt_.push_back(std::move(recorder));
}

Readings::~Readings() { stop(); }

void Readings::stop() noexcept {
  for (const auto& lane : slow_lanes_) {
    if (lane) (void)lane->stop(nanoseconds(0));
  }
  for (const auto& lane : lanes_) (void)lane->stop(nanoseconds(0));
}

void Readings::add_device(std::shared_ptr<Sensor> sensor, const ReadingsOptions& options) {
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

void Readings::track(const std::deque<History>& histories, std::optional<std::size_t> lane,
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

void Readings::read() noexcept {
  if (suspend_.was_suspended()) {
    for (const auto& recorder : prompt_) recorder->note_suspend();
  }
  for (const auto& recorder : prompt_) recorder->read();
}

void Readings::read(Capture& capture) noexcept {
  read();
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    const Track& track = tracks_[i];
    if (track.lane || track.counter == nullptr) continue;
    const History& counter = *track.counter;
    capture.domains[i].counter = counter.is_fresh() ? counter.last() : std::nullopt;
  }
}

bool Readings::read_lanes(Capture& capture, TimePoint deadline) {
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
    for (std::size_t domain = 0; domain < tracks_.size(); ++domain) {
      const Track& track = tracks_[domain];
      if (track.lane != i) continue;
      const bool has_counter = boundaries && track.counter != nullptr;
      capture.domains[domain] = {
          .counter = has_counter ? boundaries->at(track.place) : std::nullopt,
          .has_answered = boundaries.has_value()};
    }
  }
  return all;
}

bool Readings::read_all_lanes(Capture& capture, TimePoint deadline) {
  std::vector<std::uint64_t> asked;
  asked.reserve(slow_lanes_.size());
  for (const auto& lane : slow_lanes_) asked.push_back(lane ? lane->ask() : 0);
  bool all = read_lanes(capture, deadline);
  for (std::size_t i = 0; i < slow_lanes_.size(); ++i) {
    if (slow_lanes_[i]) all = slow_lanes_[i]->wait_for(asked[i], deadline).has_value() && all;
  }
  return all;
}

nanoseconds Readings::keeper_period() const noexcept {
  nanoseconds shortest = std::chrono::minutes(1);
  for (const Track& track : tracks_) {
    if (track.counter == nullptr || track.lane) continue;
    shortest = std::min(shortest, wattle::keeper_period(track.counter->channel().counter));
  }
  return shortest;
}

std::vector<Domain> Readings::domains() const {
  std::vector<Domain> domains;
  domains.reserve(tracks_.size());
  for (const Track& track : tracks_) domains.push_back(track.domain);
  return domains;
}

EnergyFigure Readings::energy(std::size_t domain, const CounterWindowAsked& window) const {
  const Track& track = tracks_[domain];
  return domain_energy(track.counter, track.gauges, window);
}

MeanPower Readings::mean_power(std::size_t domain, const CounterWindowAsked& window) const {
  const Track& track = tracks_[domain];
  return domain_power(track.counter, track.gauges, window);
}

const Channel& Readings::channel(std::size_t domain) const noexcept {
  const Track& track = tracks_[domain];
  return (track.counter != nullptr ? track.counter : track.gauges.front())->channel();
}

const History* Readings::counter(std::size_t domain) const noexcept {
  return tracks_[domain].counter;
}

std::span<const History* const> Readings::gauges(std::size_t domain) const noexcept {
  return tracks_[domain].gauges;
}

bool Readings::may_block(std::size_t domain) const noexcept {
  return tracks_[domain].lane.has_value();
}

std::optional<double> Readings::latest(const Device& device, Metric metric,
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

std::optional<double> Readings::latest(const History& gauge, TimePoint since) const noexcept {
  const TimePoint now = clock_.now();
  const std::optional<StoredReading> last = gauge.values().at(now).before;
  if (!last || now > last->last_confirmed + gauge.belief()) return std::nullopt;
  // What is costly is read at times of its own; times of a history are rounded down to a grid.
  if (!gauge.channel().costly && last->last_confirmed + kGaugeQuantum < since) return std::nullopt;
  if (!gauge.condition(now, now).flags.none()) return std::nullopt;  // lost
  return gauge.channel().scale() * static_cast<double>(last->raw);
}

std::optional<ProcessList> Readings::processes(const Device& device) const {
  const auto& lane = slow_lanes_.at(device.number);
  ProcessList list = lane ? lane->processes(0) : ProcessList{};
  return list.number == 0 ? std::nullopt : std::optional(std::move(list));
}

nanoseconds Readings::lane_cpu() const noexcept {
  nanoseconds sum{0};
  for (const auto& lane : lanes_) sum += lane->cpu();
  for (const auto& lane : slow_lanes_) sum += lane ? lane->cpu() : nanoseconds(0);
  return sum;
}

std::uint64_t Readings::lane_ticks() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& lane : lanes_) sum += lane->ticks();
  for (const auto& lane : slow_lanes_) sum += lane ? lane->ticks() : 0;
  return sum;
}

std::uint64_t Readings::lane_missed() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& lane : lanes_) sum += lane->missed();
  for (const auto& lane : slow_lanes_) sum += lane ? lane->missed() : 0;
  return sum;
}

}  // namespace wattle
