#include "devices/energy_totals.hpp"

#include <algorithm>
#include <utility>

namespace wattle::daemon {
namespace {

/// A counter's energy is known until its last reading.
TimePoint known_end(const FollowedDevice::DomainHistories& source, TimePoint base, TimePoint now) {
  if (source.counter == nullptr) return now;
  return std::clamp(source.counter->values().newest().value_or(base), base, now);
}

}  // namespace

EnergyTotals::EnergyTotals(Loop& loop)
    : loop_(loop),
      idle_(loop.make_timer()),
      pace_(loop, FollowedDevice::kPeriod, [this] { tick(); }) {}

void EnergyTotals::add(std::shared_ptr<FollowedDevice> device) {
  devices_.push_back(std::move(device));
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
  const EnergyFigure figure = source.energy(sum.base, known_end(source, sum.base, now));
  UncertaintySum errors = sum.errors;
  errors.add(figure.uncertainty, figure.common);
  // The end of a window is known better later on: a total that was shown is not taken back.
  sum.shown = std::max(sum.shown, sum.settled + figure.energy.value_or(Joules(0.0)));
  sum.shown_unknown = std::max(sum.shown_unknown, sum.unknown + figure.unknown);
  return {.domain = source.domain,
          .is_integrated = source.counter == nullptr,
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
  for (const auto& device : devices_) {
    for (const Source& source : device->sources()) totals.push_back(total_of(source, now));
  }
  return totals;
}

void EnergyTotals::pause() {
  const TimePoint now = loop_.now();
  for (const auto& device : devices_) {
    for (const Source& source : device->sources()) {
      const auto found = sums_.find(source.domain);
      if (found != sums_.end()) settle(source, found->second, now);
    }
  }
  pace_.stop();
}

}  // namespace wattle::daemon
