// The energy of sections of code, by domain and tag.
//
//   wattle::EnergyScope scope;        // measures until the end of the block, then prints
//   load();
//   scope.record("train");            // the section that starts here is called "train"
//   train();
//
// It counts the energy of the whole machine: no counter distinguishes programs.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wattle/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/energy_trace.hpp"
#include "wattle/error.hpp"
#include "wattle/export.hpp"
#include "wattle/handlers.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

namespace detail {
class MeteredDomains;
struct EnergyMeterMaker;
}  // namespace detail

/// A device of your own with energy counters, or that shows its power in watts: a wall meter, a
/// battery, a simulation. Override `counters` and `read`, or `gauges` and `read_power`, or all
/// four. Threads: each function is called by one thread at a time, not always the same one; `read`
/// and `read_power` by two threads beside each other.
class WATTLE_EXPORT EnergySource {
 public:
  /// One of its energy counters. Threads: a value type.
  struct Counter {
    /// Its column: no domain's name ("package_7"), and no other source's.
    std::string name;
    /// Energy of one tick of the raw integer; above 0.
    Joules tick{1e-6};
    /// The number of ticks after which the raw integer starts again at 0; 0: it never does.
    std::uint64_t modulus = 0;
    /// No device draws more: a fall that would take more power than that is a reset, not a wrap.
    Watts max_power{10'000.0};
    /// How often the value is renewed; 0: at once. It decides how uncertain an end of a window is.
    std::chrono::nanoseconds update_interval{0};
  };

  /// One of its power gauges. Threads: a value type.
  struct Gauge {
    /// As of a counter.
    std::string name;
    /// How often the value is renewed; 0: not known.
    std::chrono::nanoseconds update_interval{0};
  };

  virtual ~EnergySource();
  /// Asked once; at most 64.
  [[nodiscard]] virtual std::vector<Counter> counters() const { return {}; }
  /// Sets `raw[i]` for `counters()[i]`; one that cannot be read now stays empty. Must return soon:
  /// the program that is measured waits for it. Never throws.
  virtual void read(std::span<std::optional<std::uint64_t>> raw) noexcept { (void)raw; }
  /// Asked once; at most 64.
  [[nodiscard]] virtual std::vector<Gauge> gauges() const { return {}; }
  /// Sets `power[i]` for `gauges()[i]`, from 0 W up; one that cannot be read now stays empty.
  /// Called ten times a second, and at both ends of a section, in a thread of its own: it may take
  /// its time. Never throws.
  virtual void read_power(std::span<std::optional<Watts>> power) noexcept { (void)power; }
};

/// The domains to measure, and where Wattle searches for them. Threads: a value type.
struct EnergyMeterOptions {
  /// Absent: all that is available of CPUs and GPUs: no `psys`, no custom domain. Given domains
  /// keep their order.
  std::optional<std::vector<Domain>> domains{};
  /// Which GPUs are among all; a list of `domains` names them itself.
  GpuSelection gpus{};
  /// Read beside the domains, in columns after theirs.
  std::vector<std::shared_ptr<EnergySource>> sources{};
  /// The tag of a section that is given none.
  std::string default_tag{};
  /// Moves ends to the counters' own updates. `start` takes some 50 ms more, `record` and `stop`
  /// about 2 ms, reading all the time. Energy spent while waiting is subtracted. On an otherwise
  /// idle machine, windows of 10 ms are then as exact as those of a second. Another load makes the
  /// power of waiting less certain; the uncertainty includes that. Only for counters that are
  /// renewed at least every 5 ms.
  bool aligned = false;
  /// `ignore`: a machine without sensors, or without a named domain, is no error. The energies are
  /// unknown then, and `EnergyTrace::missing` has the reasons.
  IfUnavailable if_unavailable = IfUnavailable::fail;
  System system = System::from_environment();
};

/// The energy of a domain since a reader was made. Threads: a value type.
struct EnergyReading {
  std::string domain;
  TimePoint at;  ///< when this domain was read
  MeasuredEnergy energy;
};

/// Reads the energy of domains, all of them back to back. While it exists, a thread reads counters
/// that could wrap at least once a minute, so that no pause loses a wrap. Each GPU has a thread
/// that reads its power ten times a second. Made before a `fork`, it is of no use to the child:
/// there every energy is unknown. A reader that was moved from has no domains, and refuses to read
/// with `InvalidArgument`. Threads: any; of several that read, one waits for the other.
class WATTLE_EXPORT EnergyReader {
 public:
  /// Throws `InvalidArgument` for an empty list, a repeated name or unusable options. Unless
  /// `if_unavailable` is `ignore`, it throws `NoSuchDomain` for a domain that this machine lacks,
  /// and `PermissionDenied` or `NoSuchDevice` if no domain can be read. `default_tag` and `aligned`
  /// are ignored.
  explicit EnergyReader(EnergyMeterOptions options = {});
  template <std::same_as<std::vector<Domain>> Domains>
  explicit EnergyReader(Domains domains)
      : EnergyReader(EnergyMeterOptions{.domains = std::move(domains)}) {}
  EnergyReader(std::initializer_list<Domain> domains)
      : EnergyReader(EnergyMeterOptions{.domains = std::vector(domains)}) {}
  ~EnergyReader();
  EnergyReader(EnergyReader&&) noexcept;
  EnergyReader& operator=(EnergyReader&&) noexcept;

