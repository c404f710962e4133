// The interface of a hardware driver.
//
// A provider's probe finds devices and makes one Sensor for each. A sensor describes its channels
// once and then reads them all in one call, as raw integers with their own times. What a raw
// integer means in SI units is in its channel; nothing here computes energy.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "sensors/device_setting.hpp"
#include "sensors/domain_traits.hpp"
#include "wattle/domain.hpp"
#include "wattle/refusal.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

/// The quantity of a channel. Energy is a cumulative counter; everything else is a gauge, whose
/// value stands for the time around its reading alone.
enum class Metric : std::uint8_t {
  energy,              ///< J
  power_instant,       ///< W, over the shortest window that the sensor has
  power_average,       ///< W, a mean over a longer window
  power_memory,        ///< W, of the device's memory
  power_limit,         ///< W, what the device holds itself to
  utilization,         ///< %, part of the time in which the device was busy
  memory_utilization,  ///< %, part of the time in which its memory was read or written
  memory_used,         ///< B
  memory_total,        ///< B
  temperature,         ///< degrees Celsius
  clock_sm,            ///< Hz
  clock_memory,        ///< Hz
};

/// The metric's name: "energy", "power_instant" ...
[[nodiscard]] std::string_view to_string(Metric metric) noexcept;
/// The symbol of its unit: "J", "W", "%", "B", "°C", "Hz".
[[nodiscard]] std::string_view unit_of(Metric metric) noexcept;

/// True for the power of the device or its module: not of its memory, nor its limit.
[[nodiscard]] constexpr bool is_power(Metric metric) noexcept {
  return metric == Metric::power_instant || metric == Metric::power_average;
}

/// Which part of the hardware a channel reads.
enum class Scope : std::uint8_t {
  device,  ///< the domain itself
  module,  ///< more than it: the module that a GPU shares with a CPU (Grace-Hopper)
  memory,  ///< less than it: its memory
};
[[nodiscard]] std::string_view to_string(Scope scope) noexcept;

/// The source of what an energy counter adds up.
enum class CounterFeed : std::uint8_t {
  unknown,
  own,  ///< a sensor of its own, which sees all the time
  fed,  ///< the values of the power gauge beside it: it sees no more than that
};
/// "unknown", "own", "fed".
[[nodiscard]] std::string_view to_string(CounterFeed feed) noexcept;

/// How a cumulative energy counter behaves: what unwrapping it needs to know.
struct CounterTraits {
  /// Energy of one tick of the raw integer.
  Joules tick;
  /// The number of ticks after which the raw integer starts again at 0; 0 where it never does, or
  /// where that is unknown (a lower value is then always a reset).
  std::uint64_t modulus = 0;
  /// Where the kernel makes the raw integer by following a narrower register: from this many ticks
  /// on between two of its looks it takes the register's advance for another one. The raw integer
  /// is then too small by an unknown number of the register's turns, or falls. A read makes it
  /// look. 0 where the raw integer is the register.
  std::uint64_t followed_ticks = 0;
  /// No device of this kind draws more: this separates a wrap from a reset. See known_sensors.hpp.
  Watts max_power;
  /// The device draws at least this while the machine runs: this distinguishes a stuck counter from
  /// a device at rest. 0 where it may draw nothing.
  Watts least_power{};
  CounterFeed feed = CounterFeed::unknown;

  /// The number of ticks that must not pass between two reads, since energy could be lost unseen;
  /// 0 where any number may.
  [[nodiscard]] constexpr std::uint64_t blind_ticks() const noexcept {
    return modulus != 0 ? modulus : followed_ticks;
  }
};

