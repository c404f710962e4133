#include "sampling/aligned.hpp"

#include <algorithm>
#include <cmath>

#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"

namespace wattle {

using std::chrono::nanoseconds;

namespace {

/// The wait at the end is a part of one interval between two updates, whose power lies further from
/// the mean than that of whole intervals. So much further covers 95 % in bench/lab.
constexpr double kPartOfAnInterval = 1.5;

Boundary boundary_of(const CounterUpdate& update) noexcept {
  return {.at = update.at, .half_width = update.latency / 2, .ticks = update.ticks};
}

}  // namespace

bool can_align(const Channel& channel) noexcept {
  return channel.metric == Metric::energy && channel.update.known() &&
         channel.update.mean <= kLongestAlignedUpdate;
}

UpdateWatch::UpdateWatch(const Channel& channel) noexcept
    : tick_(channel.counter.tick), patience_(3 * channel.update.p99) {}

void UpdateWatch::add(const Boundary& shown) noexcept {
  if (!last_) {
    renewed_ = shown.at;
  } else if (shown.ticks != last_->ticks) {
    const nanoseconds latency = shown.at - last_->at;
    ring_[updates_ % ring_.size()] = {
        .at = shown.at - latency / 2, .latency = latency, .ticks = shown.ticks};
    ++updates_;
    renewed_ = shown.at;
  }
  last_ = shown;
}

bool UpdateWatch::is_overdue() const noexcept { return last_ && last_->at > renewed_ + patience_; }

const CounterUpdate& UpdateWatch::update(std::size_t back) const noexcept {
  return ring_[(updates_ + 2 * ring_.size() - 1 - back) % ring_.size()];
}

Watts UpdateWatch::power(const CounterUpdate& from, const CounterUpdate& to) const noexcept {
  return tick_ * static_cast<double>(to.ticks - from.ticks) / Seconds(to.at - from.at);
}

const CounterUpdate& UpdateWatch::first() const noexcept {
  return update(std::min(updates_, ring_.size()) - 1);
}

const CounterUpdate& UpdateWatch::newest() const noexcept { return update(0); }

Watts UpdateWatch::newest_power() const noexcept { return power(update(1), update(0)); }

WaitingPower UpdateWatch::waiting() const noexcept {
  // The mean from the first to the last, and how far a single interval lies from it.
  const Watts mean = power(update(kUpdates), update(0));
  double squares_w2 = 0.0;
  for (std::size_t i = 0; i < kUpdates; ++i) {
    const Watts one = power(update(i + 1), update(i));
    squares_w2 += (one - mean).si() * (one - mean).si();
  }
  const double deviation_w = std::sqrt(squares_w2 / (kUpdates - 1.0));
  return {.mean = mean, .uncertainty = Watts(kPartOfAnInterval * deviation_w)};
}

EnergyFigure aligned_energy(const History& history, const AlignedWindow& window) {
  const Channel& channel = history.channel();
  const Condition condition = history.condition(window.first.at, window.last.at);
  if (condition.unknown > nanoseconds(0)) {
    return counter_energy(history, {.begin = window.begin,
                                    .end = window.end,
                                    .first = boundary_of(window.first),
                                    .last = boundary_of(window.last)});
  }
  const nanoseconds length = window.end - window.begin;
  const nanoseconds waited = std::max(window.begin - window.first.at, nanoseconds(0)) +
                             std::max(window.last.at - window.end, nanoseconds(0));
  const Joules spent =
      channel.counter.tick * static_cast<double>(window.last.ticks - window.first.ticks);
  const Joules energy = spent - window.waiting.mean * Seconds(waited);

  EnergyFigure figure{.method = Method::counter};
  figure.flags = condition.flags;
  figure.energy = energy;
  figure.known = length;
  figure.uncertainty =
      aligned_counter_uncertainty({.waiting = window.waiting.mean,
                                   .waiting_uncertainty = window.waiting.uncertainty,
                                   .waited = waited,
                                   .first_latency = window.first.latency,
                                   .last_latency = window.last.latency,
                                   .tick = channel.counter.tick});
  if (length >= channel.update.mean) {
    figure.mean = energy / Seconds(length);
  } else {
    figure.flags.set(Flag::short_window);
  }
  return figure;
}

}  // namespace wattle
