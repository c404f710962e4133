#include "energy_history.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace wattle::daemon {
namespace {

/// The counter's value at `time`, rounded down to a multiple of `quantum`.
std::optional<Joules> rounded_down(const History& counter, TimePoint time, Joules quantum) {
  const std::optional<Boundary> at = counter.at(time);
  if (!at) return std::nullopt;
  const Joules shown =
      (static_cast<double>(at->ticks) + at->fraction) * counter.channel().counter.tick;
  return std::floor(shown / quantum) * quantum;
}

}  // namespace

EnergyHistory::EnergyHistory(std::vector<std::unique_ptr<Sensor>> sensors, Loop& loop,
                             const Clock& clock, std::chrono::seconds kept)
    : loop_(loop),
      kept_(kept),
      readings_(std::move(sensors), clock, {.period = kPeriod}),
      domains_(readings_.domains()),
      pace_(loop, kPeriod, [this] { tick(); }) {
  tick();
  pace_.start();
}

void EnergyHistory::tick() {
  readings_.read();
  // The time of a step of the wall clock is the time of the first check that finds it.
  (void)to_unix(loop_.now());
}

std::shared_ptr<Worker> EnergyHistory::thread_of(const Domain& device) const {
  const auto& devices = readings_.devices();
  const auto found = std::ranges::find(devices, device, &Readings::Device::domain);
  return found == devices.end() ? nullptr : readings_.worker(*found);
}

std::vector<EnergyHistory::Energy> EnergyHistory::energies(TimePoint begin, TimePoint end) {
  if (end > loop_.now() - kPeriod) readings_.read();
  const TimePoint oldest = std::min(std::max(begin, loop_.now() - kept_), end);
  std::vector<Energy> energies;
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    EnergyFigure figure = readings_.energy(i, {.begin = oldest, .end = end});
    if (oldest > begin) {
      figure.unknown += Seconds(oldest - begin);
      figure.flags.set(Flag::gap);
    }
    energies.push_back({.domain = domains_[i], .figure = std::move(figure)});
  }
  return energies;
}

std::vector<EnergyHistory::Energy> EnergyHistory::coarse_energies(TimePoint begin, TimePoint end,
                                                                  Joules quantum) {
  std::vector<Energy> all = energies(begin, end);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].domain.category() != DomainCategory::gpu) {
      make_coarse(i, begin, end, quantum, all[i].figure);
    }
  }
  return all;
}

void EnergyHistory::make_coarse(std::size_t place, TimePoint begin, TimePoint end, Joules quantum,
                                EnergyFigure& figure) const {
  const History* const counter = readings_.counter(place);
  const bool is_kept = begin >= loop_.now() - kept_;
  std::optional<Joules> first;
  std::optional<Joules> last;
  if (counter != nullptr && is_kept) first = rounded_down(*counter, begin, quantum);
  if (counter != nullptr) last = rounded_down(*counter, end, quantum);
  const bool is_known = first && last && !figure.flags.has(Flag::stuck);
  figure.energy.reset();
  if (is_known) figure.energy = *last - *first;
  // Plus one quantum for both roundings together.
  figure.uncertainty = (std::ceil(figure.uncertainty / quantum) + 1.0) * quantum;
}

}  // namespace wattle::daemon