/// The meaning of a gauge's raw integer. Absent: unknown.
struct GaugeTraits {
  /// SI value = raw integer x scale.
  double scale = 1.0;
  /// The length of time that one value is the mean of.
  std::optional<std::chrono::nanoseconds> window{};
  /// The part of all time that the sensor samples, above 0 and at most 1: 0.25 where it averages
  /// over 25 ms once in 100 ms.
  std::optional<double> coverage{};
  /// The value follows the power with a first-order lag of this time constant, and has no window.
  std::optional<std::chrono::nanoseconds> time_constant{};
  /// The value follows the power through a filter that nobody has described, which delays it by
  /// this on average, at most. Such a gauge has neither a window nor a time constant.
  std::optional<std::chrono::nanoseconds> longest_lag{};
  /// For how long the sensor may leave its value as it is, though it is due to be renewed.
  std::chrono::nanoseconds freezes{0};
};

/// True for a gauge that misses part of the time; below half a percent is how exactly that is
/// known.
[[nodiscard]] constexpr bool misses_time(double coverage) noexcept { return coverage < 0.995; }

/// How regularly a sensor's value is renewed. All 0: not known.
struct UpdateInterval {
  std::chrono::nanoseconds mean{0};
  std::chrono::nanoseconds spread{0};  ///< standard deviation
  std::chrono::nanoseconds p99{0};     ///< 99th percentile
  /// It was observed on this very sensor; otherwise it is what is published of its kind.
  bool is_observed = false;

  [[nodiscard]] constexpr bool known() const noexcept { return mean.count() > 0; }
};

/// One readable quantity of one domain. Threads: a value type.
struct Channel {
  Domain domain;
  /// Means something for `Metric::energy` alone.
  CounterTraits counter{};
  UpdateInterval update{};
  /// The domain this one lies inside of, so that a total does not count it again.
  std::optional<Domain> contained_in{};
  /// The provider's name and the place that is read: "powercap", ".../intel-rapl:0/energy_uj".
  std::string source{};
  std::string place{};

  Metric metric = Metric::energy;
  Scope scope = Scope::device;
  /// Means something for every other metric.
  GaugeTraits gauge{};
  /// A reading is slow: it belongs on the slow lane, about once a second.
  bool costly = false;

  /// SI value = raw integer x scale.
  [[nodiscard]] double scale() const noexcept {
    return metric == Metric::energy ? counter.tick.si() : gauge.scale;
  }
  /// True for a counter of the domain's own energy. That of a whole module is nobody's alone.
  [[nodiscard]] bool counts_energy() const noexcept {
    return metric == Metric::energy && scope == Scope::device;
  }
  /// True if the domain's energy can be computed from it: its counter, or its power over time.
  [[nodiscard]] bool gives_energy() const noexcept {
    return (metric == Metric::energy || is_power(metric)) && scope == Scope::device;
  }
};

/// True for a GPU that shows the power of the module which it shares with a CPU (Grace-Hopper, GPUs
/// inside of processors), and none of its own. Who shows power shows that, and names it; it is no
/// energy of the GPU, in no total, and no answer to who asks for the GPU's power.
[[nodiscard]] bool shows_module_power_alone(std::span<const Channel> channels) noexcept;

/// A choice among a sensor's channels: bit i stands for channels()[i].
using ChannelSet = std::bitset<64>;

enum class ReadStatus : std::uint8_t {
  ok,     ///< a fresh value
  stale,  ///< the device answers, but with its last value: not renewed
  retry,  ///< no value this time (interrupted, empty, garbage); later reads may work
  gone,   ///< the device or file is no more; should it come back, later reads are ok again
};

/// One value of one channel. `raw` means something only where `status` is ok or stale.
struct Reading {
  TimePoint at;                            ///< midpoint of the clock before and after
  std::chrono::nanoseconds half_width{0};  ///< the value was taken within at +- half_width
  std::uint64_t raw = 0;
  ReadStatus status = ReadStatus::retry;
};

/// A value that was taken between two times of the clock.
[[nodiscard]] constexpr Reading reading_between(TimePoint before, TimePoint after,
                                                std::uint64_t raw, ReadStatus status) noexcept {
  const auto half_width = (after - before) / 2;
  return {.at = before + half_width, .half_width = half_width, .raw = raw, .status = status};
}

