// The one reader of devices: it owns the sensors and keeps what they showed. Windows are its
// callers'.
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
#include "sampling/lane.hpp"
#include "sampling/recorder.hpp"

namespace wattle {

/// How long both ends of a window wait for drivers that are slow to answer.
inline constexpr std::chrono::nanoseconds kDriverPatience = std::chrono::milliseconds(500);

struct ReadingsOptions {
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

/// An end of a window, as the devices showed it. A value: who measures owns it, and there are as
/// many windows at a time as anybody likes.
struct Capture {
  struct Shown {
    /// What the domain's counter showed; absent where that failed, or where there is no counter.
    std::optional<Boundary> counter{};
    bool has_answered = true;  ///< false: its device did not answer in time
  };
  std::vector<Shown> domains{};  ///< by their places in `Readings::domains`
};

/// Threads: one at a time.
class Readings {
 public:
  /// Starts the lanes, none where no sensor may block. `clock` outlives everything that may be
  /// stuck in a driver.
  Readings(std::vector<std::unique_ptr<Sensor>> sensors, const Clock& clock,
           const ReadingsOptions& options = {});
  Readings(Readings&&) = default;
  Readings& operator=(Readings&&) = delete;
  /// Stops all lanes; those that are stuck in a driver are waited for together, for a moment.
  ~Readings();

  /// Tells the lanes to end, and waits for none of them: what they have read stays.
  void stop() noexcept;
  /// Threads that read, and the processor time that they used so far.
  [[nodiscard]] std::size_t lane_threads() const noexcept {
    return lanes_.size() + slow_lanes_.size();
  }
  [[nodiscard]] std::chrono::nanoseconds lane_cpu() const noexcept;

  /// Reads every counter that answers at once. Allocates nothing.
  void read() noexcept;
  /// The same, and puts what they showed into `capture`.
  void read(Capture& capture) noexcept;
  /// Has the lanes read now, all at the same time, waits until `deadline` for them, and puts what
  /// they showed into `capture`; true if every one has. One that has not answered the last time yet
  /// is not waited for again.
  bool read_lanes(Capture& capture, TimePoint deadline);
  /// As `read_lanes`, and has the lanes for processes and for what is costly read too.
  bool read_all_lanes(Capture& capture, TimePoint deadline);
  /// A capture of nothing, with room for every domain.
  [[nodiscard]] Capture no_capture() const {
    return {.domains = std::vector<Capture::Shown>(tracks_.size())};
  }

  [[nodiscard]] const Clock& clock() const noexcept { return clock_; }
  /// The longest time between two calls of `read` that loses no wrap.
  [[nodiscard]] std::chrono::nanoseconds keeper_period() const noexcept;

  /// The sensors that could not be started, with `keeps_going`. What it says is taken.
  [[nodiscard]] std::vector<SensorRefusal> take_left_out() noexcept { return std::move(left_out_); }

  /// The domains whose energy can be told, in their order: their places are theirs below.
  [[nodiscard]] std::vector<Domain> domains() const;
  /// The counter, or the gauge where there is none.
  [[nodiscard]] const Channel& channel(std::size_t domain) const noexcept;
  /// Null where it has none. Threads: any.
  [[nodiscard]] const History* counter(std::size_t domain) const noexcept;
  /// Its gauges of power, those without much delay first; empty where it has none. Threads: any.
  [[nodiscard]] std::span<const History* const> gauges(std::size_t domain) const noexcept;
  /// It is read in a lane.
  [[nodiscard]] bool may_block(std::size_t domain) const noexcept;

  /// Its energy in a window, and its mean power: the only ways from a window to a number.
  /// Threads: any.
  [[nodiscard]] EnergyFigure energy(std::size_t domain, const CounterWindowAsked& window) const;
  [[nodiscard]] MeanPower mean_power(std::size_t domain, const CounterWindowAsked& window) const;

  /// A GPU that is read in a lane: more is read of it than its energy.
  struct Device {
    Domain domain;
    const DeviceInfo* info;  ///< null where nothing is known; else lives as long as the readings
    std::vector<const History*> gauges{};
    std::size_t number = 0;  ///< of its lane
  };
  [[nodiscard]] const std::vector<Device>& devices() const noexcept { return devices_; }
  /// The thread that reads a device: for jobs between two readings. It ends with the readings.
  [[nodiscard]] const std::shared_ptr<Worker>& worker(const Device& device) const noexcept {
    return lanes_[device.number]->worker();
  }
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
  };

  void add(std::unique_ptr<Sensor> sensor, const ReadingsOptions& options);
  void add_prompt(std::shared_ptr<Sensor> sensor, const ReadingsOptions& options);
  void add_device(std::shared_ptr<Sensor> sensor, const ReadingsOptions& options);
  /// What `add` began, for a sensor with these channels.
  void forget(std::span<const Channel> channels, std::size_t lanes, const std::string& reason);
  void track(const std::deque<History>& histories, std::optional<std::size_t> lane,
             std::size_t first_place);
  [[nodiscard]] std::optional<double> latest(const History& gauge, TimePoint since) const noexcept;

  const Clock& clock_;
  SuspendWatch suspend_;
  std::vector<std::unique_ptr<Recorder>> prompt_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Lane>> slow_lanes_;  ///< one for each of `devices_`; null: no work
  std::vector<std::uint64_t> owed_;  ///< what each lane was asked for last; 0: nothing yet
  std::vector<Device> devices_;
  std::vector<Track> tracks_;
  std::vector<SensorRefusal> left_out_;
};

}  // namespace wattle
