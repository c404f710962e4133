// The sensors of a tracker, its GPUs above all: chosen when it is made, read while it is started.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sampling/measured_window.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// What the tracking itself takes: processor time, and threads that there are.
struct TrackerCost {
  std::chrono::nanoseconds cpu{0};
  std::uint64_t threads = 0;
};

/// `begin`, `read_processors`, `sample` any number of times, `end` or `stop`. Threads: one at a
/// time.
class TrackedGpus {
 public:
  /// Looks for them. Throws `InvalidArgument`, which lists what there is, for a UUID that no GPU of
  /// the brand that is asked for has.
  TrackedGpus(const TrackerOptions& options, const TimeSource& clock);

  /// Starts threads that read them, and waits a moment for what they read first. Throws `Error`
  /// if no thread can be started.
  void begin();
  /// The counters of the processors alone; the first time is their begin.
  void read_processors() noexcept { window_->read(false); }
  /// Samples everything.
  void sample(const GpuMonitor::KinshipOf& kinship_of);
  /// The last sample: asks the GPUs for what they show now, waits a moment for them, and stops.
  void end(const GpuMonitor::KinshipOf& kinship_of);
  /// Tells the threads to end, without waiting for a driver that holds one up.
  void stop() noexcept;

  /// What the threads take.
  [[nodiscard]] TrackerCost cost() const noexcept;
  /// How many of the brand the machine has, those that cannot be read included; absent where not
  /// every vendor's can be listed.
  [[nodiscard]] std::optional<unsigned> on_machine() const noexcept { return on_machine_; }

  // From `begin` on.

  /// Those whose utilization is in the sums.
  [[nodiscard]] unsigned counted() const noexcept { return monitor_->counted(); }
  [[nodiscard]] std::optional<double> memory_total_bytes() const noexcept;
  /// Sums are of all GPUs or unknown, as in `usage`.
  [[nodiscard]] GpuMonitor::Now now() const noexcept;
  [[nodiscard]] GpusUsage usage(TimePoint began, TimePoint ended) const;
  /// Of these GPUs and of the processors; from `end` on.
  [[nodiscard]] TrackedEnergy energy(TimePoint began, TimePoint ended) const;

 private:
  const TimeSource& clock_;
  std::chrono::nanoseconds period_;
  /// Until `begin`: of the GPUs, and after them those of the processors' energy.
  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::vector<bool> included_;  ///< of each GPU: it is in the five groups
  std::vector<bool> counted_;   ///< and its utilization in the sums
  std::vector<SensorRefusal> not_read_;
  std::optional<unsigned> on_machine_;
  unsigned refused_ = 0;  ///< that are there, of the brand that is asked for
  bool wants_refused_;    ///< they would be in the sums
  std::unique_ptr<Readings> readings_;
  std::unique_ptr<MeasuredWindow> window_;
  std::unique_ptr<GpuMonitor> monitor_;
  TimePoint began_;
};

}  // namespace wattle
