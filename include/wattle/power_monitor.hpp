// Power over time of every GPU and CPU, and the energy between any two times.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/refusal.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The quantity of a GPU's power sensor. The length of each mean depends on the GPU: `wattle
/// sensors`.
enum class PowerDomain : std::uint8_t {
  device_instant,  ///< the GPU, over the shortest window that its sensor has
  device_average,  ///< the GPU, a mean over a longer window, mostly 1 s
  memory_average,  ///< the GPU's memory alone; a part of the other two
  /// The module that the GPU is a part of, with its CPU (Grace-Hopper; an AMD processor with a GPU
  /// inside). Monitored only where the GPU shows no power of its own, or where it is named.
  module_instant,
  module_average,  ///< the same, a mean over a longer window
};

/// "device_instant", "device_average", "memory_average", "module_instant", "module_average".
[[nodiscard]] WATTLE_EXPORT std::string_view to_string(PowerDomain domain) noexcept;
/// The inverse; throws `InvalidArgument`, which names the five words.
[[nodiscard]] WATTLE_EXPORT PowerDomain parse_power_domain(std::string_view word);

/// A value that a GPU's power sensor showed for a while. Threads: a value type.
struct WATTLE_EXPORT PowerSample {
  TimePoint timestamp;  ///< when it was first seen, on a grid of 100 us
  std::uint32_t gpu_index = 0;
  Watts power;
  PowerDomain domain = PowerDomain::device_instant;
  TimePoint last_confirmed{};  ///< when it was last read again and found the same
  Flags flags{};               ///< `zero`: the driver reports 0 W, which can be true or not

  /// `timestamp` in seconds since 1970-01-01 UTC: see `to_unix`.
  [[nodiscard]] double unix_s() const noexcept;
};

/// The mean power of a CPU domain between two readings of its energy counter. Threads: a value
/// type.
struct WATTLE_EXPORT CpuPowerSample {
  TimePoint begin;      ///< of the first reading
  TimePoint timestamp;  ///< of the second
  Domain domain;
  Watts power;

  /// `timestamp` in seconds since 1970-01-01 UTC: see `to_unix`.
  [[nodiscard]] double unix_s() const noexcept;
};

/// Prints the power: "350.0 W".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const PowerSample& sample);
/// Prints the domain and the power: "package_0: 95.00 W".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const CpuPowerSample& sample);

/// Which value stands for a time between two samples.
enum class Lookup : std::uint8_t {
  held,     ///< what the sensor showed then; none where it was not read for too long
  nearest,  ///< the sample whose timestamp is nearest, the earlier one of two; none without samples
};

/// The devices to monitor, and how. Threads: a value type.
struct WATTLE_EXPORT PowerMonitorOptions {
  /// Which GPUs; numbers are those of `PowerMonitor`.
  GpuSelection gpus{};
  /// How often everything is read, above 0 and up to a day. Absent: `infer_update_period` finds
  /// out, and a GPU whose driver is slow to answer is read less often. Under 50 ms is warned about;
  /// under 1 ms is raised to 1 ms.
  std::optional<std::chrono::nanoseconds> update_period{};
  /// The number of newest samples kept per GPU and power domain; at least 1. Absent: all, up to
  /// `memory_limit`.
  std::optional<std::size_t> max_samples_per_gpu{};
  /// Most that all samples together take, in bytes; past it the oldest go. At least 128 KiB for
  /// each power domain and energy counter of each GPU and each CPU domain.
  std::size_t memory_limit = std::size_t{256} << 20U;
  /// Power domains of GPUs; absent: all that each GPU has, and its energy counter. Empty, or one of
  /// them twice, is `InvalidArgument`.
  std::optional<std::vector<PowerDomain>> domains{};
  /// Whether the energy counters of CPUs are read too.
  bool cpus = true;
  /// `ignore`: a machine where nothing can be read, or without a selected GPU, is no error. The
  /// monitor has the other devices, if any, and `missing` has the reasons.
  IfUnavailable if_unavailable = IfUnavailable::fail;
  /// Where to search for devices.
  System system = System::from_environment();
};

