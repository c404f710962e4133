#include "devices/cpus.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "serve/wall_time.hpp"

namespace wattle::daemon {
namespace {

void quantize(CounterState& state, std::uint64_t quantum_uj) {
  const auto quantum = static_cast<double>(quantum_uj);
  state.energy_uj = std::floor(state.energy_uj / quantum) * quantum;
  state.first_uj = std::floor(state.first_uj / quantum) * quantum;
}

}  // namespace

std::string_view reason_of(const CounterState& state, std::chrono::nanoseconds patience) noexcept {
  if (!state.is_known) return kCounterUnreadable;
  return state.is_stuck && state.still >= patience ? kCounterStuck : std::string_view();
}

CounterPower power_between(const CounterState& before, const CounterState& after) {
  if (const std::string_view reason = reason_of(after); !reason.empty()) return {.reason = reason};
  if (!before.is_known) return {.reason = kCounterUnreadable};
  if (before.losses != after.losses) return {.reason = kCounterRestarted};
  if (after.at <= before.at) return {.reason = "its counter was not read in this time"};
  const std::chrono::duration<double, std::milli> elapsed = after.at - before.at;
  // µJ per millisecond are mW.
  const double mw = (after.energy_uj - before.energy_uj) / elapsed.count();
  return {.mw = static_cast<std::uint64_t>(std::llround(mw))};
}

CpuMeanPowers power_between(const CpuState& before, const CpuState& after) {
  CpuMeanPowers powers{.cpu = power_between(before.cpu, after.cpu)};
  if (before.dram && after.dram) powers.dram = power_between(*before.dram, *after.dram);
  return powers;
}

std::optional<wire::CpuPower> CpuMeanPowers::message() const {
  if (!cpu.mw) return std::nullopt;
  return wire::CpuPower{.cpu_mw = *cpu.mw, .dram_mw = dram ? dram->mw : std::nullopt};
}

void Cpus::CpuCounter::take(const Reading& reading, const Channel& channel) {
  state.is_known = reading.status == ReadStatus::ok || reading.status == ReadStatus::stale;
  if (!state.is_known) return;
  const CounterStep step = unwrap.update(reading.raw, reading.at);
  if (!ticks || !step.known() || step.ticks > 0) moved_at = reading.at;
  if (!ticks) {
    ticks = reading.raw;
    state.first_uj = static_cast<double>(reading.raw) * tick_uj;
    state.since_ms = unix_ms(reading.at);
  } else if (step.known()) {
    *ticks += step.ticks;
  } else {
    ++state.losses;
    state.since_ms = unix_ms(reading.at);
  }
  state.at = reading.at;
  state.still = reading.at - moved_at;
  state.is_stuck = is_stuck(channel, 0.0, state.still);
  state.energy_uj = static_cast<double>(*ticks) * tick_uj;
}

Cpus::Cpus(std::vector<std::unique_ptr<Sensor>> sensors, const std::vector<Cpu>& cpus)
    : sensors_(std::move(sensors)) {
  const auto counter = [&](const ChannelPlace& place) { return CpuCounter(channel(place), place); };
  for (const Cpu& cpu : cpus) {
    Served served{.cpu = counter(cpu.cpu), .dram = {}};
    if (cpu.dram) served.dram = counter(*cpu.dram);
    cpus_.emplace(cpu.id, served);
  }
  for (const auto& [id, cpu] : cpus_) ids_.push_back(id);
}

std::vector<wire::CpuEntry> Cpus::entries() const {
  std::vector<wire::CpuEntry> entries;
  entries.reserve(cpus_.size());
  for (const auto& served : cpus_) {
    entries.push_back({.id = served.first,
                       .dram_available = served.second.dram.has_value(),
                       .domain = channel(served.second.cpu.place).domain.name()});
  }
  return entries;
}

std::pair<const Channel*, const Channel*> Cpus::channels(wire::DeviceId id) const {
  const Served& cpu = cpus_.at(id);
  return {&channel(cpu.cpu.place), cpu.dram ? &channel(cpu.dram->place) : nullptr};
}

void Cpus::read_sensor(std::size_t number) {
  readings_.assign(sensors_[number]->channels().size(), {});
  sensors_[number]->read(readings_);
  const auto take = [&](CpuCounter& counter) {
    if (counter.place.sensor == number)
      counter.take(readings_[counter.place.channel], channel(counter.place));
  };
  for (auto& entry : cpus_) {
    Served& served = entry.second;
    take(served.cpu);
    if (served.dram) take(*served.dram);
  }
}

CpuStates Cpus::read(const Ids& ids) {
  std::set<std::size_t> sensors;
  for (const wire::DeviceId id : ids) {
    const Served& cpu = cpus_.at(id);
    sensors.insert(cpu.cpu.place.sensor);
    if (cpu.dram) sensors.insert(cpu.dram->place.sensor);
  }
  for (const std::size_t number : sensors) read_sensor(number);
  CpuStates states;
  for (const wire::DeviceId id : ids) {
    const Served& cpu = cpus_.at(id);
    CpuState& state = states[id];
    state.cpu = cpu.cpu.state;
    if (cpu.dram) state.dram = cpu.dram->state;
  }
  return states;
}

void Cpus::keep_counters(Loop& loop) {
  if (ids_.empty()) return;
  const auto read_all = [this] { (void)read(ids_); };
  read_all();
  keeper_.emplace(loop, keeper_period(), read_all);
  keeper_->start();
}

std::chrono::nanoseconds Cpus::keeper_period() const {
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  for (const auto& sensor : sensors_) {
    for (const Channel& channel : sensor->channels()) {
      if (channel.metric == Metric::energy) {
        period = std::min(period, wattle::keeper_period(channel.counter));
      }
    }
  }
  return period;
}

CpuStates CpuView::read(const Ids& ids) {
  if (quantum_uj_ == 0) return cpus_.read(ids);
  const TimePoint now = loop_.now();
  // A periodic caller is a little late, by a varying time, so a call up to a quarter period early
  // counts as due. The grid moves only for a caller with another phase: so the mean rate is kept,
  // and two readings are at least half a period apart.
  const auto slack = least_period_ / 4;
  if (last_.empty() || now >= due_ - slack) {
    const bool is_in_time = !last_.empty() && now < due_ + slack;
    due_ = (is_in_time ? due_ : now) + least_period_;
    last_ = cpus_.read(cpus_.ids());
    for (auto& entry : last_) {
      CpuState& state = entry.second;
      quantize(state.cpu, quantum_uj_);
      if (state.dram) quantize(*state.dram, quantum_uj_);
    }
  }
  CpuStates chosen;
  for (const wire::DeviceId id : ids) chosen.emplace(id, last_.at(id));
  return chosen;
}

}  // namespace wattle::daemon
