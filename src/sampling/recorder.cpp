#include "sampling/recorder.hpp"

#include <utility>

namespace wattle {

using std::chrono::nanoseconds;

Recorder::Recorder(std::shared_ptr<Sensor> sensor, ChannelSet channels,
                   const HistoryOptions& options)
    : sensor_(std::move(sensor)), channels_(channels), readings_(sensor_->channels().size()) {
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    if (i >= channels_.size() || !channels_[i]) continue;
    places_.push_back(i);
    histories_.emplace_back(sensor_->channels()[i], options);
  }
}

void Recorder::read() noexcept {
  if (places_.empty()) return;
  sensor_->read_some(channels_, readings_);
  for (std::size_t i = 0; i < places_.size(); ++i) histories_[i].add(readings_[places_[i]]);
}

void Recorder::note_suspend() noexcept {
  for (History& history : histories_) history.note_suspend();
}

void Recorder::set_period(nanoseconds period) noexcept {
  for (History& history : histories_) history.set_period(period);
}

bool SuspendWatch::was_suspended() noexcept {
  // Two clocks are read one after the other, and the thread may be displaced in between; no
  // machine sleeps for less than this.
  constexpr nanoseconds kShortest = std::chrono::milliseconds(500);
  const nanoseconds suspended = clock_.suspended();
  if (suspended - suspended_ < kShortest) return false;
  suspended_ = suspended;
  return true;
}

}  // namespace wattle