/// Reads the power of GPUs and the energy counters of CPUs repeatedly, in one thread per device.
/// Answers questions about any time since its start. GPUs need not be alike; one that fails or
/// hangs affects no other. What it has to warn about goes to the log (`set_log`).
///
/// A GPU has one number, whatever its vendor. An NVIDIA GPU has its driver's number (`nvidia_gpu_1`
/// is 1). Others follow after the last NVIDIA GPU, AMD's before Intel's, each in the order of its
/// domains. With two NVIDIA GPUs `amd_gpu_0` is 2; with none it is 0.
///
/// All windows include both of their ends, in Unix seconds too: the times of a sample find it. One
/// that ends before it starts is `InvalidArgument`. Where the wall clock was set within a window in
/// Unix seconds, its energies are flagged `clock_stepped`: its length is not known. A
/// GPU is left out of an answer, or has an empty place in it, if nothing is known.
/// `supported_domains`, `default_domain` and `has_counter` of a GPU that is not monitored are
/// `NoSuchDevice`; the timelines leave it out. An argument `domain` that is absent means, for each
/// GPU, its `default_domain`.
///
/// After `fork` the child's copy does nothing, and answers from what was known then.
///
/// Threads: everything but the constructor, the destructor and `stop` from any, at any time.
class WATTLE_EXPORT PowerMonitor {
 public:
  /// Starts monitoring; the first readings are there when it returns, but those of a GPU that does
  /// not answer within half a second. Drivers have 2 s to list their GPUs; finding out the update
  /// period takes up to 1.5 s more. With no GPU, and none asked for, the CPU domains are monitored
  /// alone. Throws `InvalidArgument` for an option out of its range; `Error` if no thread can be
  /// started. Throws `CapabilityError` for a power domain that no GPU has. Throws `NoSuchDevice`,
  /// with reasons, for a GPU that does not exist, or if nothing can be read, unless
  /// `if_unavailable` is `ignore`.
  explicit PowerMonitor(const PowerMonitorOptions& options = {});
  PowerMonitor(const PowerMonitor&) = delete;
  PowerMonitor& operator=(const PowerMonitor&) = delete;
  /// As `stop`.
  ~PowerMonitor();

  /// Reads all devices that answer at once a last time, and ends within 100 ms. What
  /// was read can still be asked for. A second time it does nothing.
  void stop() noexcept;

  /// The selected devices that are not monitored, and why.
  [[nodiscard]] const std::vector<Refusal>& missing() const noexcept;
  /// The monitored GPUs: in the order in which they were given, else ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& gpu_indices() const noexcept;
  /// The monitored CPU domains, in their order: packages, DRAM, and what else has a counter.
  [[nodiscard]] const std::vector<Domain>& cpu_domains() const noexcept;
  /// How often everything is read.
  [[nodiscard]] std::chrono::nanoseconds update_period() const noexcept;
  /// The power domains of a GPU that are monitored, in the order of `PowerDomain`.
  [[nodiscard]] std::vector<PowerDomain> supported_domains(std::uint32_t gpu) const;
  /// The power used if no power domain is named: the instant power, else the average, else those of
  /// the module. Absent if the GPU has none of them.
  [[nodiscard]] std::optional<PowerDomain> default_domain(std::uint32_t gpu) const;
  /// True if the energy counter of a GPU is monitored.
  [[nodiscard]] bool has_counter(std::uint32_t gpu) const;
  /// Reads every device now and waits for it, at most for `patience`. The energy until now is known
  /// afterwards, but that of a device that did not answer. False if one did not, or after `stop`.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the result may be ignored
  bool read_now(std::chrono::nanoseconds patience = std::chrono::milliseconds(100)) const;
  /// Memory that the samples take up now, in bytes.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  /// Samples by GPU, each GPU's in the order of their times.
  using Timelines = std::map<std::uint32_t, std::vector<PowerSample>>;

  /// The samples whose timestamps lie in the window, of one GPU or all: a value that stays is one
  /// sample. Absent ends: from the first, to the last. A GPU without that power domain, or that is
  /// not monitored, has no entry.
  [[nodiscard]] Timelines timeline(PowerDomain domain, std::optional<std::uint32_t> gpu = {},
                                   std::optional<TimePoint> start = {},
                                   std::optional<TimePoint> end = {}) const;
  [[nodiscard]] Timelines timeline(PowerDomain domain, std::optional<std::uint32_t> gpu,
                                   double start_unix_s,
                                   std::optional<double> end_unix_s = {}) const;
  /// The same of every power domain that any GPU has.
  [[nodiscard]] std::map<PowerDomain, Timelines> all_timelines(
      std::optional<std::uint32_t> gpu = {}, std::optional<TimePoint> start = {},
      std::optional<TimePoint> end = {}) const;
  [[nodiscard]] std::map<PowerDomain, Timelines> all_timelines(std::optional<std::uint32_t> gpu,
                                                               double start_unix_s,
                                                               double end_unix_s) const;

