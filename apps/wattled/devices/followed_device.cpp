#include "devices/followed_device.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/schedule.hpp"
#include "sampling/integrate.hpp"
#include "sampling/recorder.hpp"

namespace wattle::daemon {
namespace {

/// Channels that are costly are read about once a second.
constexpr unsigned kCostlyEvery = 10;
constexpr int kLongestBackoff = 8;

HistoryOptions kept_of(unsigned every) {
  const auto period = FollowedDevice::kPeriod * every;
  return {.period = period,
          .longest_period = period * kLongestBackoff,
          .memory_limit = std::size_t{256} << 10U};
}

}  // namespace

/// The thread's, except where something else is said.
struct FollowedDevice::State {
  State(const std::shared_ptr<Sensor>& sensor, const TimeSource& time)
      : clock(time),
        usual(sensor, chosen(*sensor, false), kept_of(1)),
        costly(sensor, chosen(*sensor, true), kept_of(kCostlyEvery)),
        suspend(time),
        last_begin(time.now()) {}

  static ChannelSet chosen(const Sensor& sensor, bool costly) {
    return channels_where(sensor, [costly](const Channel& channel) {
      return channel.gives_energy() && channel.costly == costly;
    });
  }
  void read() noexcept;
  void adapt(TimePoint begin) noexcept;

  const TimeSource& clock;
  Recorder usual;
  Recorder costly;
  SuspendWatch suspend;
  Backoff backoff{kLongestBackoff};
  TimePoint last_begin;
  unsigned reads = 0;
  std::atomic<int> factor{1};        ///< for both threads
  std::atomic<bool> is_busy{false};  ///< likewise
};

void FollowedDevice::State::read() noexcept {
  const TimePoint begin = clock.now();
  if (suspend.was_suspended()) {
    usual.note_suspend();
    costly.note_suspend();
  }
  if (!usual.histories().empty()) usual.read();
  if (reads++ % kCostlyEvery == 0 && !costly.histories().empty()) costly.read();
  adapt(begin);
}

void FollowedDevice::State::adapt(TimePoint begin) noexcept {
  const int before = backoff.factor();
  backoff.add(clock.now() - begin, begin - std::exchange(last_begin, begin));
  if (backoff.factor() == before) return;
  factor.store(backoff.factor(), std::memory_order_relaxed);
  usual.set_period(kPeriod * backoff.factor());
  costly.set_period(kPeriod * kCostlyEvery * backoff.factor());
}

FollowedDevice::FollowedDevice(const std::shared_ptr<Sensor>& sensor,
                               std::shared_ptr<Worker> thread, const TimeSource& clock)
    : state_(std::make_shared<State>(sensor, clock)), thread_(std::move(thread)) {
  for (const Recorder* const recorder : {&state_->usual, &state_->costly}) {
    for (const History& history : recorder->histories()) {
      const Domain& domain = history.channel().domain;
      auto source = std::ranges::find(sources_, domain, &DomainHistories::domain);
      if (source == sources_.end())
        source = sources_.insert(source, DomainHistories{.domain = domain});
      if (history.is_counter()) {
        source->counter = &history;
      } else {
        source->gauges.push_back(&history);
      }
    }
  }
}

void FollowedDevice::tick() {
  const auto factor = static_cast<unsigned>(state_->factor.load(std::memory_order_relaxed));
  if (ticks_++ % factor != 0 || state_->is_busy.exchange(true)) return;
  const auto work = [state = state_] {
    state->read();
    state->is_busy = false;
  };
  if (!thread_) return work();
  if (!thread_->add(work)) state_->is_busy = false;
}

EnergyFigure FollowedDevice::DomainHistories::energy(TimePoint begin, TimePoint end) const {
  return domain_energy(counter, gauges, {.begin = begin, .end = end});
}

}  // namespace wattle::daemon
