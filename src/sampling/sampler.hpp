// Reads all sensors of a machine and tells the energy of every domain.
//
//   sensors that answer at once:   `read`, in the caller's thread
//   each device that may block:    a lane of its own
//   what is costly about it:       a second, slow lane of its own, once a second; the processes
//                                  on it too, once a second or as often as is asked for
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "sampling/energy_figure.hpp"
#include "sampling/integrate.hpp"
#include "sampling/interval_power.hpp"
#include "sampling/lane.hpp"
#include "sampling/recorder.hpp"

namespace wattle {

struct SamplerOptions {
  /// How often the lanes read power. A driver is never asked more than ten times a second unless
  /// this is shorter.
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  /// Read beside energy and power, twice a second; costly ones once a second.
  std::vector<Metric> metrics{};
  /// Devices are read when `read_lanes` asks, about every `period`, and not by themselves.
  bool only_when_asked = false;
  /// Ask devices every `list_period` which processes use them.
  bool lists_processes = false;
  std::chrono::nanoseconds list_period = std::chrono::seconds(1);
  /// Tell the energy of these only; absent: of every domain that the sensors know.
  std::optional<std::vector<Domain>> domains{};
  /// Sensors for which there is no memory or no thread are left out (`left_out`); otherwise the
  /// constructor throws.
  bool keeps_going = false;
  /// Most that the history of a counter that answers at once takes. Histories are shorter if there
  /// is not so much memory.
  std::size_t prompt_history_bytes = HistoryOptions{}.memory_limit;
};

/// From its first `read` to its last it measures one window. Threads: one at a time.
class Sampler {
 public:
  /// Starts the lanes, none where no sensor may block. `clock` outlives everything that may be
  /// stuck in a driver.
  Sampler(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock,
          const SamplerOptions& options = {});
  Sampler(Sampler&&) = default;
  Sampler& operator=(Sampler&&) = delete;
  /// Stops all lanes; those that are stuck in a driver are waited for together, for a moment.
  ~Sampler();

  /// Tells the lanes to end, and waits for none of them: what they have read stays.
  void stop() noexcept;
  /// Threads that read, and the processor time that they used so far.
  [[nodiscard]] std::size_t lane_threads() const noexcept {
    return lanes_.size() + slow_lanes_.size();
  }
  [[nodiscard]] std::chrono::nanoseconds lane_cpu() const noexcept;

  /// Reads every counter that answers at once. Allocates nothing. `ends_interval`: one of the equal
  /// intervals that `max` and `interval_power` look at ends with it.
  void read(bool ends_interval) noexcept;
  /// Has the lanes read now, all at the same time, and waits until `deadline` for them; true if
  /// every one has. One that has not answered the last time yet is not waited for again. To be
  /// called at both ends of the window.
  bool read_lanes(TimePoint deadline);
  /// As `read_lanes`, and has the lanes for processes and for what is costly read too.
  bool read_all_lanes(TimePoint deadline);

  /// Mean power of the domains that make up a total over the last interval that ended; absent
  /// where there is none, or one of them is unknown. A counter that is stuck does not count.
  [[nodiscard]] std::optional<Watts> interval_power() const noexcept;
  /// The longest time between two calls of `read` that loses no wrap.
  [[nodiscard]] std::chrono::nanoseconds keeper_period() const noexcept;

  struct Result {
    Channel channel;  ///< the counter, or the gauge where there is none
    EnergyFigure figure;
  };
  /// The sensors that could not be started, with `keeps_going`. What it says is taken.
  [[nodiscard]] std::vector<Refusal> take_left_out() noexcept { return std::move(left_out_); }

  /// One result a domain, in their order.
  [[nodiscard]] std::vector<Result> results(TimePoint begin, TimePoint end) const;

  /// The domains whose energy can be told, in their order.
  [[nodiscard]] std::vector<Domain> domains() const;

  // For who measures more windows than one: by the place of a domain in `domains`.

