#include "sampling/recorder.hpp"

#include <algorithm>
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
  take();
}

void Recorder::read(NewestReadings& device, nanoseconds longest_age) noexcept {
  if (places_.empty()) return;
  device.read(channels_, longest_age, readings_);
  take();
}

void Recorder::take() noexcept {
  for (std::size_t i = 0; i < places_.size(); ++i) histories_[i].add(readings_[places_[i]]);
}

void Recorder::note_suspend() noexcept {
  for (History& history : histories_) history.note_suspend();
}

void Recorder::set_period(nanoseconds period) noexcept {
  for (History& history : histories_) history.set_period(period);
}

bool SuspendWatch::was_suspended() noexcept {
  // No machine sleeps for less.
  constexpr nanoseconds kShortest = std::chrono::milliseconds(500);
  constexpr int kLooks = 3;
  // A thread that is displaced between the two clocks sees too much, and only once: on a busy
  // machine that can be longer than a short sleep.
  nanoseconds least = nanoseconds::max();
  for (int look = 0; look < kLooks; ++look) {
    least = std::min(least, clock_.suspended());
    if (least - suspended_ < kShortest) {
      suspended_ = std::min(suspended_, least);
      return false;
    }
  }
  suspended_ = least;
  return true;
}

}  // namespace wattle
