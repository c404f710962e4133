// The one reader of devices: it owns the sensors and keeps what they showed. Windows are its
// callers'. What is read, and how often, is in reading_work.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "sampling/energy_figure.hpp"
#include "sampling/integrate.hpp"
#include "sampling/reading_work.hpp"

namespace wattle {

/// How long both ends of a window wait for drivers that are slow to answer.
inline constexpr std::chrono::nanoseconds kDriverPatience = std::chrono::milliseconds(500);

/// The devices' values at an end of a window. A value that the caller owns: any number of windows
/// can be measured at a time.
struct Capture {
  struct Shown {
    /// The value of the domain's counter; absent if the reading failed, or there is no counter.
    std::optional<Boundary> counter{};
    bool has_answered = true;  ///< false: its device did not answer in time
  };
  std::vector<Shown> domains{};  ///< by their places in `Readings::domains`
};

/// The lanes' values at a reading that nobody waits for. A value that the caller owns.
struct LateCapture {
  /// One per lane; null if it was not asked.
  std::vector<std::shared_ptr<const LateBoundaries>> lanes{};
};

/// Which lanes are asked: `usual` leaves out those for processes and for what is costly.
enum class Lanes : bool { usual, all };

/// Threads: one at a time, except where a function says otherwise.
class Readings {
 public:
  /// Starts the lanes, none where no sensor may block. `clock` outlives everything that may be
  /// stuck in a driver.
  Readings(std::vector<std::unique_ptr<Sensor>> sensors, const TimeSource& clock,
           const ReadingsOptions& options = {});
  /// Reads the given sensors. Throws `Error` if a thread cannot be started.
  Readings(std::vector<ReadingWork> work, const TimeSource& clock);
  Readings(Readings&&) = default;
  Readings& operator=(Readings&&) = delete;
  /// Stops all lanes. Waits a moment for those that are stuck in a driver, for all together.
  ~Readings();

  /// Stops the lanes, and waits until `deadline` for their threads to end, by default not at all.
  /// What they have read stays.
  void stop(TimePoint deadline = {}) noexcept;
  /// Threads that read, and the processor time that they used so far.
  [[nodiscard]] std::size_t lane_threads() const noexcept { return lanes_.size(); }
  [[nodiscard]] std::chrono::nanoseconds lane_cpu() const noexcept { return sum(&Lane::cpu); }

  /// Reads every counter that answers at once. Allocates nothing.
  void read() noexcept;
  /// The same, and stores the values in `capture`.
  void read(Capture& capture) noexcept;
  /// Lets the lanes read now, all at the same time, waits until `deadline`, and stores their values
  /// in `capture`; true if every lane answered. A lane that has not answered the last request yet
  /// is not asked again.
  bool read_lanes(Capture& capture, TimePoint deadline, Lanes lanes = Lanes::usual);
  /// Has the usual lanes read now, each in its own thread, without waiting. A lane that has not
  /// done the last of these readings is not asked again.
  [[nodiscard]] LateCapture ask_lanes();
  /// The counter of a domain in such a reading; absent where there is none, or it is not done.
  /// Threads: any.
  [[nodiscard]] std::optional<Boundary> shown(const LateCapture& capture,
                                              std::size_t domain) const noexcept;
  /// Waits until every lane has read once, but no longer than `deadline`. Threads: any.
  void wait_for_first(TimePoint deadline) const;
  /// Has every lane read now, and waits for all of them until `deadline`; true if every one has
  /// read, and there is one. Threads: any.
  [[nodiscard]] bool read_now(TimePoint deadline) const;
  /// The same for the lanes of those `histories` whose newest value is from before `wanted`. Null
  /// pointers are ignored. Threads: any.
  void catch_up(std::span<const History* const> histories, TimePoint wanted,
                TimePoint deadline) const;
  /// A capture of nothing, with room for every domain.
  [[nodiscard]] Capture no_capture() const {
    return {.domains = std::vector<Capture::Shown>(domains_.size())};
  }

  /// Asks the `device`th sensor that was given, in its lane, and does not wait: see
  /// `WaitingQuestions`. One that answers at once is asked here; `then` is posted all the same.
  void ask(std::size_t device, const DeviceQuestion& question, TimePoint now,
           WaitingQuestions::Then then, const WaitingQuestions::Post& post);
  /// True if a caller who asked at `since`, or before, still waits for that sensor.
  [[nodiscard]] bool has_waited(std::size_t device, TimePoint since) const noexcept;
  /// Reads what answers at once, and what is due in lanes that sleep, without waiting for these.
  void tick();

  [[nodiscard]] const TimeSource& clock() const noexcept { return clock_; }
  /// The longest time between two calls of `read` that loses no wrap.
  [[nodiscard]] std::chrono::nanoseconds keeper_period() const noexcept;

  /// The sensors that could not be started, with `keeps_going`. Empty at the next call.
  [[nodiscard]] std::vector<SensorRefusal> take_left_out() noexcept { return std::move(left_out_); }

