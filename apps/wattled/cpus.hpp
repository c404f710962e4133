// The CPUs that the daemon serves, and what their counters show.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "gpus.hpp"
#include "sampling/counter.hpp"
#include "wire/messages.hpp"

namespace wattle::daemon {

/// A counter as it was found at one time.
struct CounterState {
  TimePoint at{};
  double energy_uj = 0.0;     ///< unwrapped: `first_uj`, and all since
  double first_uj = 0.0;      ///< what the counter showed first
  std::uint64_t losses = 0;   ///< times that it lost track: energies across one do not compare
  wire::UnixMs since_ms = 0;  ///< when it last did, or was found
  bool is_known = false;      ///< it could be read
  /// It does not move, although its device draws power: what was used is not known.
  bool is_stuck = false;
  std::chrono::nanoseconds still{};  ///< how long it has not moved, where that was seen
};

inline constexpr std::string_view kCounterUnreadable = "its counter cannot be read";
inline constexpr std::string_view kCounterRestarted = "its counter restarted";
/// Why what the counter shows is not known; empty where it is. One that is stuck for less than
/// `patience` counts as known: with the next move nothing is lost.
[[nodiscard]] std::string_view reason_of(const CounterState& state,
                                         std::chrono::nanoseconds patience = {}) noexcept;

struct CpuState {
  CounterState cpu;
  std::optional<CounterState> dram{};  ///< absent: there is none
};
using CpuStates = std::map<wire::DeviceId, CpuState>;

/// A mean power, or why it is not known.
struct CounterPower {
  std::optional<std::uint64_t> mw{};
  std::string_view reason{};  ///< empty where the power is known; of static storage
};
/// The mean power from one state of a counter to a later one.
[[nodiscard]] CounterPower power_between(const CounterState& before, const CounterState& after);
/// The same of a CPU and its memory; the memory's is absent where the CPU has none, or where it is
/// not known.
struct CpuPowers {
  CounterPower cpu;
  std::optional<CounterPower> dram{};  ///< absent: there is none
  /// As the protocol has it: absent where the CPU's own is not known.
  [[nodiscard]] std::optional<wire::CpuPower> message() const;
};
[[nodiscard]] CpuPowers power_between(const CpuState& before, const CpuState& after);

/// Reads packages and their memory. Threads: the loop's: their sensors answer at once.
class Cpus {
 public:
  /// A channel of a sensor, by their numbers.
  struct Place {
    std::size_t sensor = 0;
    std::size_t channel = 0;
  };
  struct Cpu {
    wire::DeviceId id = 0;
    Place cpu{};
    std::optional<Place> dram{};
  };
  Cpus(std::vector<std::unique_ptr<Sensor>> sensors, const std::vector<Cpu>& cpus);

  [[nodiscard]] std::vector<wire::CpuEntry> entries() const;
  [[nodiscard]] const Ids& ids() const noexcept { return ids_; }

  /// The counters of a CPU and of its memory, which may be null.
  [[nodiscard]] std::pair<const Channel*, const Channel*> channels(wire::DeviceId id) const;

  /// Reads the named ones, which are known.
  [[nodiscard]] CpuStates read(const Ids& ids);
  /// The longest time between two reads of a counter in which nothing is lost.
  [[nodiscard]] std::chrono::nanoseconds keeper_period() const;

 private:
  struct Counter {
    Counter(const Channel& channel, Place from)
        : place(from),
          tick_uj(channel.counter.tick.si() * 1e6),
          unwrap(channel.counter, channel.update.p99) {}
    void take(const Reading& reading, const Channel& channel);

    Place place;
    double tick_uj;
    CounterUnwrap unwrap;
    std::optional<std::uint64_t> ticks;
    TimePoint moved_at{};  ///< the last reading that found it moved, or the first
    CounterState state;
  };
  struct Served {
    Counter cpu;
    std::optional<Counter> dram;
  };

  void read_sensor(std::size_t number);
  [[nodiscard]] const Channel& channel(const Place& place) const {
    return sensors_.at(place.sensor)->channels()[place.channel];
  }

  std::vector<std::unique_ptr<Sensor>> sensors_;
  std::vector<Reading> readings_;
  std::map<wire::DeviceId, Served> cpus_;
  Ids ids_;
};

/// What a caller may see of the CPUs: all of it, or rounded energies at times, since fine and
/// frequent readings tell what other people's programs do (CVE-2020-8694). Threads: the loop's.
class CpuView {
 public:
  /// A `quantum_uj` of 0: all of it. Otherwise all is read once every `least_period` at most, with
  /// half a period between two readings at least.
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
