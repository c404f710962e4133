#include "sampling/readings.hpp"

#include <algorithm>
#include <new>
#include <set>
#include <utility>

#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;

Readings::Readings(std::vector<std::unique_ptr<Sensor>> sensors, const TimeSource& clock,
                   const ReadingsOptions& options)
    : clock_(clock), suspend_(clock) {
  for (std::unique_ptr<Sensor>& sensor : sensors) add(std::move(sensor), options);
}

Readings::Readings(std::vector<ReadingWork> work, const TimeSource& clock)
    : clock_(clock), suspend_(clock) {
  for (ReadingWork& part : work) add(std::move(part));
}

void Readings::add(std::unique_ptr<Sensor> sensor, const ReadingsOptions& options) {
  const std::shared_ptr<Sensor> shared = std::move(sensor);
  const std::size_t lanes = lanes_.size();
  try {
    for (ReadingWork& work : work_of(shared, options)) add(std::move(work));
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
  add_energy_domains(channels, domains);
  std::erase_if(domains_,
                [&](const DomainSources& sources) { return domains.contains(sources.domain); });
  std::erase_if(devices_, [&](const ObservedGpu& device) { return device.lane >= lanes; });
  for (std::size_t i = lanes; i < lanes_.size(); ++i) {
    std::erase_if(asked_,
                  [&](const AskedDevice& asked) { return asked.lane == lanes_[i].lane.get(); });
  }
  lanes_.resize(lanes);
  for (const Domain& domain : domains) {
    left_out_.push_back({.source = channels.front().source,
                         .subject = domain.name(),
                         .reason = reason,
                         .domain = domain,
                         .shows = {domain.kind()}});
  }
}

void Readings::add(ReadingWork work) {
  if (work.is_prompt) {
    if (!work.tasks.empty()) {
      asked_.push_back({.sensor = work.tasks.front().recorder->sensor(), .lane = nullptr});
    }
    for (LaneTask& task : work.tasks) {
      for (const History& history : task.recorder->histories())
        add_history(history, std::nullopt, 0);
      prompt_.push_back(std::move(task.recorder));
    }
    return;
  }
  const std::size_t number = lanes_.size();
  lanes_.push_back({.lane = std::make_unique<Lane>(std::move(work.tasks), work.lane, clock_),
                    .is_slow = work.is_slow});
  const std::vector<LaneTask>& tasks = lanes_.back().lane->tasks();
  const Sensor& sensor = *tasks.front().recorder->sensor();
  if (!work.is_slow) {
    asked_.push_back(
        {.sensor = tasks.front().recorder->sensor(), .lane = lanes_.back().lane.get()});
  }
  if (is_gpu(sensor) && work.is_slow) devices_.back().slow_lane = number;
  if (is_gpu(sensor) && !work.is_slow) {
    devices_.push_back(
        {.domain = sensor.channels().front().domain, .info = sensor.device(), .lane = number});
  }
  std::size_t place = 0;
  for (const LaneTask& task : tasks) {
    for (const History& history : task.recorder->histories()) {
      add_history(history, number, place++);
      const bool is_of_gpu = is_gpu(sensor) && !history.channel().gives_energy();
      if (is_of_gpu) devices_.back().gauges.push_back(&history);
    }
  }
}

Readings::~Readings() { stop(); }

void Readings::stop(TimePoint deadline) noexcept {
  for (const OwnedLane& own : lanes_) (void)own.lane->stop(nanoseconds(0));
  for (const OwnedLane& own : lanes_) {
    const nanoseconds left = deadline - std::chrono::steady_clock::now();
    (void)own.lane->stop(std::max(left, nanoseconds(0)));
  }
}

void Readings::add_history(const History& history, std::optional<std::size_t> lane,
                           std::size_t place) {
  const Channel& channel = history.channel();
  if (!channel.gives_energy()) return;
  auto found = std::ranges::lower_bound(domains_, channel.domain, {}, &DomainSources::domain);
  if (found == domains_.end() || found->domain != channel.domain) {
    found = domains_.insert(found, DomainSources{.domain = channel.domain, .lane = lane});
  }
  if (channel.metric == Metric::energy) {
    found->counter = &history;
    found->place = place;
  } else {
    found->gauges.push_back(&history);
    std::ranges::stable_sort(found->gauges, {},
                             [](const History* gauge) { return gauge->channel().metric; });
  }
}

void Readings::read() noexcept {
  if (prompt_.empty()) return;
  if (suspend_.was_suspended()) {
    for (const auto& recorder : prompt_) recorder->note_suspend();
  }
  for (const auto& recorder : prompt_) recorder->read();
}

void Readings::read(Capture& capture) noexcept {
  read();
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const DomainSources& sources = domains_[i];
    if (sources.lane || sources.counter == nullptr) continue;
    const History& counter = *sources.counter;
    capture.domains[i].counter = counter.is_fresh() ? counter.last() : std::nullopt;
  }
}