  /// The domains whose energy can be measured, in their order. `domain` below is an index of it.
  [[nodiscard]] std::vector<Domain> domains() const;
  /// The counter, or the gauge where there is none.
  [[nodiscard]] const Channel& channel(std::size_t domain) const noexcept;
  /// Null where it has none. Threads: any.
  [[nodiscard]] const History* counter(std::size_t domain) const noexcept {
    return domains_[domain].counter;
  }
  /// Its gauges of power, those without much delay first; empty where it has none. Threads: any.
  [[nodiscard]] std::span<const History* const> gauges(std::size_t domain) const noexcept {
    return domains_[domain].gauges;
  }
  /// It is read in a lane.
  [[nodiscard]] bool may_block(std::size_t domain) const noexcept {
    return domains_[domain].lane.has_value();
  }

  /// The energy and the mean power of a domain in a window: the only ways from a window to a
  /// number. Threads: any.
  [[nodiscard]] EnergyFigure energy(std::size_t domain, const EnergyWindow& window) const;
  [[nodiscard]] MeanPower mean_power(std::size_t domain, const EnergyWindow& window) const;

  /// A GPU that is read in a lane: more is read of it than its energy.
  struct ObservedGpu {
    Domain domain;
    const DeviceInfo* info;  ///< null where nothing is known; else lives as long as the readings
    std::vector<const History*> gauges{};
    std::size_t lane = 0;                       ///< the place of its lane
    std::optional<std::size_t> slow_lane = {};  ///< likewise
  };
  [[nodiscard]] const std::vector<ObservedGpu>& devices() const noexcept { return devices_; }
  /// The thread that reads the `device`th sensor, for jobs between two readings; null if it has
  /// none. It ends with the readings.
  [[nodiscard]] std::shared_ptr<Worker> worker(std::size_t device) const noexcept;
  /// The newest value of a device's gauge, power too, in SI units; absent if no value is valid, or
  /// it was read before `since`. `since` is ignored for costly channels, which are read less often.
  [[nodiscard]] std::optional<double> latest(const ObservedGpu& device, Metric metric,
                                             TimePoint since = TimePoint::min()) const noexcept;
  /// Who uses a device; absent before the first answer.
  [[nodiscard]] std::optional<ProcessList> processes(const ObservedGpu& device) const;

  /// Times that lanes have read, and deadlines that they missed.
  [[nodiscard]] std::uint64_t lane_ticks() const noexcept { return sum(&Lane::ticks); }
  [[nodiscard]] std::uint64_t lane_missed() const noexcept { return sum(&Lane::missed); }

 private:
  /// One domain, and the channels that measure its energy.
  struct DomainSources {
    Domain domain;
    const History* counter = nullptr;
    std::vector<const History*> gauges{};  ///< of power, those without much delay first
    std::optional<std::size_t> lane{};     ///< absent: read by `read`
    std::size_t place = 0;                 ///< of the counter among the lane's boundaries
  };

  struct OwnedLane {
    std::unique_ptr<Lane> lane;
    bool is_slow = false;            ///< asked with `Lanes::all`, and by what asks every lane
    std::uint64_t last_request = 0;  ///< the last one of `read_lanes`; 0: none yet
    std::shared_ptr<const LateBoundaries> last_later{};  ///< the last one of `ask_lanes`
  };
  /// The answer of a lane.
  struct LaneAnswer {
    std::optional<std::uint64_t> asked{};     ///< absent: it was not asked
    std::optional<Lane::Boundaries> shown{};  ///< absent: it did not answer in time
  };

  /// How a sensor is read.
  struct AskedDevice {
    std::shared_ptr<Sensor> sensor;
    Lane* lane;  ///< null: in the caller's thread
  };

  void add(std::unique_ptr<Sensor> sensor, const ReadingsOptions& options);
  void add(ReadingWork work);
  /// Removes what `add` added for a sensor with these channels.
  void forget(std::span<const Channel> channels, std::size_t lanes, const std::string& reason);
  void add_history(const History& history, std::optional<std::size_t> lane, std::size_t place);
  /// Lets the lanes that `is_wanted` chooses read, all at the same time, and waits until
  /// `deadline`. Returns one answer for each lane.
  template <class IsWanted>
  std::vector<LaneAnswer> ask(IsWanted is_wanted, TimePoint deadline) const;
  template <class Value>
  [[nodiscard]] Value sum(Value (Lane::*of)() const noexcept) const noexcept {
    Value sum{};
    for (const OwnedLane& own : lanes_) sum += ((*own.lane).*of)();
    return sum;
  }
  [[nodiscard]] std::optional<double> latest(const History& gauge, TimePoint since) const noexcept;

  const TimeSource& clock_;
  SuspendWatch suspend_;
  std::vector<std::unique_ptr<Recorder>> prompt_;
  std::vector<OwnedLane> lanes_;
  std::vector<AskedDevice> asked_;  ///< in the order of the sensors
  std::vector<ObservedGpu> devices_;
  std::vector<DomainSources> domains_;
  std::vector<SensorRefusal> left_out_;
};

}  // namespace wattle
