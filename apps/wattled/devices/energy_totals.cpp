#include "devices/energy_totals.hpp"

#include <algorithm>
#include <utility>

namespace wattle::daemon {
namespace {

/// Channels that are costly are read about once a second.
constexpr unsigned kCostlyEvery = 10;
constexpr int kLongestBackoff = 8;

/// A counter's energy is known until its last reading. `counter`: null: there is none.
TimePoint known_end(const History* counter, TimePoint base, TimePoint now) {
  if (counter == nullptr) return now;
  return std::clamp(counter->values().newest().value_or(base), base, now);
}

}  // namespace

EnergyTotals::EnergyTotals(Loop& loop)
    : loop_(loop), idle_(loop.make_timer()), pace_(loop, kPeriod, [this] { tick(); }) {}

void EnergyTotals::add(std::shared_ptr<Readings> device) {
  const std::vector<Domain> domains = device->domains();
  for (std::size_t i = 0; i < domains.size(); ++i) {
    sources_.push_back({.domain = domains[i], .readings = device.get(), .place = i});
  }
  devices_.push_back(std::move(device));
}

std::shared_ptr<Readings> EnergyTotals::reader_of(const std::shared_ptr<Sensor>& device,
                                                  const TimeSource& clock) {
  std::vector<ReadingWork> work(1);
  work[0].is_prompt = !device->may_block();
  work[0].lane = {.period = kPeriod,
                  .sleeps = true,
                  .longest_age = kPeriod / 2,
                  .longest_backoff = kLongestBackoff,
                  .patience = {}};
  for (const bool costly : {false, true}) {
    const ChannelSet chosen = channels_where(*device, [costly](const Channel& channel) {
      return channel.gives_energy() && channel.costly == costly;
    });
    work[0].add(device, chosen, kKeptBytes, costly ? kCostlyEvery : 1);
  }
  return std::make_shared<Readings>(std::move(work), clock);
}

void EnergyTotals::tick() {
  for (const auto& device : devices_) device->tick();
}

void EnergyTotals::resume(TimePoint now) {
  for (auto& [domain, sum] : sums_) {
    sum.unknown += now - sum.base;
    sum.base = now;
  }
  tick();
  pace_.start();
}

void EnergyTotals::settle(const Source& source, RunningTotal& sum, TimePoint end) {
  const EnergyFigure figure = source.energy(sum.base, end);
  sum.settled += figure.energy.value_or(Joules(0.0));
  sum.errors.add(figure.uncertainty, figure.common);
  sum.unknown += figure.unknown;
  sum.base = end;
}

EnergyTotals::DomainTotal EnergyTotals::total_of(const Source& source, TimePoint now) {
  RunningTotal& sum =
      sums_.try_emplace(source.domain, RunningTotal{.since = now, .base = now}).first->second;
  while (now - sum.base > kLongestWindow) settle(source, sum, sum.base + kLongestWindow);
  const EnergyFigure figure = source.energy(sum.base, known_end(source.counter(), sum.base, now));
  UncertaintySum errors = sum.errors;
  errors.add(figure.uncertainty, figure.common);
  // The end of a window is known better later on: a total that was shown is not taken back.
  sum.shown = std::max(sum.shown, sum.settled + figure.energy.value_or(Joules(0.0)));
  sum.shown_unknown = std::max(sum.shown_unknown, sum.unknown + figure.unknown);
  return {.domain = source.domain,
          .is_integrated = source.counter() == nullptr,
          .since = sum.since,
          .energy = sum.shown,
          .uncertainty = errors.uncertainty(),
          .unknown = sum.shown_unknown,
          .coverage = figure.coverage};
}

std::vector<EnergyTotals::DomainTotal> EnergyTotals::read() {
  const TimePoint now = loop_.now();
  if (devices_.empty()) return {};
  if (!pace_.is_running()) resume(now);
  idle_->start(now + kPatience, [this] { pause(); });
  std::vector<DomainTotal> totals;
  totals.reserve(sources_.size());
  for (const Source& source : sources_) totals.push_back(total_of(source, now));
  return totals;
}

void EnergyTotals::pause() {
  const TimePoint now = loop_.now();
  for (const Source& source : sources_) {
    const auto found = sums_.find(source.domain);
    if (found != sums_.end()) settle(source, found->second, now);
  }
  pace_.stop();
}

}  // namespace wattle::daemon