template <class IsWanted>
std::vector<Readings::LaneAnswer> Readings::ask(IsWanted is_wanted, TimePoint deadline) const {
  std::vector<LaneAnswer> answers(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (is_wanted(lanes_[i])) answers[i].asked = lanes_[i].lane->ask();
  }
  // The one that was asked last is waited for first: when it is done most others are, and this
  // thread was woken up once.
  for (std::size_t i = lanes_.size(); i-- > 0;) {
    LaneAnswer& answer = answers[i];
    if (answer.asked) answer.shown = lanes_[i].lane->wait_for(*answer.asked, deadline);
  }
  return answers;
}

bool Readings::read_lanes(Capture& capture, TimePoint deadline, Lanes lanes) {
  const auto is_wanted = [&](const OwnedLane& own) { return lanes == Lanes::all || !own.is_slow; };
  const std::vector<LaneAnswer> answers = ask(
      [&](const OwnedLane& own) {
        return is_wanted(own) && own.lane->has_answered(own.last_request);
      },
      deadline);
  bool all = true;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].last_request = answers[i].asked.value_or(lanes_[i].last_request);
    all = all && (answers[i].shown || !is_wanted(lanes_[i]));
  }
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const DomainSources& sources = domains_[i];
    if (!sources.lane) continue;
    const std::optional<Lane::Boundaries>& shown = answers[*sources.lane].shown;
    const bool has_counter = shown && sources.counter != nullptr;
    capture.domains[i] = {.counter = has_counter ? shown->at(sources.place) : std::nullopt,
                          .has_answered = shown.has_value()};
  }
  return all;
}

LateCapture Readings::ask_lanes() {
  LateCapture capture;
  capture.lanes.resize(lanes_.size());
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    OwnedLane& own = lanes_[i];
    if (own.is_slow || (own.last_later && !own.last_later->is_done())) continue;
    own.last_later = own.lane->ask_later();
    capture.lanes[i] = own.last_later;
  }
  return capture;
}

std::optional<Boundary> Readings::shown(const LateCapture& capture,
                                        std::size_t domain) const noexcept {
  const DomainSources& sources = domains_[domain];
  if (!sources.lane || sources.counter == nullptr || *sources.lane >= capture.lanes.size()) {
    return std::nullopt;
  }
  const auto& shown = capture.lanes[*sources.lane];
  return shown ? shown->at(sources.place) : std::nullopt;
}

void Readings::ask(std::size_t device, const DeviceQuestion& question, TimePoint now,
                   WaitingQuestions::Then then, const WaitingQuestions::Post& post) {
  const AskedDevice& asked = asked_.at(device);
  if (asked.lane != nullptr) return asked.lane->ask(question, now, std::move(then), post);
  NewestReadings prompt(asked.sensor, clock_);
  post([then = std::move(then), answer = answer_of(prompt, question)] { then(answer); });
}

bool Readings::has_waited(std::size_t device, TimePoint since) const noexcept {
  const Lane* const lane = asked_[device].lane;
  return lane != nullptr && lane->has_waited(since);
}

std::shared_ptr<Worker> Readings::worker(std::size_t device) const noexcept {
  const Lane* const lane = asked_[device].lane;
  return lane != nullptr ? lane->worker() : nullptr;
}

