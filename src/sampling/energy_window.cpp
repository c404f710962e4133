#include "sampling/energy_window.hpp"

#include <algorithm>

#include "sampling/uncertainty.hpp"

namespace wattle {

using std::chrono::nanoseconds;

EnergyWindow::EnergyWindow(const Channel& channel) noexcept
    : traits_(channel.counter),
      update_(channel.update),
      unwrap_(channel.counter, channel.update.p99) {}

Joules EnergyWindow::energy_of(std::uint64_t ticks) const noexcept {
  return traits_.tick * static_cast<double>(ticks);
}

void EnergyWindow::add(const Reading& reading, bool ends_interval) noexcept {
  if (reading.status == ReadStatus::gone) flags_.set(Flag::lost);
  if (reading.status == ReadStatus::ok) {
    const CounterStep step = unwrap_.update(reading.raw, reading.at);
    if (started_) {
      take_step(step, reading.at - last_.at);
    } else {
      first_ = reading;
      interval_begin_ = reading.at;
    }
    started_ = true;
    last_ = reading;
  } else {
    interval_known_ = false;
  }
  if (ends_interval) {
    end_interval(reading.at);
    // Without a value at its begin, what falls into the next interval cannot be told either.
    interval_known_ = reading.status == ReadStatus::ok;
  }
}

void EnergyWindow::take_step(const CounterStep& step, nanoseconds elapsed) noexcept {
  if (step.known()) {
    ticks_ += step.ticks;
    known_ += elapsed;
  } else {
    unknown_ += elapsed;
    interval_known_ = false;
  }
  switch (step.kind) {
    case StepKind::wrapped:
      flags_.set(Flag::wrapped);
      break;
    case StepKind::reset:
      flags_.set(Flag::reset);
      break;
    case StepKind::implausible:
      flags_.set(Flag::implausible);
      break;
    case StepKind::first:  // after `note_suspend`
      flags_.set(Flag::gap);
      break;
    case StepKind::forward:
      break;
  }
  if (step.ambiguous) flags_.set(Flag::ambiguous);
}

void EnergyWindow::note_suspend() noexcept {
  if (started_) unwrap_.forget();
}

void EnergyWindow::end_interval(TimePoint at) noexcept {
  interval_power_.reset();
  const Seconds length = at - interval_begin_;
  if (interval_known_ && length.count() > 0) {
    interval_power_ = energy_of(ticks_ - interval_begin_ticks_) / length;
    max_ = std::max(max_.value_or(*interval_power_), *interval_power_);
    if (intervals_ == 0) first_power_ = interval_power_;
    last_power_ = interval_power_;
  }
  ++intervals_;
  interval_begin_ = at;
  interval_begin_ticks_ = ticks_;
}

EnergyFigure EnergyWindow::figure(TimePoint begin, TimePoint end) const noexcept {
  EnergyFigure figure;
  figure.flags = flags_;
  if (!started_) {
    figure.unknown = std::max(end - begin, nanoseconds(0));
    figure.flags.set(Flag::gap);
    return figure;
  }
  const nanoseconds outside =
      std::max(first_.at - begin, nanoseconds(0)) + std::max(end - last_.at, nanoseconds(0));
  if (outside > nanoseconds(0)) figure.flags.set(Flag::gap);
  figure.unknown = unknown_ + outside;
  if (known_ <= nanoseconds(0)) return figure;

  const Joules energy = energy_of(ticks_);
  const Watts mean = energy / Seconds(known_);
  figure.energy = energy;
  figure.mean = mean;
  if (intervals_ >= 2) figure.max = max_;
  figure.uncertainty = plain_counter_uncertainty({.energy = energy,
                                                  .length = known_,
                                                  .power_after_begin = first_power_.value_or(mean),
                                                  .power_before_end = last_power_.value_or(mean),
                                                  .begin_half_width = first_.half_width,
                                                  .end_half_width = last_.half_width,
                                                  .tick = traits_.tick,
                                                  .update = update_});
  if (known_ < update_.mean) {
    // The counter may not have been renewed at all: no power can be told, only a bound.
    figure.flags.set(Flag::short_window);
    figure.mean.reset();
    figure.uncertainty = traits_.max_power * Seconds(update_.p99);
  } else if (ticks_ == 0) {
    figure.flags.set(Flag::zero);
  }
  return figure;
}

}  // namespace wattle
