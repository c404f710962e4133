// The observation of a machine in one period of `wattle top`: plain values, read from devices or
// from a recording.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/text/printable_text.hpp"
#include "base/text/quantity.hpp"
#include "estimate/energy_share.hpp"
#include "usage/gpu/gpu_division.hpp"
#include "wattle/energy.hpp"
#include "wattle/units.hpp"

namespace wattle::app {

struct TopDevice {
  PrintableText machine{};  ///< empty: this one
  PrintableText name{};     ///< "package_0"
  PrintableText model{};
  bool is_counted = false;           ///< it is a part of the total
  bool is_gpu = false;               ///< its power is divided by its users, not by CPU time
  std::optional<Uncertain> power{};  ///< in watts, the mean of the period
  double power_common_w = 0.0;       ///< the part of its uncertainty that comes back
  MeasuredEnergy energy{};           ///< since the start of the session
  std::optional<double> utilization_percent{};
  std::optional<double> memory_used_bytes{};
  std::optional<double> memory_total_bytes{};
  std::optional<double> temperature_celsius{};
  std::optional<double> limit_w{};
  PrintableText reason{};  ///< why its power is not known; else empty
  /// Absent if they are not known.
  std::optional<std::vector<GpuUser>> users{};
  /// Why its users are not known, or not all of them; else empty.
  PrintableText users_unknown{};
};

struct TopProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  PrintableText command{};
  PrintableText user{};
  PrintableText cgroup{};
  std::optional<Seconds> cpu{};  ///< CPU time in the period
  std::optional<std::uint64_t> memory_bytes{};
};

/// A machine that is followed through its daemon.
struct TopMachine {
  PrintableText name{};
  bool is_live = false;     ///< at least a part of it is
  PrintableText trouble{};  ///< "connecting: connection refused"; empty where all of it is live
};

/// The estimated mean power of a machine without sensors; never measured.
struct TopEstimate {
  EnergyRange machine{};  ///< of the period
  EnergyRange busy{};     ///< the part that the CPU time of everything added; a part of `machine`
  PrintableText basis{};
};

struct TopObservation {
  double time_unix_s = 0.0;
  Seconds elapsed{0};               ///< since the start of the session
  std::optional<Seconds> length{};  ///< of the period; absent: nothing is known of it yet
  PrintableText host{};
  std::vector<TopDevice> devices{};
  std::vector<TopMachine> machines{};  ///< other machines only
  std::vector<TopProcess> processes{};
  std::optional<Seconds> busy{};    ///< CPU time of everything in the period
  std::optional<double> threads{};  ///< hardware threads
  std::optional<std::uint64_t> memory_used_bytes{};
  std::optional<std::uint64_t> memory_total_bytes{};
  std::optional<IdleRange> idle{};  ///< power of the idle CPUs and their memory, by the baseline
  PrintableText idle_note{};        ///< what it is known by, or why it is not known
  std::optional<TopEstimate> estimate{};
  std::vector<PrintableText> notes{};  ///< what is not shown, and why
};

/// The devices that are a part of the total, together.
struct TopTotal {
  MeasuredEnergy energy{};
  std::optional<Uncertain> power{};  ///< in watts
  bool is_lower_bound = false;       ///< the power of a device or of a machine is not known
};
/// Absent where no device is a part of it.
[[nodiscard]] std::optional<TopTotal> total_of(const TopObservation& seen);

}  // namespace wattle::app
