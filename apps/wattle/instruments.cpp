#include "instruments.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kSparklineWidth = 48;
/// How long the begin and the end of a run wait for drivers that are slow to answer.
constexpr nanoseconds kPatience = std::chrono::milliseconds(500);

/// Power is integrated from at least ten values a second, however long the interval.
nanoseconds lane_period(nanoseconds interval) noexcept {
  return std::min<nanoseconds>(interval, std::chrono::milliseconds(100));
}

}  // namespace

Instruments::Instruments(std::vector<std::unique_ptr<Sensor>> sensors, const System& system,
                         nanoseconds interval, pid_t command, std::optional<Series> series)
    : clock_(machine_clock()),
      sampler_(std::move(sensors), clock_,
               {.period = lane_period(interval),
                .metrics = GpuMonitor::metrics(),
                .lists_processes = true}),
      machine_(system),
      gpus_(sampler_),
      profile_(kSparklineWidth),
      command_(command),
      series_(std::move(series)) {}

TimePoint Instruments::begin() {
  (void)sampler_.read_lanes(clock_.now() + kPatience);
  looked_at_gpus_ = clock_.now();  // what they show now is from before the command
  read(false);
  began_ = ended_ = clock_.now();
  return began_;
}

void Instruments::read(bool ends_interval) {
  sampler_.read(ends_interval);
  const TimePoint now = clock_.now();
  machine_.sample(now);
  ++reads_;
  // More often than that there is nothing new.
  constexpr nanoseconds kNews = std::chrono::milliseconds(90);
  if (now - looked_at_gpus_ >= kNews) {
    gpus_.sample([&](pid_t pid) { return command_.kinship_of(pid); }, began_);
    looked_at_gpus_ = now;
  }
  if (!ends_interval) return;
  profile_.add(sampler_.interval_power());
  if (series_) series_->add(sampler_, machine_, now, now - began_);
}

TimePoint Instruments::end() {
  ended_ = clock_.now();
  read(false);
  (void)sampler_.read_lanes(ended_ + kPatience);
  gpus_.sample([&](pid_t pid) { return command_.kinship_of(pid); }, began_);
  return ended_;
}

nanoseconds Instruments::longest_period() const noexcept {
  constexpr nanoseconds kListsCome = std::chrono::seconds(1);
  const nanoseconds keeper = sampler_.keeper_period();
  return sampler_.devices().empty() ? keeper : std::min(keeper, kListsCome);
}

}  // namespace wattle::app
