// The parts of a power monitor. Private to power_monitor.cpp and its neighbours.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/worker.hpp"
#include "power/monitor_parts.hpp"
#include "power/watched_sensor.hpp"
#include "sampling/readings.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle {

/// A window whose length fits into nanoseconds, whatever its caller asked for.
struct PowerWindow {
  TimePoint start;
  TimePoint end;
  Flags flags{};  ///< `clock_stepped`, where its ends are of the wall clock

  /// Absent ends: all that there is. Throws `InvalidArgument` where it ends before it starts.
  [[nodiscard]] static PowerWindow of(std::optional<TimePoint> start, std::optional<TimePoint> end);
  /// Throws as well for what is no number.
  [[nodiscard]] static PowerWindow of_unix(double start_unix_s, double end_unix_s);
  /// The same for a list: samples whose times are equal to an end as doubles are included.
  [[nodiscard]] static PowerWindow of_unix_times(double start_unix_s, double end_unix_s);
};

/// More than the rounding of a time in Unix seconds: a double holds those of today to 0.24 us.
inline constexpr std::chrono::nanoseconds kUnixRounding{500};

struct MonitoredGpu {
  std::uint32_t index = 0;
  Domain device;  ///< what it is called
  /// By `place_of`; null for a power domain that is not monitored.
  std::array<const History*, kPowerDomains.size()> histories{};
  const History* counter = nullptr;  ///< of its energy; null where it is not monitored

  [[nodiscard]] const History* history(PowerDomain domain) const noexcept {
    return histories.at(place_of(domain));
  }
  /// The instant power, else the average, else the module's; absent where none is monitored.
  [[nodiscard]] std::optional<PowerDomain> default_domain() const noexcept;
};

/// The energy of a window of no length, if the power is known.
template <class Energy>
void set_zero_length(Energy& energy) noexcept {
  energy.energy = Joules(0.0);
  energy.flags = Flags::of(Flag::short_window);
}

struct MonitoredCpu {
  Domain domain;
  const History* history;
};

/// Threads: as `PowerMonitor`.
class PowerMonitor::Impl {
 public:
  /// `options` are checked, and have an update period if `reader` is the caller.
  Impl(const Selection& selection, const TimeSource& clock, const PowerMonitorOptions& options,
       ReadBy reader);

  void stop() noexcept;
  void read_by_caller() noexcept { readings_->read(); }
  /// False where one did not answer.
  // NOLINTNEXTLINE(modernize-use-nodiscard)
  bool read_now(std::chrono::nanoseconds patience) const;
  void report_faults() { faults_->report(); }

  [[nodiscard]] const std::vector<MonitoredGpu>& gpus() const noexcept { return gpus_; }
  [[nodiscard]] const std::vector<MonitoredCpu>& cpus() const noexcept { return cpus_; }
  [[nodiscard]] const std::vector<std::uint32_t>& gpu_indices() const noexcept { return indices_; }
  [[nodiscard]] const std::vector<Domain>& cpu_domains() const noexcept { return domains_; }
  [[nodiscard]] const std::vector<Refusal>& missing() const noexcept { return missing_; }
  [[nodiscard]] std::chrono::nanoseconds period() const noexcept { return period_; }

  /// Throws `NoSuchDevice`.
  [[nodiscard]] const MonitoredGpu& gpu(std::uint32_t index) const;
  /// Throws `NoSuchDomain`.
  [[nodiscard]] const MonitoredCpu& cpu(const Domain& domain) const;
  /// Throws `CapabilityError` where there are GPUs, but none has `domain`, or any default.
  void require_power(std::optional<PowerDomain> domain) const;
  /// The same for its energy, which a counter shows as well.
  void require_energy(std::optional<PowerDomain> domain) const;

  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  [[nodiscard]] Timelines timelines(PowerDomain domain, std::optional<std::uint32_t> only,
                                    const PowerWindow& window) const;
  [[nodiscard]] std::map<PowerDomain, Timelines> all_timelines(std::optional<std::uint32_t> only,
                                                               const PowerWindow& window) const;
  [[nodiscard]] std::map<std::uint32_t, BestEnergy> energy(const PowerWindow& window,
                                                           std::optional<PowerDomain> domain) const;
  [[nodiscard]] std::vector<CpuPowerSample> cpu_timeline(const Domain& domain,
                                                         const PowerWindow& window) const;
  [[nodiscard]] std::map<Domain, MeasuredEnergy> cpu_energy(const PowerWindow& window) const;

  /// The time of the oldest sample to be kept; absent if all are kept.
  [[nodiscard]] std::optional<TimePoint> kept_since(const History& history) const noexcept;

 private:
  /// By every way that there is, or by one power domain alone.
  [[nodiscard]] EnergyFigure energy_of(const MonitoredGpu& gpu, const PowerWindow& window,
                                       std::optional<PowerDomain> only) const;
  [[noreturn]] void refuse(std::string_view what, std::string_view lacked) const;
  /// Reads the devices whose values end before the window does.
  void catch_up(const PowerWindow& window, bool is_gpu) const;
  /// `channels`: those of its sensor, with what was found out of them. `bytes`: for each history.
  [[nodiscard]] ReadingWork gpu_work(const Selection::SelectedGpu& gpu,
                                     std::vector<Channel> channels, const LaneOptions& lane,
                                     std::size_t bytes);
  [[nodiscard]] ReadingWork cpu_work(const Selection& selection, const LaneOptions& lane,
                                     std::size_t bytes);
  /// Work done once a second, and at the end.
  [[nodiscard]] Worker::Job reporting() const;

  std::vector<Refusal> missing_;
  std::chrono::nanoseconds period_{0};
  std::optional<std::size_t> most_samples_;
  std::vector<MonitoredGpu> gpus_;
  std::vector<MonitoredCpu> cpus_;
  std::vector<std::uint32_t> indices_;
  std::vector<Domain> domains_;
  std::vector<NamedGpu> watched_;
  std::shared_ptr<FaultReport> faults_;
  std::optional<Readings> readings_;
  std::unique_ptr<Worker> reporting_;
  std::atomic<bool> stopped_{false};
};

}  // namespace wattle
