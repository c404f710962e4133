// Joules per unit of work, while many run at once: requests, queries, training steps, tests.
//
//   wattle::WorkUnits units;
//   auto unit = units.begin("request");   // from any thread
//   unit.add(tokens);
//   unit.end();
//   std::cout << units.report();
//
// At each moment the power is divided among the units that run then, by their weights. So all
// units, the idle power and the time without units add up to what was measured. See docs/units.md
// for the meaning and the limits of such a share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/export.hpp"
#include "wattle/refusal.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

namespace detail {
class MeteredDomains;
struct UnitDesk;
struct WorkUnitsMaker;
}  // namespace detail

class EnergySource;  // #include <wattle/energy_meter.hpp>

/// Who gets the power that the machine draws without any unit.
enum class IdleShare : std::uint8_t {
  to_units,  ///< the units that run then, as the rest of the power
  kept,      ///< nobody: it is `UnitBalance::idle`
};

/// By what a unit has its part of the power of CPUs and of everything else that is no GPU.
enum class UnitRule : std::uint8_t {
  weight,    ///< by its weight, while it runs
  cpu_time,  ///< by the CPU time of the thread that started it
};

/// The power of a domain while no unit runs. Threads: a value type.
struct UnitIdlePower {
  std::string domain;  ///< "package_0"
  Watts power{};
  Watts uncertainty{};  ///< k = 2

  friend bool operator==(const UnitIdlePower&, const UnitIdlePower&) = default;
};

/// Identifies a unit among all of a `WorkUnits`; 0: none.
using UnitId = std::uint64_t;

/// The quality of a unit's energy.
enum class UnitState : std::uint8_t {
  running,    ///< it has not ended
  waiting,    ///< it has ended; the readings that cover it are not there yet
  done,       ///< its energy is final
  forgotten,  ///< there is no such unit, or it ended too long ago (`kept_results`)
};

/// A unit that has ended, and its share. Threads: a value type.
struct UnitEnergy {
  UnitId id = 0;
  std::string tag;
  TimePoint begin;
  TimePoint end;
  double weight = 1.0;  ///< of its first phase
  double work = 0.0;    ///< what `WorkUnit::add` counted
  /// The unit's share, by the rule, of all measured domains that do not overlap. Its ± is that of
  /// the measurement at its ends. `short_window`: the unit is shorter than the sensor resolves; the
  /// ± is then all that could be its own. Absent or a lower bound if a sensor showed nothing
  /// (`unknown`).
  MeasuredEnergy energy{};
  /// From `UnitOptions`; empty: none was given, or it was not valid.
  std::string traceparent{};
  /// Its part of the CPU time of its threads; absent if its share of CPUs is by weight.
  std::optional<Seconds> cpu_time{};
};

/// An energy and its 95 % interval. Threads: a value type.
struct EnergyInterval {
  Joules value{};
  Joules low{};
  Joules high{};
};

/// A power and its 95 % interval. Threads: a value type.
struct PowerInterval {
  Watts value{};
  Watts low{};
  Watts high{};
};

/// Where the energy of a domain went: `units` + `running` + `idle` + `without_units` = `measured`.
/// Threads: a value type.
struct UnitBalance {
  Joules measured{};       ///< of the time that was divided so far
  Joules units{};          ///< shares of units whose energy is final in this domain
  Joules running{};        ///< shares of the others so far
  Joules idle{};           ///< kept; 0 with `IdleShare::to_units` while units run
  Joules without_units{};  ///< measured while no unit ran
  Seconds unknown{0};      ///< time that no reading shows
  /// The ± of `measured`, k = 2; absent in a record of a program that did not write it.
  std::optional<Joules> uncertainty{};
  Flags flags{};  ///< of all readings
};

/// How many units had which energy. Threads: a value type.
struct UnitDistribution {
  std::uint64_t none = 0;  ///< of 0 J or less, as shares above the idle power can be
  /// The bucket at place i has the units above `from` x `ratio`^i, and at most one `ratio` higher.
  Joules from{};
  double ratio = 1.0;
  std::vector<std::uint64_t> counts{};  ///< at most 64; neither the first nor the last is 0
};

/// Units for which a number is alike: within a factor of 2. Threads: a value type.
struct UnitGroup {
  double number = 0.0;  ///< their mean of it
  std::uint64_t count = 0;
  Joules mean{};  ///< of their shares
};

