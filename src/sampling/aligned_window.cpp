#include "sampling/aligned_window.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sampling/uncertainty.hpp"
#include "wattle/error.hpp"

namespace wattle {

using std::chrono::nanoseconds;

namespace {

/// Updates over which the power of waiting is measured: enough to see the other load's own rhythm.
constexpr std::size_t kUpdates = 50;

/// The wait at the end is a part of one interval between two updates, whose power lies further from
/// the mean than that of whole intervals. So much further covers 95 % in bench/lab.
constexpr double kPartOfAnInterval = 1.5;

const Channel& checked(const Sensor& sensor, std::size_t place) {
  if (place >= sensor.channels().size() || sensor.channels()[place].metric != Metric::energy) {
    throw InvalidArgument("cannot align a window: the channel is no energy counter");
  }
  const Channel& channel = sensor.channels()[place];
  if (!channel.update.known() || channel.update.mean > AlignedWindow::kLongestUpdate) {
    throw InvalidArgument("cannot align a window to " + channel.domain.name() +
                          ": its counter is renewed less often than every 5 ms");
  }
  return channel;
}

}  // namespace

AlignedWindow::AlignedWindow(Sensor& sensor, std::size_t channel, const Clock& clock)
    : sensor_(sensor),
      place_(channel),
      channel_(checked(sensor, channel)),
      clock_(clock),
      readings_(sensor.channels().size()),
      wanted_(ChannelSet().set(channel)),
      unwrap_(channel_.counter, channel_.update.p99) {}

Joules AlignedWindow::energy_of(double ticks) const noexcept {
  return channel_.counter.tick * ticks;
}

bool AlignedWindow::read() noexcept {
  sensor_.read_some(wanted_, readings_);
  const Reading& reading = readings_[place_];
  readable_ = reading.status == ReadStatus::ok;
  if (!readable_) return false;
  const CounterStep step = unwrap_.update(reading.raw, reading.at);
  flags_ |= step.flags();
  ticks_ += step.ticks;
  read_at_ = reading.at;
  return step.known() || step.kind == StepKind::first;
}

std::optional<AlignedWindow::Update> AlignedWindow::next_update() noexcept {
  constexpr int kPatience = 3;
  if (!read()) return std::nullopt;
  const std::uint64_t before = ticks_;
  const TimePoint deadline = read_at_ + kPatience * channel_.update.p99;
  while (true) {
    const TimePoint last_at = read_at_;
    if (!read() || read_at_ > deadline) return std::nullopt;
    if (ticks_ != before) return Update{ticks_, read_at_, read_at_ - last_at};
  }
}

void AlignedWindow::begin() noexcept {
  unwrap_.forget();  // what the counter did before this is nobody's concern
  std::array<Update, kUpdates + 1> updates;
  std::size_t seen = 0;
  first_.reset();
  while (seen < updates.size()) {
    const std::optional<Update> update = next_update();
    if (!update) break;
    updates.at(seen++) = *update;
  }
  begin_ = clock_.now();
  first_ticks_ = ticks_;
  flags_ = {};
  if (seen < updates.size()) {
    flags_.set(Flag::unaligned);
    return;
  }
  // The mean from the first to the last, and how far a single interval lies from it.
  const Update& oldest = updates.front();
  const Update& newest = updates.back();
  waiting_ = energy_of(static_cast<double>(newest.ticks - oldest.ticks)) /
             Seconds(newest.at() - oldest.at());
  double squares_w2 = 0.0;
  for (std::size_t i = 1; i < updates.size(); ++i) {
    const Seconds length = updates.at(i).at() - updates.at(i - 1).at();
    const Watts power =
        energy_of(static_cast<double>(updates.at(i).ticks - updates.at(i - 1).ticks)) / length;
    squares_w2 += (power - waiting_).si() * (power - waiting_).si();
  }
  const double deviation_w = std::sqrt(squares_w2 / (kUpdates - 1.0));
  waiting_uncertainty_ = Watts(kPartOfAnInterval * deviation_w);
  first_ = newest;
}

EnergyFigure AlignedWindow::end() noexcept {
  const TimePoint end = clock_.now();
  if (!first_) (void)read();
  const std::optional<Update> last = first_ ? next_update() : std::nullopt;
  return first_ && last ? aligned(*first_, *last, end) : plain(end);
}

EnergyFigure AlignedWindow::aligned(const Update& first, const Update& last,
                                    TimePoint end) const noexcept {
  const nanoseconds before = std::max(begin_ - first.at(), nanoseconds(0));
  const nanoseconds after = std::max(last.at() - end, nanoseconds(0));
  const Joules spent = energy_of(static_cast<double>(last.ticks - first.ticks));
  const Joules energy = spent - waiting_ * Seconds(before + after);
  EnergyFigure figure{.method = Method::counter};
  figure.flags = flags_;
  figure.energy = energy;
  figure.known = end - begin_;
  figure.uncertainty = aligned_counter_uncertainty({.waiting = waiting_,
                                                    .waiting_uncertainty = waiting_uncertainty_,
                                                    .waited = before + after,
                                                    .first_latency = first.latency,
                                                    .last_latency = last.latency,
                                                    .tick = channel_.counter.tick});
  if (end - begin_ >= channel_.update.mean) {
    figure.mean = energy / Seconds(end - begin_);
  } else {
    figure.flags.set(Flag::short_window);
  }
  return figure;
}

/// Between two reads, as they came: no update was seen in time.
EnergyFigure AlignedWindow::plain(TimePoint end) const noexcept {
  EnergyFigure figure{.method = Method::counter};
  figure.flags = flags_;
  figure.flags.set(Flag::unaligned);
  const bool is_lost = flags_.has(Flag::reset) || flags_.has(Flag::implausible);
  if (!readable_ || is_lost || read_at_ <= begin_) {
    figure.unknown = end - begin_;
    figure.flags.set(Flag::gap);
    return figure;
  }
  const Joules energy = energy_of(static_cast<double>(ticks_ - first_ticks_));
  const Watts mean = energy / Seconds(read_at_ - begin_);
  figure.energy = energy;
  figure.known = read_at_ - begin_;
  figure.mean = mean;
  figure.uncertainty = plain_counter_uncertainty({.power_after_begin = mean,
                                                  .power_before_end = mean,
                                                  .begin_half_width = nanoseconds(0),
                                                  .end_half_width = read_at_ - end,
                                                  .tick = channel_.counter.tick,
                                                  .update = channel_.update});
  return figure;
}

}  // namespace wattle