  /// What its counter showed at the last `read`, or `read_lanes`; absent where that failed, or
  /// where there is no counter.
  [[nodiscard]] std::optional<Boundary> last(std::size_t domain) const noexcept;
  /// False where the domain's device did not answer the last `read_lanes` in time.
  [[nodiscard]] bool has_answered(std::size_t domain) const noexcept;
  /// Its energy in a window. Threads: any.
  [[nodiscard]] EnergyFigure figure(std::size_t domain, const CounterWindowAsked& window) const;
  /// Null where it has none. Threads: any.
  [[nodiscard]] const History* counter(std::size_t domain) const noexcept;
  /// Its gauges of power, those without much delay first; empty where it has none. Threads: any.
  [[nodiscard]] std::span<const History* const> gauges(std::size_t domain) const noexcept;
  /// A GPU that is read in a lane: more is read of it than its energy.
  struct Device {
    Domain domain;
    const DeviceInfo* info;  ///< null where nothing is known; else lives as long as the sampler
    std::vector<const History*> gauges{};
    std::size_t number = 0;  ///< of its lane
  };
  [[nodiscard]] const std::vector<Device>& devices() const noexcept { return devices_; }
  /// Mean power over the last interval; absent where it is unknown, or no such domain is read.
  [[nodiscard]] std::optional<Watts> interval_power(const Domain& domain) const noexcept;
  /// The newest value of a device's gauge, power too, in SI units; absent where there is none to be
  /// believed, or it was read before `since`. What is costly is read at times of its own: then
  /// `since` does not count.
  [[nodiscard]] std::optional<double> latest(const Device& device, Metric metric,
                                             TimePoint since = TimePoint::min()) const noexcept;
  /// Who uses a device; absent before the first answer.
  [[nodiscard]] std::optional<ProcessList> processes(const Device& device) const;

  /// Times that lanes have read, and deadlines that they missed.
  [[nodiscard]] std::uint64_t lane_ticks() const noexcept;
  [[nodiscard]] std::uint64_t lane_missed() const noexcept;

 private:
  /// One domain, and what tells its energy.
  struct Track {
    Domain domain;
    const History* counter = nullptr;
    std::vector<const History*> gauges{};  ///< of power, those without much delay first
    std::optional<std::size_t> lane{};     ///< absent: read by `read`
    std::size_t place = 0;                 ///< of the counter among the lane's boundaries
    bool is_answered = true;               ///< the lane did what `read_lanes` asked last
    bool was_answered = true;              ///< and each time before
    bool is_stuck = false;                 ///< its counter did not move in the last interval
    std::optional<Boundary> first{};
    std::optional<Boundary> last{};
    std::optional<Boundary> interval_begin{};
    IntervalPower intervals{};
  };

  [[nodiscard]] static EnergyFigure figure(const Track& track, const CounterWindowAsked& window);
  void add(std::unique_ptr<Sensor> sensor, const SamplerOptions& options);
  void add_prompt(std::shared_ptr<Sensor> sensor, const SamplerOptions& options);
  void add_device(std::shared_ptr<Sensor> sensor, const SamplerOptions& options);
  /// What `add` began, for a sensor with these channels.
  void forget(std::span<const Channel> channels, std::size_t lanes, const std::string& reason);
  void track(const std::deque<History>& histories, std::optional<std::size_t> lane,
             std::size_t first_place);
  [[nodiscard]] std::optional<double> latest(const History& gauge, TimePoint since) const noexcept;
  [[nodiscard]] static std::optional<Watts> counted_power(Track& track) noexcept;
  [[nodiscard]] std::optional<Watts> gauged_power(const Track& track, TimePoint now) const noexcept;

  const Clock& clock_;
  SuspendWatch suspend_;
  std::vector<std::unique_ptr<Recorder>> prompt_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Lane>> slow_lanes_;  ///< one for each of `devices_`; null: no work
  std::vector<std::uint64_t> owed_;  ///< what each lane was asked for last; 0: nothing yet
  std::vector<Device> devices_;
  std::vector<Track> tracks_;
  std::vector<Refusal> left_out_;
  bool has_begun_ = false;  ///< `read` was called
  bool lanes_have_begun_ = false;
  TimePoint interval_began_;
};

}  // namespace wattle