/// The findings about the units of a tag, or about one phase of them. Threads: a value type.
struct UnitTag {
  std::string tag{};
  std::string phase{};        ///< empty: the units as a whole
  std::uint64_t count = 0;    ///< units (or phases) with a final and known energy
  std::uint64_t unknown = 0;  ///< that ended, but a sensor failed: not in the figures
  Seconds mean_time{0};       ///< how long one lasted
  Joules sum{};               ///< of the shares
  double work = 0.0;          ///< sum of what `add` counted
  /// By the rule. Absent without a unit; the others also with fewer than 8 blocks in time. Then all
  /// of the mean is in doubt: its interval goes from 0 to twice its value.
  std::optional<EnergyInterval> mean{};
  std::optional<EnergyInterval> median{};
  std::optional<EnergyInterval> p95{};
  std::optional<EnergyInterval> p99{};
  std::optional<EnergyInterval> per_work{};  ///< sum over sum; absent without work
  /// Most units were shorter than an update of the sensor. Single energies mean little, and the
  /// interval of the mean includes the energy of the time without units.
  bool is_short = false;
  /// By regression of the power on the running weights of all tags. Absent if `doubt` is not empty.
  std::optional<EnergyInterval> fitted{};
  std::string doubt{};     ///< why there is no `fitted`: "cannot be separated from b"
  bool disagrees = false;  ///< the rule's mean and `fitted` differ beyond their intervals
  // Figures of whole units only: a phase has none of these.
  UnitDistribution distribution{};
  std::vector<UnitGroup> by_running{};  ///< by how many units ran when it started, itself included
  std::vector<UnitGroup> by_work{};     ///< by its work; units without are in no group
};

/// Two tags whose units cost differently per second and weight, by the regression. Threads: a value
/// type.
struct UnitContrast {
  std::string first;
  std::string second;
  /// Cost of the first over that of the second; absent unless both are above 0.
  std::optional<double> ratio{};
};

/// A domain, seen over all units. Threads: a value type.
struct UnitDomain {
  std::string domain;  ///< "package_0"
  UnitBalance balance{};
  std::optional<UnitIdlePower> idle{};  ///< given, or measured while no unit ran
  Seconds lag{0};                       ///< how late the sensor shows a change, as found or given
  /// The power while no unit ran now differs from `idle`.
  bool has_idle_changed = false;
  /// Power above `idle` that does not follow the units: idle power that changed, another program.
  /// Absent if the idle power is not known, or the regression found nothing.
  std::optional<PowerInterval> unexplained{};
  /// The power does not grow in proportion to the running weight. Then `slope`, what one more unit
  /// of weight adds, differs from `share`, what each has.
  bool is_curved = false;
  std::optional<Watts> share{};
  std::optional<Watts> slope{};
};

/// Everything that was found so far. Threads: a value type.
struct UnitsReport {
  std::vector<UnitTag> tags{};        ///< in the order of their first units; phases after their tag
  std::vector<UnitDomain> domains{};  ///< that are divided
  std::vector<UnitContrast> contrasts{};
  std::uint64_t running = 0;      ///< units that have not ended
  std::uint64_t waiting = 0;      ///< that ended, but are not final
  std::uint64_t ended_twice = 0;  ///< calls of `end`, in this process, that did nothing
  std::uint64_t refused = 0;      ///< units that were not counted for lack of memory
  std::uint64_t beyond_tags = 0;  ///< units whose tag did not fit in (`most_tags`)

  /// All of it on one line, with the keys of `units` in the JSON of a run (docs/json.md).
  [[nodiscard]] WATTLE_EXPORT std::string to_json() const;
};

/// Threads: a value type.
struct WorkUnitsOptions {
  /// Absent: all CPU packages, DRAM and GPUs. They must not overlap: cores lie in their package,
  /// and `psys` is only possible alone.
  std::optional<std::vector<Domain>> domains{};
  /// Which GPUs are among all; a list of `domains` names them itself.
  GpuSelection gpus{};
  /// Divided beside the domains.
  std::vector<std::shared_ptr<EnergySource>> sources{};
  IdleShare idle = IdleShare::to_units;
  /// With `IdleShare::kept`, one for every domain that is divided. A missing one is measured while
  /// no unit runs; until then its units' energies are unknown.
  std::vector<UnitIdlePower> idle_power{};
  /// How often sensors are read. A unit's energy is final about that long after its end.
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  /// How late the sensors show a change; absent: found from the units, if their load varies.
  std::optional<std::chrono::nanoseconds> lag{};
  /// Tags and phases that are kept apart, 1 to 4096. Units of further tags are counted as "other".
  std::size_t most_tags = 256;
  /// Energies of ended units that `WorkUnits::result` still knows, 1 to 2^24.
  std::size_t kept_results = 4096;
  /// Gets each unit once its energy is final, in no particular order. Called in the thread that
  /// reads: one of Wattle's, or that of `update` or `stop`. Must return soon and not throw: an
  /// exception is reported to the log, once, and the next unit comes.
  std::function<void(const UnitEnergy&)> on_done{};
  /// `ignore`: a machine without sensors is no error. All energies are unknown then.
  IfUnavailable if_unavailable = IfUnavailable::fail;
  System system = System::from_environment();
};

/// How one unit is counted. Threads: a value type.
struct UnitOptions {
  /// Its part of the power relative to other units, from 1e-6 to 1e6.
  double weight = 1.0;
  /// It uses no GPU but this one, and takes no share of the others; absent: it uses all of them.
  std::optional<Domain> gpu{};
  /// The trace that the unit belongs to, as in the HTTP header of that name (W3C Trace Context);
  /// kept for `UnitEnergy`. Empty: none. What is not valid is ignored.
  std::string_view traceparent{};
  /// With `cpu_time` a thread that computes all the time counts as much as a unit of the weight 1
  /// that is divided by weight. Units that run on one thread at once divide its CPU time by their
  /// weights. `WorkUnit::phase` takes the thread that calls it from then on. Where the clock of the
  /// thread cannot be read, the weight counts. Costs a system call more at the start and at the
  /// end.
  UnitRule by = UnitRule::weight;
};

