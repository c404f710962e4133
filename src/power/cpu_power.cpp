// The CPU side of a power monitor: mean powers between readings of energy counters.

#include "power/power_monitor_impl.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// Absent while its counter is stuck: one that is renewed less often than it should be shows its
/// mean once it has moved.
std::optional<CpuPowerSample> between(const MonitoredCpu& cpu, const StoredReading& first,
                                      const StoredReading& second) {
  const MeanPower mean =
      counted_power(cpu.history->channel(), static_cast<double>(second.raw - first.raw),
                    second.first_seen - first.first_seen);
  if (!mean.power) return std::nullopt;
  return CpuPowerSample{.begin = first.first_seen,
                        .timestamp = second.first_seen,
                        .domain = cpu.domain,
                        .power = *mean.power};
}

/// Intervals whose energy is unknown. Threads: one at a time.
class UnknownIntervals {
 public:
  UnknownIntervals(const History& history, const PowerWindow& window) {
    history.visit_unknown(window.start, window.end, [&](TimePoint from, TimePoint to) {
      stretches_.push_back({.start = from, .end = to});
    });
  }
  /// To be asked with windows that follow each other. They start at times of stored values, which
  /// are rounded down; the ends of the intervals are not.
  [[nodiscard]] bool overlaps(TimePoint begin, TimePoint end) noexcept {
    const TimePoint ends_before = begin + kCounterQuantum;
    while (next_ < stretches_.size() && stretches_[next_].end < ends_before) ++next_;
    return next_ < stretches_.size() && stretches_[next_].start < end;
  }

 private:
  std::vector<PowerWindow> stretches_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<CpuPowerSample> PowerMonitor::Impl::cpu_timeline(const Domain& domain,
                                                             const PowerWindow& window) const {
  const MonitoredCpu& found = cpu(domain);
  UnknownIntervals unknown(*found.history, window);
  std::vector<CpuPowerSample> samples;
  std::optional<StoredReading> last;
  found.history->values().for_each(window.start, window.end, [&](const StoredReading& reading) {
    if (reading.first_seen < window.start) return;
    const bool is_later = last && reading.first_seen > last->first_seen;
    if (is_later && !unknown.overlaps(last->first_seen, reading.first_seen)) {
      const std::optional<CpuPowerSample> sample = between(found, *last, reading);
      if (!sample) return;
      samples.push_back(*sample);
    }
    last = reading;
  });
  return samples;
}

std::map<Domain, MeasuredEnergy> PowerMonitor::Impl::cpu_energy(const PowerWindow& window) const {
  catch_up(window, false);
  std::map<Domain, MeasuredEnergy> energies;
  for (const MonitoredCpu& cpu : cpus_) {
    const EnergyWindow energy_window{.begin = window.start, .end = window.end};
    MeasuredEnergy energy;
    if (window.start == window.end && cpu.history->at(window.start)) {
      set_zero_length(energy);
    } else {
      energy = counter_energy(*cpu.history, energy_window).measured();
    }
    energy.flags |= window.flags;
    energies.emplace(cpu.domain, energy);
  }
  return energies;
}

const std::vector<Domain>& PowerMonitor::cpu_domains() const noexcept {
  return impl_->cpu_domains();
}

std::vector<CpuPowerSample> PowerMonitor::cpu_timeline(const Domain& domain,
                                                       std::optional<TimePoint> start,
                                                       std::optional<TimePoint> end) const {
  return impl_->cpu_timeline(domain, PowerWindow::of(start, end));
}

std::vector<CpuPowerSample> PowerMonitor::cpu_timeline(const Domain& domain, double start_unix_s,
                                                       double end_unix_s) const {
  return impl_->cpu_timeline(domain, PowerWindow::of_unix_times(start_unix_s, end_unix_s));
}

std::map<Domain, MeasuredEnergy> PowerMonitor::cpu_energy(TimePoint start, TimePoint end) const {
  return impl_->cpu_energy(PowerWindow::of(start, end));
}

std::map<Domain, MeasuredEnergy> PowerMonitor::cpu_energy(double start_unix_s,
                                                          double end_unix_s) const {
  return impl_->cpu_energy(PowerWindow::of_unix(start_unix_s, end_unix_s));
}

std::map<Domain, std::optional<CpuPowerSample>> PowerMonitor::cpu_power() const {
  std::map<Domain, std::optional<CpuPowerSample>> powers;
  for (const MonitoredCpu& cpu : impl_->cpus()) {
    std::optional<CpuPowerSample>& power = powers[cpu.domain];
    const Timeline& values = cpu.history->values();
    const auto newest = values.at(TimePoint::max()).before;
    if (!newest) continue;
    const auto before = values.at(newest->first_seen - nanoseconds(1)).before;
    if (!before) continue;
    UnknownIntervals unknown(*cpu.history,
                             {.start = before->first_seen, .end = newest->first_seen});
    if (unknown.overlaps(before->first_seen, newest->first_seen)) continue;
    power = between(cpu, *before, *newest);
  }
  return powers;
}

}  // namespace wattle