void Readings::tick() {
  read();
  for (const OwnedLane& own : lanes_) own.lane->tick();
}

void Readings::wait_for_first(TimePoint deadline) const {
  constexpr std::uint64_t kFirst = 1;  // the reading at the start
  for (const OwnedLane& own : lanes_) (void)own.lane->wait_for(kFirst, deadline);
}

bool Readings::read_now(TimePoint deadline) const {
  const std::vector<LaneAnswer> answers = ask([](const OwnedLane&) { return true; }, deadline);
  const auto has_read = [](const LaneAnswer& answer) { return answer.shown.has_value(); };
  return !answers.empty() && std::ranges::all_of(answers, has_read);
}

void Readings::catch_up(std::span<const History* const> histories, TimePoint wanted,
                        TimePoint deadline) const {
  const auto is_old = [&](const History& history) {
    if (std::ranges::find(histories, &history) == histories.end()) return false;
    const std::optional<TimePoint> newest = history.values().newest();
    return newest && *newest < wanted;
  };
  const auto has_old = [&](const LaneTask& task) {
    return std::ranges::any_of(task.recorder->histories(), is_old);
  };
  (void)ask([&](const OwnedLane& own) { return std::ranges::any_of(own.lane->tasks(), has_old); },
            deadline);
}

nanoseconds Readings::keeper_period() const noexcept {
  nanoseconds shortest = std::chrono::minutes(1);
  for (const DomainSources& sources : domains_) {
    if (sources.counter == nullptr || sources.lane) continue;
    shortest = std::min(shortest, wattle::keeper_period(sources.counter->channel().counter));
  }
  return shortest;
}

std::vector<Domain> Readings::domains() const {
  std::vector<Domain> domains;
  domains.reserve(domains_.size());
  for (const DomainSources& sources : domains_) domains.push_back(sources.domain);
  return domains;
}

EnergyFigure Readings::energy(std::size_t domain, const EnergyWindow& window) const {
  const DomainSources& sources = domains_[domain];
  return domain_energy(sources.counter, sources.gauges, window);
}

MeanPower Readings::mean_power(std::size_t domain, const EnergyWindow& window) const {
  const DomainSources& sources = domains_[domain];
  return domain_power(sources.counter, sources.gauges, window);
}

const Channel& Readings::channel(std::size_t domain) const noexcept {
  const DomainSources& sources = domains_[domain];
  return (sources.counter != nullptr ? sources.counter : sources.gauges.front())->channel();
}

std::optional<double> Readings::latest(const ObservedGpu& device, Metric metric,
                                       TimePoint since) const noexcept {
  const auto value_in = [&](const std::vector<const History*>& gauges) -> std::optional<double> {
    const auto gauge = std::ranges::find(
        gauges, metric, [](const History* history) { return history->channel().metric; });
    return gauge == gauges.end() ? std::nullopt : latest(**gauge, since);
  };
  if (const auto value = value_in(device.gauges)) return value;
  const auto sources = std::ranges::find(domains_, device.domain, &DomainSources::domain);
  return sources == domains_.end() ? std::nullopt : value_in(sources->gauges);
}

std::optional<double> Readings::latest(const History& gauge, TimePoint since) const noexcept {
  const TimePoint now = clock_.now();
  const std::optional<StoredReading> last = gauge.values().at(now).before;
  if (!last || now > last->last_confirmed + gauge.valid_for()) return std::nullopt;
  // Costly channels are read at times of their own; times of a history are rounded down to a grid.
  if (!gauge.channel().costly && last->last_confirmed + kGaugeQuantum < since) return std::nullopt;
  if (!gauge.condition(now, now).flags.none()) return std::nullopt;  // lost
  return gauge.channel().scale() * static_cast<double>(last->raw);
}

std::optional<ProcessList> Readings::processes(const ObservedGpu& device) const {
  if (!device.slow_lane) return std::nullopt;
  ProcessList list = lanes_[*device.slow_lane].lane->processes(0);
  return list.number == 0 ? std::nullopt : std::optional(std::move(list));
}

}  // namespace wattle
