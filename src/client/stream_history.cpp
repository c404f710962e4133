#include "client/stream_history.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sampling/integrate.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::client {
namespace {

/// Daemons sample a whole number of times per second: the longest period is 1 s.
constexpr std::chrono::seconds kLongestPeriod{1};
/// The sampling period of a daemon is known after this number of successive changes. After a stall
/// it may catch up with fewer samples than these.
constexpr unsigned kChangesToMeasure = 50;
/// The highest rate at which a daemon samples powers ...
constexpr double kPowersPerSecond = 20.0;
/// ... and the bytes that each takes at most, on average.
constexpr std::size_t kBytesPerReading = 4;

constexpr double kMilliwattW = 1e-3;

Domain domain_of(const StreamHistory::QuantityKey& key) {
  switch (key.quantity) {
    case MeasuredQuantity::gpu:
      return Domain::nvidia_gpu(key.device);
    case MeasuredQuantity::cpu:
      return Domain::package(key.device);
    case MeasuredQuantity::dram:
      break;
  }
  return Domain::dram(key.device);
}

/// A CPU of a daemon can be the platform.
Watts max_power_of(MeasuredQuantity quantity) noexcept {
  const DomainKind kind = quantity == MeasuredQuantity::gpu   ? DomainKind::nvidia_gpu
                          : quantity == MeasuredQuantity::cpu ? DomainKind::psys
                                                              : DomainKind::dram;
  return traits_of(kind).max_power;
}

std::size_t bytes_for(double readings) noexcept {
  return std::max(kMinTimelineBytes,
                  static_cast<std::size_t>(readings * static_cast<double>(kBytesPerReading)));
}

/// Adds the energy from powers for an interval without counter readings.
void stand_in(EnergyFigure& sum, const EnergyFigure& power) {
  sum.unknown += power.unknown;
  for (const Flag why : {Flag::gap, Flag::lost}) {
    if (power.flags.has(why)) sum.flags.set(why);
  }
  if (!power.energy) return;
  sum.energy = sum.energy.value_or(Joules()) + *power.energy;
  UncertaintySum errors;
  errors.add(sum.uncertainty, sum.common);
  errors.add(power.uncertainty, power.common);
  sum.uncertainty = errors.uncertainty();
  sum.common = errors.common();
  sum.known += power.known;
  sum.flags.set(Flag::estimated);
}

/// Removes from the counter's energy the time that powers are to cover.
void forget_unknown(const History& counter, TimePoint from, TimePoint to, EnergyFigure& sum) {
  std::chrono::nanoseconds unknown{0};
  counter.visit_unknown(from, to,
                        [&](TimePoint since, TimePoint until) { unknown += until - since; });
  sum.unknown = std::max(sum.unknown - Seconds(unknown), Seconds(0));
  if (sum.unknown < Seconds(std::chrono::nanoseconds(1))) {
    sum.flags = Flags::from_bits(sum.flags.bits() & ~Flags::of(Flag::gap).bits());
  }
}

/// The counter's energy where it was read without a break, and powers before, between and after
/// that. The counter is read rarely: without powers, much of the newest second would be unknown,
/// and a restart of the daemon would lose the time since the last reading.
EnergyFigure energy_with_powers(const History& counter, const History* power, TimePoint begin,
                                TimePoint end) {
  const TimePoint from = std::max(begin, counter.values().oldest().value_or(end));
  const TimePoint to = std::min(end, counter.values().newest().value_or(begin));
  if (power == nullptr || to <= from) return counter_energy(counter, {.begin = begin, .end = end});
  EnergyFigure sum = counter_energy(counter, {.begin = from, .end = to});
  // Powers alone are better than a counter without an energy.
  if (!sum.energy) return counter_energy(counter, {.begin = begin, .end = end});
  forget_unknown(counter, from, to, sum);
  const auto add_powers = [&](TimePoint since, TimePoint until) {
    if (since < until) stand_in(sum, gauge_energy(*power, since, until));
  };
  add_powers(begin, from);
  counter.visit_unknown(from, to, add_powers);
  add_powers(to, end);
  if (sum.mean) sum.mean = *sum.energy / sum.known;
  return sum;
}

}  // namespace

StreamHistory::Record* StreamHistory::find(const QuantityKey& key) noexcept {
  const auto found = records_.find(key);
  return found == records_.end() ? nullptr : &found->second;
}

std::unique_ptr<History> StreamHistory::power_history(const QuantityKey& key) const {
  const Channel channel{
      .domain = domain_of(key), .metric = Metric::power_instant, .gauge = {.scale = kMilliwattW}};
  const double readings = kPowersPerSecond * Seconds(history_).count();
  return std::make_unique<History>(channel, HistoryOptions{.period = kLongestPeriod,
                                                           .longest_pause = kSilence,
                                                           .memory_limit = bytes_for(readings)});
}

