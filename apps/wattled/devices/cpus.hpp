// The CPUs that the daemon serves, and their energy counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/gpus.hpp"
#include "http/pace.hpp"
#include "sampling/readings.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// The state of a counter at one time.
struct CounterState {
  TimePoint at{};
  Boundary shown{};           ///< its last value
  double energy_uj = 0.0;     ///< unwrapped; starts at `first_uj`
  double first_uj = 0.0;      ///< the first reading
  std::uint64_t losses = 0;   ///< losses of track: energies across one do not compare
  wire::UnixMs since_ms = 0;  ///< time of the last loss, or of the first reading
  bool is_known = false;      ///< the last read succeeded
  /// It does not move although its device draws power: the energy is unknown.
  bool is_stuck = false;
  std::chrono::nanoseconds still{};  ///< time without movement; 0 if it moved
};

inline constexpr std::string_view kCounterUnreadable = "its counter cannot be read";
/// Why the counter's energy is unknown; empty: it is known. A counter that is stuck for less than
/// `patience` counts as known: its next move includes the missing energy.
[[nodiscard]] std::string_view reason_of(const CounterState& state,
                                         std::chrono::nanoseconds patience = {}) noexcept;

struct CpuState {
  CounterState cpu;
  std::optional<CounterState> dram{};  ///< absent: there is none
};
using CpuStates = std::map<wire::DeviceId, CpuState>;

/// The mean powers of a CPU and of its memory, each with a reason where it is unknown.
struct CounterPowers {
  MeanPower cpu;
  std::optional<MeanPower> dram{};  ///< absent: there is none
};
/// In mW, as messages have it.
[[nodiscard]] std::optional<std::uint64_t> milliwatts(const MeanPower& mean) noexcept;

/// Reads packages and their memory. Threads: the loop's, since their sensors do not block.
class Cpus {
 public:
  /// The numbers of a sensor and of one of its channels.
  struct ChannelPlace {
    std::size_t sensor = 0;
    std::size_t channel = 0;
    friend bool operator==(const ChannelPlace&, const ChannelPlace&) = default;
  };
  struct Cpu {
    wire::DeviceId id = 0;
    ChannelPlace cpu{};
    std::optional<ChannelPlace> dram{};
    /// `cpu` is a counter of no CPU: see `cpus_of`. Clients that ask for CPUs never see it.
    bool is_part = false;
  };
  /// `clock` shows when the machine was suspended.
  Cpus(std::vector<std::shared_ptr<Sensor>> sensors, const std::vector<Cpu>& cpus,
       const TimeSource& clock = machine_clock());

  [[nodiscard]] std::vector<wire::CpuEntry> entries() const;
  /// zeusd's numbers of CPUs: see `CpuZone`. Two may have one counter.
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }
  /// With counters that are of no CPU.
  [[nodiscard]] const Ids& all_ids() const noexcept { return all_ids_; }

  /// The counters of a CPU and of its memory; the second may be null.
  [[nodiscard]] std::pair<const Channel*, const Channel*> channels(wire::DeviceId id) const;

  /// Reads the CPUs in `ids`, which must be known ids.
  [[nodiscard]] CpuStates read(const Ids& ids);
  /// The mean powers from one state of a CPU to a later one.
  [[nodiscard]] CounterPowers powers(wire::DeviceId id, const CpuState& before,
                                     const CpuState& after) const;
  /// From now on, reads all counters often enough to lose no wrap. Call it once.
  void keep_counters(Loop& loop);

 private:
  /// The histories of a CPU, and the sensors that show it.
  struct Served {
    const History* cpu;
    const History* dram;  ///< null: there is none
    std::set<std::size_t> sensors;
  };

  std::vector<Readings> readings_;  ///< one for each sensor: only those asked for are read
  std::map<wire::DeviceId, Served> cpus_;
  Ids ids_;
  Ids all_ids_;
  std::optional<Pace> keeper_;
};

/// A caller's view of the CPUs: everything, or rounded and rare energies. Fine and frequent
/// readings show what other users' programs do (CVE-2020-8694). Threads: the loop's.
class CpuView {
 public:
  /// `quantum_uj` 0: everything, unrounded. Otherwise reads at most once per `least_period` on
  /// average, and never twice within half of it.
  CpuView(Cpus& cpus, const Loop& loop, std::uint64_t quantum_uj = 0,
          std::chrono::nanoseconds least_period = {})
      : cpus_(cpus), loop_(loop), quantum_uj_(quantum_uj), least_period_(least_period) {}

  [[nodiscard]] CpuStates read(const Ids& ids);
  /// As `Cpus::powers`, from rounded energies where the view rounds.
  [[nodiscard]] CounterPowers powers(wire::DeviceId id, const CpuState& before,
                                     const CpuState& after) const;
  [[nodiscard]] const Ids& ids() const noexcept { return cpus_.ids(); }
  [[nodiscard]] const Ids& all_ids() const noexcept { return cpus_.all_ids(); }
  [[nodiscard]] std::chrono::nanoseconds least_period() const noexcept { return least_period_; }

 private:
  Cpus& cpus_;
  const Loop& loop_;
  std::uint64_t quantum_uj_;
  std::chrono::nanoseconds least_period_;
  CpuStates last_;
  TimePoint due_{};  ///< when the next reading is due
};

}  // namespace wattle::daemon
