// The script of the fake libnvidia-ml.so.1: which GPUs there are, what they draw, what goes wrong.
//
// Text, one statement a line, words separated by blanks; `#` begins a comment. Times T are seconds
// since nvmlInit (or virtual time), powers are watts. What stands before the first `gpu` holds for
// all.
//
//   driver 550.54.15                   what nvmlSystemGetDriverVersion says
//   gpu NVIDIA H100 PCIe               begins a GPU of that name; the rest describes it
//   uuid GPU-1234                      default: one that ends in its number
//   pci 0000:41:00                     domain, bus, device; default: bus = its number + 1
//   power step 0 70 2 300              70 W from 0, 300 W from 2 s on; `linear`: straight lines
//   module_power step 0 500            power of the module around it; default: none
//   memory_power step 0 40             power of its memory; default: none
//   counter 123456 step_ms 100         energy counter: value at time 0 in mJ, how often it is
//   counter none                         renewed (default: 0, 100); the value is the exact integral
//   counter_restart 4.5                of `power`. From then on it counts from 0 again
//   instant window_ms 25 update_ms 100 field 186: mean over the window, renewed at multiples of the
//   average window_ms 1000 update_ms 100   update; field 185 likewise; `none`: not supported.
//   usage window_ms 1000 update_ms 100     nvmlDeviceGetPowerUsage (defaults: these)
//   field_type double                  of power fields: double uint ulong ullong sllong int ushort,
//                                        or a number (default: uint)
//   ignores_scope                      fields of any scope give the GPU's power, as old drivers do
//   limit 350 400                      enforced and highest power limit; `none`
//   least_limit 100                    the least one that can be set; default: 0
//   clock_range 210 1980 800 1593      GPU and memory clocks that can be set; default: `none`
//   utilization 80 30                  GPU and memory, percent; likewise `none` (as all below)
//   utilization step 0 20 5 2 80 30      20 and 5 % from 0, 80 and 30 % from 2 s on
//   memory 80000000000 1000000000      total and used bytes
//   temperature 45
//   clocks 1410 1593                   SM and memory, MHz
//   mig on                             MIG mode; default: not supported
//   persistence on                     persistence mode; default: off
//   process compute 1234 1000000 from T until T     memory in bytes, or `none`; or `graphics`
//   process compute 1234 1000000 sm 40   the percentage of the time that the GPU worked for it; no
//                                        process with one: nvmlDeviceGetProcessUtilization is not
//                                        supported
//   process_record 32                  bytes of one record of the _v3 calls: 16, 24 (default), 32
//   lost 5 8                           off the bus from 5 s until 8 s; `lost 5 8 stale`: handles
//                                        obtained before stay lost
//   error CALL CODE [every N] [from T] [until T]
//   latency CALL MILLISECONDS [every N] [from T] [until T]
//   hang CALL [every N] [from T] [until T]          until fakenvml_release_hung()
//
// CALL is a function's name, `field:ID:SCOPE` for one value of nvmlDeviceGetFieldValues, or `*`.
// `every N`: at each N-th call that the rest of the rule applies to.
//
// What is set outlives the process, as it does in a driver: a line for each setter that was called
// and took effect is added to a file beside the script, ".set" behind its name, and read by the
// next:
//
//   0 power_limit 150000               the GPU's number, what, and the values
//   0 persistence 1
//   0 gpu_clocks 210 1410              likewise memory_clocks; or `reset`
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fakes/nvml/power_curve.hpp"

namespace fakenvml {

/// Half-open, in seconds.
struct TimeRange {
  double from_s = -std::numeric_limits<double>::infinity();
  double until_s = std::numeric_limits<double>::infinity();
  [[nodiscard]] bool holds(double at_s) const noexcept { return from_s <= at_s && at_s < until_s; }
};

struct Rule {
  enum class Kind { error, latency, hang };
  Kind kind = Kind::error;
  std::string call;
  int value = 0;  ///< the code, or milliseconds
  std::uint64_t every = 1;
  TimeRange when;
  std::atomic<std::uint64_t> seen{0};
};

/// How a power field sees the power.
struct SensorView {
  double window_ms;
  std::int64_t update_ms;
};

struct Counter {
  std::uint64_t start_mj = 0;
  std::int64_t step_ms = 100;
};

struct Process {
  bool compute = true;
  unsigned int pid = 0;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<unsigned int> sm_percent;
  TimeRange when;
};

struct Gpu {
  std::string name;
  std::string uuid;
  unsigned int pci_domain = 0;
  unsigned int pci_bus = 0;
  unsigned int pci_device = 0;
  PowerCurve power{PowerCurve::Shape::step, {{0.0, 0.0}}};
  std::optional<PowerCurve> module_power;
  std::optional<PowerCurve> memory_power;
  std::optional<Counter> counter = Counter{};
  std::optional<double> counter_restart_s;
  std::optional<SensorView> instant = SensorView{.window_ms = 25, .update_ms = 100};
  std::optional<SensorView> average = SensorView{.window_ms = 1000, .update_ms = 100};
  std::optional<SensorView> usage = SensorView{.window_ms = 1000, .update_ms = 100};
  unsigned int field_type = 1;
  bool ignores_scope = false;
  using Pair = std::optional<std::pair<std::uint64_t, std::uint64_t>>;
  Pair limit_w = std::pair(350, 400);
  std::uint64_t least_limit_w = 0;
  std::optional<std::uint64_t> set_limit_mw;  ///< in place of the first of `limit_w`
  /// Of the GPU and of its memory.
  std::optional<std::array<std::uint32_t, 4>> clock_range_mhz;
  /// By the second from which it holds; the first holds before as well.
  std::map<double, Pair> utilization = {{0.0, std::pair(80, 30)}};
  Pair memory = std::pair(80'000'000'000, 1'000'000'000);
  std::optional<std::uint64_t> temperature = 45;
  Pair clocks_mhz = std::pair(1410, 1593);
  bool mig = false;
  bool persistence = false;
  std::vector<Process> processes;
  unsigned int process_record = 24;
  std::optional<TimeRange> lost;
  bool stale_after_loss = false;
  std::list<Rule> rules;

  [[nodiscard]] const Pair& utilization_at(double at_s) const noexcept;
};

struct Script {
  std::string driver = "550.54.15";
  std::list<Rule> rules;
  std::list<Gpu> gpus;
};

/// Throws `std::invalid_argument` naming the line that means nothing.
void parse_script(std::istream& text, Script& script);

/// What was set in a process before; the last of two counts.
void parse_settings(std::istream& text, Script& script);

}  // namespace fakenvml
