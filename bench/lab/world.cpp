#include "lab/world.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace wattle::lab {
namespace {

using std::chrono::nanoseconds;

/// What the virtual clock shows at `World::kStartS`.
const TimePoint kClockStart = fakes::VirtualClock().at();

std::optional<Waveform> delayed_at_random(const std::optional<Waveform>& waveform, Random& random) {
  if (!waveform) return std::nullopt;
  return waveform->delayed(random.uniform(0.0, waveform->period_s()));
}

}  // namespace

ModelSensor::ModelSensor(std::vector<Source> sources, const ReaderModel& reader,
                         fakes::VirtualClock& clock, std::uint64_t seed)
    : sources_(std::move(sources)), reader_(reader), clock_(clock), random_(seed) {
  for (const Source& source : sources_) channels_.push_back(source.channel);
}

void ModelSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (wanted.test(i)) readings[i] = read_one(sources_[i]);
  }
}

Reading ModelSensor::read_one(const Source& source) noexcept {
  const double call_s = reader_.shortest_s + random_.exponential(reader_.mean_extra_s);
  const nanoseconds half(std::llround(call_s * 0.5e9));
  const double taken_s = World::seconds_of(clock_.at()) + call_s * random_.uniform();
  const TimePoint middle = clock_.at() + half;
  clock_.advance(2 * half);
  if (random_.chance(reader_.dropout)) return {.at = middle, .half_width = half};
  return {
      .at = middle, .half_width = half, .raw = source.raw_at(taken_s), .status = ReadStatus::ok};
}

World::World(const Machine& machine, const Load& load, std::uint64_t seed)
    : random_(seed),
      outside_(delayed_at_random(load.outside, random_)),
      shape_(load.shape.delayed(random_.uniform(load.least_delay_s, load.most_delay_s))),
      power_(outside_.value_or(shape_)),
      has_counter_(machine.counter.has_value()),
      lane_s_(machine.reader.lane_s),
      part_(load.part),
      sensor_{sources_of(machine), machine.reader, clock_, random_.bits()},
      readings_(sensor_.channels().size()) {}

UpdateTimes World::updates_of(const Machine& machine, const UpdateModel& model) noexcept {
  const double phase_s = machine.random_phase ? model.mean_s * random_.uniform() : 0.0;
  UpdateModel board = model;
  if (model.between_boards > 0.0) {
    board.mean_s *= 1.0 + model.between_boards * random_.uniform(-1.0, 1.0);
  }
  return {board, phase_s, random_.bits()};
}

std::vector<ModelSensor::Source> World::sources_of(const Machine& machine) {
  std::vector<ModelSensor::Source> sources;
  std::optional<Gauge> gauge;
  if (machine.gauge) {
    gauge.emplace(*machine.gauge, updates_of(machine, machine.gauge->update), power_);
  }
  if (machine.counter && machine.counter_is_fed && gauge) {
    FedCounter counter(*machine.counter, *gauge, kStartS);
    sources.push_back({channel_of(*machine.counter),
                       [counter](double time_s) mutable { return counter.raw_at(time_s); }});
  } else if (machine.counter) {
    const CounterModel& model = *machine.counter;
    constexpr double kMostStartJ = 1e6;
    const double start_j = random_.uniform(0.0, kMostStartJ);
    const Counter counter(model, updates_of(machine, model.update), kStartS, start_j, power_);
    sources.push_back(
        {channel_of(model), [counter](double time_s) { return counter.raw_at(time_s); }});
  }
  if (gauge && machine.gauge) {
    sources.push_back({channel_of(*machine.gauge),
                       [gauge = *gauge](double time_s) { return gauge.raw_at(time_s); }});
  }
  return sources;
}

void World::wait_until(double time_s) noexcept {
  clock_.advance(std::max(time_point(time_s) - clock_.at(), nanoseconds(0)));
}

Reading World::read(std::size_t channel) noexcept {
  sensor_.read_some(ChannelSet().set(channel), readings_);
  return readings_[channel];
}

void World::work_between(double begin_s, double end_s) noexcept {
  if (!outside_) return;
  const double length_s = (end_s - begin_s) * part_;
  if (part_ < 1.0) begin_s += (end_s - begin_s - length_s) * random_.uniform();
  power_ = shape_.only_between(begin_s, begin_s + length_s, *outside_);
}

double World::energy_j(TimePoint begin, TimePoint end) const noexcept {
  return power_.energy_j(seconds_of(begin), seconds_of(end));
}

TimePoint World::time_point(double time_s) noexcept {
  return kClockStart + nanoseconds(std::llround((time_s - kStartS) * 1e9));
}

double World::seconds_of(TimePoint time) noexcept {
  return Seconds(time - kClockStart).count() + kStartS;
}

}  // namespace wattle::lab