std::unique_ptr<History> StreamHistory::counter_history(const QuantityKey& key) const {
  const bool is_gpu = key.quantity == MeasuredQuantity::gpu;
  const Channel channel{
      .domain = domain_of(key),
      .counter = {.tick = Joules(is_gpu ? 1e-3 : 1e-6), .max_power = max_power_of(key.quantity)},
      .update = is_gpu ? kNvmlCounterUpdate : kRaplUpdate,
  };
  const double readings = history_ / Seconds(counter_period_);
  return std::make_unique<History>(
      channel, HistoryOptions{.period = counter_period_, .memory_limit = bytes_for(readings)});
}

void StreamHistory::note_power(const QuantityKey& key, TimePoint at, double power_w) {
  Record* record = find(key);
  if (record == nullptr || !record->power) {
    auto made = power_history(key);
    const std::scoped_lock lock(mutex_);
    record = &records_[key];
    record->power = std::move(made);
  }
  const auto raw = static_cast<std::uint64_t>(std::llround(power_w / kMilliwattW));
  const bool is_change = raw != record->last_power.raw;
  // A daemon's times may go back; the history's may not.
  record->last_power = {
      .at = std::max(at, record->last_power.at), .raw = raw, .status = ReadStatus::ok};
  record->power->add(record->last_power);
  // In an event of several devices, only those that changed were sampled at its time.
  if (is_change) note_change(*record);
}

void StreamHistory::note_change(Record& record) noexcept {
  // The first interval is practically infinite, so the first few intervals do not count.
  PeriodEstimate& period_estimate = record.period_estimate;
  const TimePoint at = record.last_power.at;
  const std::chrono::nanoseconds since_last = at - std::exchange(period_estimate.changed_at, at);
  if (since_last <= std::chrono::nanoseconds(0)) return;
  period_estimate.longest = std::max(period_estimate.longest, since_last);
  if (++period_estimate.changes < kChangesToMeasure) return;
  record.power->set_period(std::min(period_estimate.longest, record.power->period()));
  period_estimate = {.changed_at = at};
}

void StreamHistory::confirm_power(const QuantityKey& key, TimePoint at) noexcept {
  Record* const record = find(key);
  if (record == nullptr || !record->power || record->last_power.status != ReadStatus::ok) return;
  if (at <= record->last_power.at) return;
  record->last_power.at = at;
  record->power->add(record->last_power);
}

void StreamHistory::lose_power(const QuantityKey& key, TimePoint at) noexcept {
  Record* const record = find(key);
  if (record == nullptr || !record->power || record->last_power.status != ReadStatus::ok) return;
  // Energy until now stays: a reported energy must not decrease.
  const bool counts = at <= record->last_power.at + kSilence;
  if (counts) confirm_power(key, at);
  if (counts) record->power->note_suspend();
  record->last_power.status = ReadStatus::gone;
  // After the reading that it ends, which would hold otherwise.
  record->last_power.at = std::max(at, record->last_power.at) + std::chrono::nanoseconds(1);
  record->power->add(record->last_power);
  // The next daemon may sample at another rate.
  record->power->set_period(kLongestPeriod);
  record->period_estimate = {};
}

void StreamHistory::note_counter(const QuantityKey& key, TimePoint at,
                                 std::chrono::nanoseconds half_width, std::uint64_t ticks) {
  Record* record = find(key);
  if (record == nullptr || !record->counter) {
    auto made = counter_history(key);
    const std::scoped_lock lock(mutex_);
    record = &records_[key];
    record->counter = std::move(made);
  }
  if (at <= record->last_counter) return;
  record->last_counter = at;
  record->counter->add(
      {.at = at, .half_width = half_width, .raw = ticks, .status = ReadStatus::ok});
}

void StreamHistory::break_counter(const QuantityKey& key) noexcept {
  Record* const record = find(key);
  if (record != nullptr && record->counter) record->counter->note_suspend();
}

void StreamHistory::note_suspend() noexcept {
  for (auto& [key, record] : records_) {
    if (record.power) record.power->note_suspend();
    if (record.counter) record.counter->note_suspend();
  }
}

ServerEnergy StreamHistory::energy(std::size_t server, TimePoint begin, TimePoint end) const {
  ServerEnergy found;
  const std::scoped_lock lock(mutex_);
  for (auto at = records_.lower_bound(QuantityKey{.server = server}); at != records_.end(); ++at) {
    const auto& [key, record] = *at;
    if (key.server != server) break;
    std::vector<EnergyFigure> figures;
    if (record.counter) {
      figures.push_back(energy_with_powers(*record.counter, record.power.get(), begin, end));
    }
    if (record.power) figures.push_back(gauge_energy(*record.power, begin, end));
    auto& into = key.quantity == MeasuredQuantity::gpu   ? found.gpus
                 : key.quantity == MeasuredQuantity::cpu ? found.cpus
                                                         : found.drams;
    into.emplace(key.device, best_energy(std::move(figures)).measured());
  }
  return found;
}

}  // namespace wattle::client