/// The thing that draws the power. Empty strings: not known.
struct DeviceInfo {
  std::string id{};           ///< the same after a restart, and on no other device: its UUID
  std::string pci_address{};  ///< "0000:01:00.0"
  std::string model{};        ///< "NVIDIA H100 PCIe"
  std::string driver{};       ///< "550.54.15"
};

/// A process that uses a device, as the device's driver reports it.
struct DeviceProcess {
  /// As the machine numbers it: inside a container not the process's own number.
  pid_t pid = 0;
  /// The device's memory that it holds; absent where the driver does not say.
  std::optional<std::uint64_t> memory_bytes{};
  /// For how long the device's engines have worked for it since it opened the device, all engines
  /// together; absent where the driver does not say.
  std::optional<std::chrono::nanoseconds> engine_time{};
};

/// For how long a device has worked, of the time that is known.
struct BusyTime {
  std::chrono::nanoseconds busy{0};
  std::chrono::nanoseconds known{0};
};

/// A limit that a device was set to. Absent: the device does not report it.
struct DeviceSettings {
  std::optional<std::uint64_t> power_limit_mw{};
  /// The least and the highest limit that it takes.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> power_limit_range_mw{};
  /// The driver stays loaded while nobody uses the device.
  std::optional<bool> persistence_mode{};
};

/// Reads all channels of one device. Threads: one at a time, unless a sensor says otherwise.
class Sensor {
 public:
  virtual ~Sensor() = default;
  [[nodiscard]] virtual std::span<const Channel> channels() const noexcept = 0;
  /// Fills `readings[i]` for `channels()[i]`; the spans have the same length. Allocates nothing,
  /// logs nothing, never throws.
  void read(std::span<Reading> readings) noexcept { read_some(~ChannelSet(), readings); }

  /// As `read`, but only the readings of `wanted` count afterwards. Sensors whose channels cost
  /// nothing each may read all of them.
  virtual void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept = 0;
  /// The quantity read; null if the domains say it all.
  [[nodiscard]] virtual const DeviceInfo* device() const noexcept { return nullptr; }
  /// True if a driver is called, which may not return for a long time: such a sensor is read in a
  /// lane of its own.
  [[nodiscard]] virtual bool may_block() const noexcept { return false; }
  /// Who uses the device now; absent where that cannot be known. Costly, and allocates.
  [[nodiscard]] virtual std::optional<std::vector<DeviceProcess>> processes() {
    return std::nullopt;
  }
  /// For how long the device has worked, from the first question on; absent where the driver does
  /// not report it. Costly, and allocates.
  [[nodiscard]] virtual std::optional<BusyTime> busy_time() { return std::nullopt; }
  /// Asks the device again.
  [[nodiscard]] virtual DeviceSettings settings() noexcept { return {}; }
  /// Why `set` would refuse a setting before it asks the driver; absent: it would not, or does not
  /// know.
  [[nodiscard]] virtual std::optional<SettingFailure> check(const DeviceSetting& setting);
  /// Sets the device; absent: it is so from now on. A value that it does not take is refused before
  /// its driver is asked. Allocates, and takes as long as the driver.
  [[nodiscard]] virtual std::optional<SettingFailure> set(const DeviceSetting& setting);
};

/// Passes everything on to another sensor: the base of those that add something to one.
class ForwardingSensor : public Sensor {
 public:
  explicit ForwardingSensor(std::shared_ptr<Sensor> sensor) : sensor_(std::move(sensor)) {}
  [[nodiscard]] std::span<const Channel> channels() const noexcept override {
    return sensor_->channels();
  }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override {
    sensor_->read_some(wanted, readings);
  }
  [[nodiscard]] const DeviceInfo* device() const noexcept override { return sensor_->device(); }
  [[nodiscard]] bool may_block() const noexcept override { return sensor_->may_block(); }
  [[nodiscard]] std::optional<std::vector<DeviceProcess>> processes() override {
    return sensor_->processes();
  }
  [[nodiscard]] std::optional<BusyTime> busy_time() override { return sensor_->busy_time(); }
  [[nodiscard]] DeviceSettings settings() noexcept override { return sensor_->settings(); }
  [[nodiscard]] std::optional<SettingFailure> check(const DeviceSetting& setting) override {
    return sensor_->check(setting);
  }
  [[nodiscard]] std::optional<SettingFailure> set(const DeviceSetting& setting) override {
    return sensor_->set(setting);
  }

