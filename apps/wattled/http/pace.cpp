#include "http/pace.hpp"

namespace wattle::daemon {

void Pace::start() {
  if (schedule_) return;
  schedule_.emplace(loop_.now(), period_);
  wait();
}

void Pace::stop() {
  schedule_.reset();
  timer_->cancel();
}

void Pace::wait() {
  timer_->start(schedule_->next(), [this] {
    tick_();
    if (!schedule_) return;
    schedule_->advance(loop_.now());
    wait();
  });
}

}  // namespace wattle::daemon
