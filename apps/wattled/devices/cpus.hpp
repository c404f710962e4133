// The CPUs that the daemon serves, and their energy counters.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "devices/gpus.hpp"
#include "http/pace.hpp"
#include "sampling/counters/counter.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// The state of a counter at one time.
struct CounterState {
  TimePoint at{};
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
inline constexpr std::string_view kCounterRestarted = "its counter restarted";
/// Why the counter's energy is unknown; empty: it is known. A counter that is stuck for less than
/// `patience` counts as known: its next move includes the missing energy.
[[nodiscard]] std::string_view reason_of(const CounterState& state,
                                         std::chrono::nanoseconds patience = {}) noexcept;

struct CpuState {
  CounterState cpu;
  std::optional<CounterState> dram{};  ///< absent: there is none
};
using CpuStates = std::map<wire::DeviceId, CpuState>;

/// A mean power, or why it is unknown.
struct CounterPower {
  std::optional<std::uint64_t> mw{};
  std::string_view reason{};  ///< empty: the power is known; static storage
};
/// The mean power from one state of a counter to a later one.
[[nodiscard]] CounterPower power_between(const CounterState& before, const CounterState& after);
/// The mean powers of a CPU and of its memory.
struct CpuMeanPowers {
  CounterPower cpu;
  std::optional<CounterPower> dram{};  ///< absent: there is none
  /// The message for clients; absent if the power of the CPU itself is unknown.
  [[nodiscard]] std::optional<wire::CpuPower> message() const;
};
[[nodiscard]] CpuMeanPowers power_between(const CpuState& before, const CpuState& after);

/// Reads packages and their memory. Threads: the loop's, since their sensors do not block.
class Cpus {
 public:
  /// The numbers of a sensor and of one of its channels.
  struct ChannelPlace {
    std::size_t sensor = 0;
    std::size_t channel = 0;
  };
  struct Cpu {
    wire::DeviceId id = 0;
    ChannelPlace cpu{};
    std::optional<ChannelPlace> dram{};
  };
  Cpus(std::vector<std::unique_ptr<Sensor>> sensors, const std::vector<Cpu>& cpus);

  [[nodiscard]] std::vector<wire::CpuEntry> entries() const;
  /// zeusd's numbers of CPUs: see `CpuZone`. Two may have one counter.
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }

  /// The counters of a CPU and of its memory; the second may be null.
  [[nodiscard]] std::pair<const Channel*, const Channel*> channels(wire::DeviceId id) const;

  /// Reads the CPUs in `ids`, which must be known ids.
  [[nodiscard]] CpuStates read(const Ids& ids);
  /// From now on, reads all counters often enough to lose no wrap. Call it once.
  void keep_counters(Loop& loop);

 private:
  struct CpuCounter {
    CpuCounter(const Channel& channel, ChannelPlace from)
        : place(from),
          tick_uj(channel.counter.tick.si() * 1e6),
          unwrap(channel.counter, channel.update.p99) {}
    void take(const Reading& reading, const Channel& channel);

    ChannelPlace place;
    double tick_uj;
    CounterUnwrap unwrap;
    std::optional<std::uint64_t> ticks;
    TimePoint moved_at{};  ///< time of the last reading that moved, or of the first
    CounterState state;
  };
  struct Served {
    CpuCounter cpu;
    std::optional<CpuCounter> dram;
  };

  void read_sensor(std::size_t number);
  /// The longest time between two reads that loses no wrap of a counter.
  [[nodiscard]] std::chrono::nanoseconds keeper_period() const;
  [[nodiscard]] const Channel& channel(const ChannelPlace& place) const {
    return sensors_.at(place.sensor)->channels()[place.channel];
  }

  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::vector<Reading> readings_;
  std::map<wire::DeviceId, Served> cpus_;
  Ids ids_;
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
  [[nodiscard]] const Ids& ids() const noexcept { return cpus_.ids(); }
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