/// A unit that runs. It ends with this object if not before. Threads: one at a time, not always the
/// same one. May outlive its `WorkUnits`; nothing happens to it then.
class WATTLE_EXPORT WorkUnit {
 public:
  /// One that has ended.
  WorkUnit() noexcept = default;
  WorkUnit(WorkUnit&& other) noexcept { *this = std::move(other); }
  WorkUnit& operator=(WorkUnit&& other) noexcept;
  WorkUnit(const WorkUnit&) = delete;
  WorkUnit& operator=(const WorkUnit&) = delete;
  ~WorkUnit();

  /// Counts work that was done in it: tokens, rows. What is not a finite number above 0 is ignored.
  void add(double work) noexcept;
  /// A phase of it starts; the one before ends. With `UnitRule::cpu_time` the CPU time of the
  /// calling thread counts from now on. `weight` as in `UnitOptions`. Throws
  /// `InvalidArgument` for another weight. Does nothing after the end.
  void phase(std::string_view name, double weight = 1.0);
  /// A second time it does nothing but count (`UnitsReport::ended_twice`). In a child of `fork` it
  /// does nothing.
  void end() noexcept;

  [[nodiscard]] bool is_running() const noexcept { return is_running_; }
  /// For `WorkUnits::result`; 0 for a unit that was not counted.
  [[nodiscard]] UnitId id() const noexcept { return id_; }

 private:
  friend class WorkUnits;
  void end_if_running() noexcept {
    if (is_running_) end();
  }

  detail::UnitDesk* desk_ = nullptr;  ///< null: not counted
  UnitId id_ = 0;
  std::int64_t last_ns_ = 0;  ///< of its last event
  std::int64_t weight_ = 0;
  double work_ = 0.0;
  std::int32_t thread_ = 0;  ///< whose CPU time counts; 0: none
  std::uint16_t tag_ = 0;
  std::uint16_t column_ = 0;
  std::uint8_t gpu_ = 0;
  UnitRule by_ = UnitRule::weight;
  bool is_running_ = false;
};

/// Divides the energy of the machine among units of work. From its construction to `stop` a thread
/// reads the sensors. Memory is bounded: what has ended is added to its tag's figures. In a child
/// of `fork` it does nothing: units that start there are not counted. One that was moved from
/// refuses everything with `InvalidArgument`. Threads: any.
class WATTLE_EXPORT WorkUnits {
 public:
  /// Throws `InvalidArgument` for options out of their range. Unless `if_unavailable` is `ignore`,
  /// throws `NoSuchDomain` for a domain that this machine lacks, and `NoSuchDevice` or
  /// `PermissionDenied` if none can be read.
  explicit WorkUnits(WorkUnitsOptions options = {});
  ~WorkUnits();
  WorkUnits(WorkUnits&&) noexcept;
  WorkUnits& operator=(WorkUnits&&) noexcept;

  /// A unit starts. Costs some 100 ns and allocates nothing once as many have run at a time. `tag`:
  /// at most 255 bytes; the rest is cut off. Throws `InvalidArgument` for a weight that is not a
  /// number from 1e-6 to 1e6, and for a GPU that is not divided.
  [[nodiscard]] WorkUnit begin(std::string_view tag, double weight = 1.0);
  [[nodiscard]] WorkUnit begin(std::string_view tag, const UnitOptions& options);

  [[nodiscard]] UnitState state(UnitId unit) const;
  /// Its energy; absent unless `state` is `done`.
  [[nodiscard]] std::optional<UnitEnergy> result(UnitId unit) const;

  /// Reads the sensors now and divides what they show; true if no ended unit waits any more. Waits
  /// for slow drivers up to half a second.
  bool update();
  /// Everything so far. `update` first if the last units should be in it.
  [[nodiscard]] UnitsReport report() const;

  /// The domains that are divided, and what of the rest is not measured, and why.
  [[nodiscard]] std::vector<std::string> domains() const;
  [[nodiscard]] std::vector<Refusal> missing() const;

  /// Reads the sensors a last time. Units that still run stay without an end. Does nothing the
  /// second time.
  void stop();

 private:
  friend struct detail::WorkUnitsMaker;
  struct Impl;
  explicit WorkUnits(std::unique_ptr<Impl> impl) noexcept;
  /// Throws `InvalidArgument` for one that was moved from.
  [[nodiscard]] Impl& impl() const;

  std::unique_ptr<Impl> impl_;
};

/// Prints "12.50 J (12.10 to 12.90 J)".
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const EnergyInterval& energy);
/// Prints a table of the tags, a line for each domain, and what is in doubt.
WATTLE_EXPORT std::ostream& operator<<(std::ostream& out, const UnitsReport& report);

}  // namespace wattle