  /// The columns, in the order of `read`: also those that cannot be read (`missing`).
  [[nodiscard]] const DomainNames& domains() const noexcept;
  /// The selected domains that are not measured, and why.
  [[nodiscard]] std::span<const Refusal> missing() const noexcept;
  /// Energy since this reader was made, wraps taken into account. That of a counter is never less
  /// than before; the energy integrated from a gauge can be, as later values show more of the end.
  [[nodiscard]] std::vector<EnergyReading> read();

 private:
  friend struct detail::EnergyMeterMaker;
  explicit EnergyReader(std::shared_ptr<detail::MeteredDomains> domains);

  struct Start;
  std::unique_ptr<const Start> start_;
};

/// Measures sections that follow each other: `start`, `record` at each border, `stop`. A tag
/// names the section that starts with the call.
///
/// A call reads counters, which takes about a micro-second each for CPUs. GPUs are asked in threads
/// of their own and given half a second. The ends of an interval are those readings, and the time
/// from one domain's to another's is part of the uncertainty. Nothing is computed before `trace`.
///
/// Each section has the energy of the whole machine. Sections of several threads that overlap have
/// the same joules each: they are no shares of it, and their sum means nothing. Where work runs at
/// the same time, measure it as one section. The log says so once.
///
/// Threads: one at a time. Meters that share sensors (`another`) may be used by several threads.
/// While one reads, the others wait: a microsecond for CPUs, the waits of `aligned`, up to half a
/// second once for a GPU that hangs. After a `fork` nothing is known of the sections of the child's
/// copy. A meter that was moved from has no domains, and refuses the rest with `InvalidArgument`.
class WATTLE_EXPORT EnergyMeter {
 public:
  /// Throws as `EnergyReader` does, and `InvalidArgument` where `aligned` is not possible.
  explicit EnergyMeter(EnergyMeterOptions options = {});
  template <std::same_as<std::vector<Domain>> Domains>
  explicit EnergyMeter(Domains domains, std::string default_tag = "")
      : EnergyMeter(EnergyMeterOptions{.domains = std::move(domains),
                                       .default_tag = std::move(default_tag)}) {}
  /// `EnergyMeter({Domain::package(0), Domain::dram(0)})`.
  EnergyMeter(std::initializer_list<Domain> domains, std::string default_tag = "")
      : EnergyMeter(EnergyMeterOptions{.domains = std::vector(domains),
                                       .default_tag = std::move(default_tag)}) {}
  ~EnergyMeter();
  EnergyMeter(EnergyMeter&&) noexcept;
  EnergyMeter& operator=(EnergyMeter&&) noexcept;