 private:
  std::shared_ptr<Sensor> sensor_;
};

/// Adds the domains whose energy can be computed from `channels`.
void add_energy_domains(std::span<const Channel> channels, std::set<Domain>& domains);

/// The channels of a sensor that `is_wanted` chooses.
template <class IsWanted>
[[nodiscard]] ChannelSet channels_where(const Sensor& sensor, IsWanted is_wanted) {
  ChannelSet chosen;
  const auto channels = sensor.channels();
  for (std::size_t i = 0; i < std::min(channels.size(), chosen.size()); ++i) {
    chosen[i] = is_wanted(channels[i]);
  }
  return chosen;
}

/// True for the sensor of a GPU. All channels of a sensor are of one device.
[[nodiscard]] bool is_gpu(const Sensor& sensor) noexcept;
/// The domain of a GPU's sensor.
[[nodiscard]] inline const Domain& gpu_domain_of(const Sensor& sensor) noexcept {
  return sensor.channels().front().domain;
}

/// The kinds that interfaces to processors show: they can replace each other.
inline constexpr DomainKinds kProcessorKinds =
    DomainKinds::of({DomainCategory::cpu, DomainCategory::platform});

/// The scope of a refusal.
enum class RefusalScope : std::uint8_t {
  part,       ///< one domain, or one place of the interface
  interface,  ///< all of it: the machine shows nothing through it
  /// Another way to what is read, or refused, elsewhere: an interface that this kernel lacks but
  /// need not have, a counter that is there twice.
  spare,
};

/// Domains that exist if a refused place is one of them, when that cannot be known.
struct HiddenDomains {
  std::vector<DomainKind> kinds;  ///< empty: the refused place hides no domain
  /// Number of domains of each kind that the machine then has. If other interfaces show that many,
  /// the refused place hides none. 0: unknown.
  std::size_t expected = 0;
};

/// Why something is not measured, for `wattle doctor` and every report.
struct SensorRefusal {
  std::string source{};  ///< the provider: "powercap". `survey` fills it in.
  std::string subject;   ///< what is refused: "package_0", "CPU energy", "intel-rapl:3"
  std::string reason{};  ///< the cause, as a sentence
  std::string proof{};   ///< what was seen that shows it
  std::string remedy{};  ///< what would change it; empty where nothing would
  std::string risk{};    ///< what the remedy opens up; empty where nothing
  /// The file that this user may not read, where that is the cause.
  std::string denied_path{};
  /// The domain that is not measured for this reason, where it is a single one.
  std::optional<Domain> domain{};
  /// There is no such device here, as it seems: nothing is amiss.
  bool absent = false;
  RefusalScope scope = RefusalScope::part;
  /// The kinds that a total may lack for this reason, if `domain` is unknown.
  HiddenDomains hidden{};
  /// The kinds that the interface shows. `survey` fills it in.
  DomainKinds shows = kProcessorKinds;
};

/// The result of a probe: sensors, and a reason for everything it could not offer.
struct Survey {
  std::vector<std::unique_ptr<Sensor>> sensors;
  std::vector<SensorRefusal> refused;
  // Where GPUs were selected (`keep_selected`).
  std::vector<Domain> left_out{};  ///< GPUs that were not selected, in the order of their domains
  std::vector<Refusal> missing{};  ///< GPUs that were selected, but do not exist here
};

/// One hardware interface.
struct Provider {
  std::string_view name;
  std::string_view what;  ///< one line on what it reads
  /// The kinds that it can show. Interfaces that show the same kinds can replace each other.
  DomainKinds shows;
  /// `taken`: domains that are read already. The probe leaves them out, without a word.
  Survey (*probe)(const System& system, const TimeSource& clock, const std::set<Domain>& taken);
};

}  // namespace wattle