  /// The energy of each GPU in the window. Without a power domain, every way to it is computed: its
  /// energy counter and each of its powers over time. The one with the least doubt is the result,
  /// the others are its alternatives. With a power domain, it is the integral of that power. Each
  /// value counts for as long as it held, at most until the next reading was due, plus one update
  /// of its sensor. Time without readings (before the first one, a failed sensor, dropped samples)
  /// is in `unknown`, flagged `gap`. If nothing is known, `energy` is absent. A window without
  /// length at a time that is known is 0 J and `short_window`. Where the window ends after the
  /// newest reading, the GPUs are read first, which waits for at most 100 ms. Throws
  /// `CapabilityError` where no GPU has the power domain.
  [[nodiscard]] std::map<std::uint32_t, BestEnergy> energy(
      TimePoint start, TimePoint end, std::optional<PowerDomain> domain = {}) const;
  [[nodiscard]] std::map<std::uint32_t, BestEnergy> energy(
      double start_unix_s, double end_unix_s, std::optional<PowerDomain> domain = {}) const;

  /// The energy of everything that is monitored and counts in a total (`counts_in_total`): the sum
  /// of `energy` and `cpu_energy`. A GPU that shows the power of its module alone is left out if
  /// CPUs are monitored: the module contains them. `unknown` is the longest one among the parts;
  /// `energy` is absent where none is known. Throws as `energy`.
  [[nodiscard]] MeasuredEnergy total_energy(TimePoint start, TimePoint end) const;
  [[nodiscard]] MeasuredEnergy total_energy(double start_unix_s, double end_unix_s) const;

  /// A value for each GPU; absent where there is none.
  using Powers = std::map<std::uint32_t, std::optional<PowerSample>>;

  /// The newest sample of each GPU, however old: see its times. Throws `CapabilityError` where no
  /// GPU has the power domain.
  [[nodiscard]] Powers power(std::optional<PowerDomain> domain = {}) const;
  /// The value at a time. Throws as `power`, and `InvalidArgument` for what is no number.
  [[nodiscard]] Powers power_at(TimePoint time, Lookup lookup = Lookup::held,
                                std::optional<PowerDomain> domain = {}) const;
  [[nodiscard]] Powers power_at(double unix_s, Lookup lookup = Lookup::held,
                                std::optional<PowerDomain> domain = {}) const;

  /// The mean power between any two readings of a domain's counter that both lie in the window,
  /// but where it is unknown (reset, suspended). Throws `NoSuchDomain`.
  [[nodiscard]] std::vector<CpuPowerSample> cpu_timeline(const Domain& domain,
                                                         std::optional<TimePoint> start = {},
                                                         std::optional<TimePoint> end = {}) const;
  [[nodiscard]] std::vector<CpuPowerSample> cpu_timeline(const Domain& domain, double start_unix_s,
                                                         double end_unix_s) const;
  /// The energy of each CPU domain in the window, from its counter. What lies before the first
  /// reading is unknown. Where the window ends after the newest reading, the counters are read
  /// first, which waits for at most 100 ms.
  [[nodiscard]] std::map<Domain, MeasuredEnergy> cpu_energy(TimePoint start, TimePoint end) const;
  [[nodiscard]] std::map<Domain, MeasuredEnergy> cpu_energy(double start_unix_s,
                                                            double end_unix_s) const;
  /// The mean power between the newest two readings of each CPU domain, however old; absent where
  /// there are none, or it is unknown.
  [[nodiscard]] std::map<Domain, std::optional<CpuPowerSample>> cpu_power() const;

 private:
  class Impl;
  friend struct PowerMonitorMaker;
  explicit PowerMonitor(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

/// Half the time between two updates of the GPUs' power sensors: of the fastest model, each by its
/// median. Found by reading one GPU of each model for about a second. At most 0.1 s, which is
/// warned about. A model whose power changes less than four times in that time counts as updated
/// every 0.1 s. Returns 0.1 s if no GPU reports its power. Takes at most 1.5 s, and up to 2 s
/// before that where a driver does not list its GPUs. Throws as `PowerMonitor` for a GPU that is
/// not there. Threads: any.
[[nodiscard]] WATTLE_EXPORT std::chrono::nanoseconds infer_update_period(
    const GpuSelection& gpus = {}, const System& system = System::from_environment());

}  // namespace wattle