  /// A new meter that shares this one's sensors: it opens none. It measures the same machine: where
  /// both run at the same time, both have the energy of that time, all of it.
  [[nodiscard]] EnergyMeter another() const;
  /// A meter that shares sensors with every living meter that was made here with the same options
  /// (`default_tag` apart). The sensors are opened if there is none, and with `sources` always.
  /// Throws as the constructor. Threads: any.
  [[nodiscard]] static EnergyMeter shared(EnergyMeterOptions options = {});

  /// The columns of its traces.
  [[nodiscard]] const DomainNames& domains() const noexcept;

  /// Starts a new trace; what was recorded before is dropped.
  void start(std::optional<std::string_view> tag = {});
  /// Ends a section and starts the next. Throws `NotStarted` unless it is running. Allocates
  /// nothing if the tag was used before, capacity is reserved (`reserve`), and no device is read in
  /// its own thread. Such devices are GPUs, hwmon chips, and gauges of an `EnergySource`.
  void record(std::optional<std::string_view> tag = {});
  /// Ends the last interval. Does nothing when stopped already; throws `NotStarted` before the
  /// first start.
  void stop();
  /// Goes on after `stop`: the pause is in no sample. Before the first start it is `start`. Throws
  /// `NotStopped` while running.
  void resume(std::optional<std::string_view> tag = {});
  [[nodiscard]] bool is_running() const noexcept;

  /// Makes room for `calls` calls of `start`, `record`, `resume` and `stop` in all. Throws
  /// `InvalidArgument` above 2^32.
  void reserve(std::size_t calls);

  /// The recorded trace; empty before the first start. Throws `NotStopped` while running. Can be
  /// called again.
  [[nodiscard]] EnergyTrace trace() const;

  /// Waits, for each sample of `trace`, as long as that took, and measures the energy of
  /// that time: for `EnergyTrace::remove_idle`. Leaves this meter's own trace alone. Throws
  /// `NotStopped` while running, `InvalidArgument` for a sample of more than a year.
  [[nodiscard]] EnergyTrace measure_idle(const EnergyTrace& trace) const;

 private:
  friend struct detail::EnergyMeterMaker;
  explicit EnergyMeter(std::shared_ptr<detail::MeteredDomains> domains, std::string default_tag);

  struct Records;
  /// Throws `InvalidArgument` for a meter that was moved from.
  [[nodiscard]] Records& records() const;

  std::unique_ptr<Records> records_;
};

/// Measures from its construction to the end of the block, and then gives the trace to a handler.
/// Also if an exception leaves the block. Threads: one at a time.
class WATTLE_EXPORT EnergyScope {
 public:
  /// Prints to standard output. Throws as `EnergyMeter` does.
  EnergyScope();
  explicit EnergyScope(std::string_view start_tag, EnergyMeterOptions options = {});
  /// `handler` outlives the scope.
  explicit EnergyScope(EnergyHandler& handler, EnergyMeterOptions options = {},
                       std::string_view start_tag = "start");
  template <std::same_as<EnergyMeter> Meter>
  EnergyScope(EnergyHandler& handler, Meter meter, std::string_view start_tag = "start")
      : handler_(handler), meter_(std::move(meter)) {
    meter_.start(start_tag);
  }
  /// As `close`; a failure is reported to the log (`set_log`).
  ~EnergyScope();
  EnergyScope(const EnergyScope&) = delete;
  EnergyScope& operator=(const EnergyScope&) = delete;

  /// The section that starts here is called `tag`. Throws `NotStarted` where it is not running.
  void record(std::optional<std::string_view> tag = {}) { meter_.record(tag); }
  /// To stop and resume.
  [[nodiscard]] EnergyMeter& meter() noexcept { return meter_; }

  /// Stops and hands over now. Throws what the handler throws. Does nothing the second time.
  void close();

