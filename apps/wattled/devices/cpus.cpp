#include "devices/cpus.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "serve/wall_time.hpp"

namespace wattle::daemon {
namespace {

/// Only the newest values are needed.
constexpr std::size_t kKeptBytes = kMinTimelineBytes;

void quantize(CounterState& state, std::uint64_t quantum_uj) {
  const auto quantum = static_cast<double>(quantum_uj);
  state.energy_uj = std::floor(state.energy_uj / quantum) * quantum;
  state.first_uj = std::floor(state.first_uj / quantum) * quantum;
}

CounterState state_of(const History& counter) {
  const CounterTrack& track = counter.track();
  CounterState state{.is_known = track.is_known};
  const std::optional<Boundary> last = counter.last();
  if (!last) return state;
  const double tick_uj = counter.channel().counter.tick.si() * 1e6;
  state.at = track.read_at;
  state.shown = *last;
  state.energy_uj = static_cast<double>(track.first_raw + last->ticks) * tick_uj;
  state.first_uj = static_cast<double>(track.first_raw) * tick_uj;
  state.losses = track.losses;
  state.since_ms = unix_ms(track.since);
  state.still = track.read_at - track.moved_at;
  state.is_stuck = is_stuck(counter.channel(), 0.0, state.still);
  return state;
}

MeanPower mean_power(const History& counter, const CounterState& before,
                     const CounterState& after) {
  if (const std::string_view reason = reason_of(after); !reason.empty()) return {.reason = reason};
  if (!before.is_known) return {.reason = kCounterUnreadable};
  return domain_power(&counter, {},
                      {.begin = before.shown.at,
                       .end = after.shown.at,
                       .first = before.shown,
                       .last = after.shown});
}

}  // namespace

std::string_view reason_of(const CounterState& state, std::chrono::nanoseconds patience) noexcept {
  if (!state.is_known) return kCounterUnreadable;
  return state.is_stuck && state.still >= patience ? kCounterStuck : std::string_view();
}

std::optional<std::uint64_t> milliwatts(const MeanPower& mean) noexcept {
  if (!mean.power) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(mean.power->si() * 1e3));
}

Cpus::Cpus(std::vector<std::shared_ptr<Sensor>> sensors, const std::vector<Cpu>& cpus,
           const TimeSource& clock) {
  std::map<std::pair<std::size_t, std::size_t>, const History*> histories;
  readings_.reserve(sensors.size());
  for (std::size_t number = 0; number < sensors.size(); ++number) {
    const auto is_served = [&](std::size_t channel) {
      const ChannelPlace place{.sensor = number, .channel = channel};
      return std::ranges::any_of(
          cpus, [&](const Cpu& cpu) { return cpu.cpu == place || cpu.dram == place; });
    };
    ChannelSet served;
    for (std::size_t i = 0; i < sensors[number]->channels().size(); ++i) served[i] = is_served(i);
    ReadingWork work{.is_prompt = true};
    auto history = work.add(sensors[number], served, kKeptBytes).begin();
    for (std::size_t i = 0; i < served.size(); ++i) {
      if (served[i]) histories[{number, i}] = &*history++;
    }
    std::vector<ReadingWork> all;
    all.push_back(std::move(work));
    readings_.emplace_back(std::move(all), clock);
  }
  const auto history_of = [&](const ChannelPlace& place) {
    return histories.at({place.sensor, place.channel});
  };
  for (const Cpu& cpu : cpus) {
    Served served{.cpu = history_of(cpu.cpu), .dram = nullptr, .sensors = {cpu.cpu.sensor}};
    if (cpu.dram) {
      served.dram = history_of(*cpu.dram);
      served.sensors.insert(cpu.dram->sensor);
    }
    cpus_.emplace(cpu.id, served);
    all_ids_.push_back(cpu.id);
    if (!cpu.is_part) ids_.push_back(cpu.id);
  }
  std::ranges::sort(ids_);
}

std::vector<wire::CpuEntry> Cpus::entries() const {
  std::vector<wire::CpuEntry> entries;
  entries.reserve(ids_.size());
  for (const wire::DeviceId id : ids_) {
    const Served& cpu = cpus_.at(id);
    entries.push_back({.id = id,
                       .dram_available = cpu.dram != nullptr,
                       .domain = cpu.cpu->channel().domain.name()});
  }
  return entries;
}

std::pair<const Channel*, const Channel*> Cpus::channels(wire::DeviceId id) const {
  const Served& cpu = cpus_.at(id);
  return {&cpu.cpu->channel(), cpu.dram != nullptr ? &cpu.dram->channel() : nullptr};
}

CpuStates Cpus::read(const Ids& ids) {
  std::set<std::size_t> sensors;
  for (const wire::DeviceId id : ids) {
    const Served& cpu = cpus_.at(id);
    sensors.insert(cpu.sensors.begin(), cpu.sensors.end());
  }
  for (const std::size_t number : sensors) readings_[number].read();
  CpuStates states;
  for (const wire::DeviceId id : ids) {
    const Served& cpu = cpus_.at(id);
    CpuState& state = states[id];
    state.cpu = state_of(*cpu.cpu);
    if (cpu.dram != nullptr) state.dram = state_of(*cpu.dram);
  }
  return states;
}

CounterPowers Cpus::powers(wire::DeviceId id, const CpuState& before, const CpuState& after) const {
  const Served& cpu = cpus_.at(id);
  CounterPowers powers{.cpu = mean_power(*cpu.cpu, before.cpu, after.cpu)};
  if (before.dram && after.dram) powers.dram = mean_power(*cpu.dram, *before.dram, *after.dram);
  return powers;
}

void Cpus::keep_counters(Loop& loop) {
  if (all_ids_.empty()) return;
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  for (const Readings& readings : readings_) period = std::min(period, readings.keeper_period());
  const auto read_all = [this] { (void)read(all_ids_); };
  read_all();
  keeper_.emplace(loop, period, read_all);
  keeper_->start();
}

CounterPowers CpuView::powers(wire::DeviceId id, const CpuState& before,
                              const CpuState& after) const {
  CounterPowers powers = cpus_.powers(id, before, after);
  const auto round = [](MeanPower& mean, const CounterState& first, const CounterState& last) {
    const Joules energy((last.energy_uj - first.energy_uj) * 1e-6);
    if (mean.power) mean.power = energy / Seconds(last.shown.at - first.shown.at);
  };
  if (quantum_uj_ > 0) {
    round(powers.cpu, before.cpu, after.cpu);
    if (powers.dram) round(*powers.dram, *before.dram, *after.dram);
  }
  return powers;
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
    last_ = cpus_.read(cpus_.all_ids());
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
