// A range for the energy of a machine that has no energy counter.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/export.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// Where a quantity lies, if not measured: low <= typical <= high. Threads: a value type.
struct EnergyRange {
  Joules low;
  Joules typical;
  Joules high;
};

/// Prints "~46 J (17 J to 210 J)".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const EnergyRange& range);

/// An estimate, never a measurement: the range of published results of whole servers with the same
/// microarchitecture and load. docs/estimates.md derives it. Threads: a value type.
struct EnergyEstimate {
  /// Energy at the wall for `threads` hardware threads of a server, with their part of its memory,
  /// fans and power supply. Absent if `unknown` has a reason.
  std::optional<EnergyRange> machine{};
  /// The energy that the given CPU time added to the idle energy; a part of `machine`. Absent where
  /// no CPU time was given.
  std::optional<EnergyRange> own{};
  std::string unknown{};  ///< why nothing is estimated; else empty

  std::string method{};                 ///< "server_power_model"
  std::string basis{};                  ///< the data, its date, and of how many machines
  std::string covers{};                 ///< what `machine` is the energy of
  std::vector<std::string> excludes{};  ///< what is not in it
  std::string microarchitecture{};      ///< "AMD EPYC gen 5 (Turin)"
  std::string recognized_by{};          ///< "AuthenticAMD, cpu family 26, model 2"
  /// False: the ranges are the widest of the vendor, or of all vendors.
  bool is_known = false;
  unsigned machines = 0;  ///< whose published results the ranges were made from

  double threads = 0.0;               ///< hardware threads, or fewer by a CPU quota
  std::optional<double> cpu_quota{};  ///< CPUs at a time that the control group may use, if fewer
  double mean_load = 0.0;             ///< of the threads, 0 to 1
  double stolen_part = 0.0;           ///< of their time that the hypervisor gave to others, 0 to 1
  bool is_virtual = false;            ///< the threads are those of a virtual machine
};

/// Prints the range of `machine`, or why there is none.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const EnergyEstimate& estimate);

/// Whether this system has a server for itself, or is a guest (a virtual machine) on one.
enum class MachineExtent : std::uint8_t { server, guest };

/// Threads: a value type.
struct EstimatorOptions {
  System system = System::from_environment();
  /// Absent: the value of WATTLE_ESTIMATE_AS ("server" or "guest"); if that is not set either, the
  /// files of the system show which it is.
  std::optional<MachineExtent> extent{};
};

/// Estimates the energy of an interval from /proc/cpuinfo, /proc/stat and the CPU quota of
/// this process. One that was moved from knows nothing: `start` throws `InvalidArgument`,
/// `estimate` throws `NotStarted`, and `stop` does nothing.
///
/// Threads: one at a time.
class WATTLE_EXPORT EnergyEstimator {
 public:
  /// Reads what the machine is. Nothing that is missing is an error: see `EnergyEstimate::unknown`.
  explicit EnergyEstimator(EstimatorOptions options = {});
  EnergyEstimator(EnergyEstimator&& other) noexcept;
  EnergyEstimator& operator=(EnergyEstimator&& other) noexcept;
  ~EnergyEstimator();

  /// The interval starts. Throws `InvalidState` while started.
  void start();
  /// It ends. Does nothing a second time.
  void stop() noexcept;
  /// Estimates the energy from `start` until now, or until `stop`. `cpu_time`: the CPU time of a
  /// part of all processes, at least 0, whose part of the energy is wanted. Throws `NotStarted`
  /// before `start`, `InvalidArgument` for a negative time.
  [[nodiscard]] EnergyEstimate estimate(std::optional<Seconds> cpu_time = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wattle