 private:
  EnergyHandler& handler_;
  EnergyMeter meter_;
  bool closed_ = false;
};

/// The handler that `EnergyScope` prints with: one for the whole program, to standard output.
/// Threads: any.
[[nodiscard]] WATTLE_EXPORT EnergyHandler& default_handler();

/// A function that measures each of its calls. It is called as a constant. Threads: any, if the
/// function allows it.
template <class Function>
class Measured {
 public:
  Measured(Function function, EnergyHandler& handler, EnergyMeter meter, std::string tag)
      : function_(std::move(function)),
        handler_(handler),
        meter_(std::make_shared<const EnergyMeter>(std::move(meter))),
        tag_(std::move(tag)) {}

  /// Calls the function and returns what it returns. Each call is a trace of one sample, which
  /// the handler gets also where the function throws. Throws `InvalidArgument` for one that was
  /// moved from.
  template <class... Arguments>
  decltype(auto) operator()(Arguments&&... arguments) const {
    if (!meter_) throw InvalidArgument("cannot call a measured function that was moved");
    const EnergyScope scope(handler_, meter_->another(), tag_);
    return std::invoke(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  Function function_;
  EnergyHandler& handler_;
  std::shared_ptr<const EnergyMeter> meter_;  ///< copies share its sensors
  std::string tag_;
};

/// `function`, measured. All functions that are measured over the same domains share sensors, which
/// are opened now unless another one has them open. Calls in several threads at the same time each
/// have the energy of the whole machine: do not add them. `handler` outlives what is returned. The
/// tag is `tag`: a function that is passed as a value does not know its name;
/// `measured<function>()` does. Throws as `EnergyMeter` does.
template <class Function>
[[nodiscard]] auto measured(Function&& function, EnergyHandler& handler = default_handler(),
                            std::optional<std::vector<Domain>> domains = {}, std::string tag = "") {
  return Measured<std::decay_t<Function>>(std::forward<Function>(function), handler,
                                          EnergyMeter::shared({.domains = std::move(domains)}),
                                          std::move(tag));
}

namespace detail {
/// The name of a function without its namespace and class; empty for a lambda, and where the
/// compiler does not give it.
template <auto Function>
[[nodiscard]] constexpr std::string_view name_of() noexcept {
#if defined(__GNUC__)
  std::string_view name = __PRETTY_FUNCTION__;  // "... [with auto Function = app::load; ..."
  constexpr std::string_view kBegin = "Function = ";
  const std::size_t begin = name.find(kBegin);
  if (begin == std::string_view::npos) return {};
  name.remove_prefix(begin + kBegin.size());
  name = name.substr(0, name.find_first_of(";]"));
  if (const std::size_t scope = name.rfind("::"); scope != std::string_view::npos) {
    name.remove_prefix(scope + 2);
  }
  if (name.starts_with('&')) name.remove_prefix(1);
  return name.find_first_of("<>(){} ") == std::string_view::npos ? name : std::string_view();
#else
  return {};
#endif
}
}  // namespace detail

/// `measured<load>()`: the function `load`, measured, with its name as the tag.
template <auto Function>
[[nodiscard]] auto measured(EnergyHandler& handler = default_handler(),
                            std::optional<std::vector<Domain>> domains = {},
                            std::string tag = std::string(detail::name_of<Function>())) {
  return measured(Function, handler, std::move(domains), std::move(tag));
}

/// A function's result and its cost. Threads: a value type.
template <class Result>
struct Measurement {
  Result result;
  EnergySample sample;
};
/// The cost of a function that returns nothing. Threads: a value type.
template <>
struct Measurement<void> {
  EnergySample sample;
};

/// Calls `function()` once and measures it. Throws as `EnergyMeter` does, and what the function
/// throws.
template <class Function>
[[nodiscard]] auto measure(Function&& function, EnergyMeterOptions options = {})
    -> Measurement<std::invoke_result_t<Function>> {
  EnergyMeter meter = EnergyMeter::shared(std::move(options));
  meter.start();
  if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
    std::invoke(std::forward<Function>(function));
    meter.stop();
    return {meter.trace()[std::size_t{0}]};
  } else {
    auto&& result = std::invoke(std::forward<Function>(function));
    meter.stop();
    return {std::forward<decltype(result)>(result), meter.trace()[std::size_t{0}]};
  }
}

}  // namespace wattle
