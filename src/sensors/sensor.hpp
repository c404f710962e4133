// What the driver of a hardware interface implements, and what it hands out.
//
// A provider's probe finds devices and makes one Sensor for each. A sensor describes its channels
// once and then reads them all in one call, as raw integers with their own times. What a raw
// integer means in SI units is said by its channel; nothing here computes energy.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "wattle/domain.hpp"
#include "wattle/system.hpp"
#include "wattle/units.hpp"

namespace wattle {

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
  /// No device of this kind draws more: what tells a wrap from a reset. See known_sensors.hpp.
  Watts max_power;

  /// The number of ticks that must not pass between two reads, since energy could be lost unseen;
  /// 0 where any number may.
  [[nodiscard]] constexpr std::uint64_t blind_ticks() const noexcept {
    return modulus != 0 ? modulus : followed_ticks;
  }
};

/// How regularly a sensor's value is renewed.
struct UpdateInterval {
  std::chrono::nanoseconds mean;
  std::chrono::nanoseconds spread;  ///< standard deviation
  std::chrono::nanoseconds p99;     ///< 99th percentile
};

/// One readable quantity of one domain. So far all channels are energy counters.
struct Channel {
  Domain domain;
  CounterTraits counter;
  UpdateInterval update;
  /// The domain this one lies inside of, so that a total does not count it again.
  std::optional<Domain> contained_in;
  /// The provider's name and the place that is read: "powercap", ".../intel-rapl:0/energy_uj".
  std::string source;
  std::string place;
};

enum class ReadStatus : std::uint8_t {
  ok,     ///< a fresh value
  stale,  ///< the device answers, but with its last value: not renewed
  retry,  ///< no value this time (interrupted, empty, garbage); later reads may work
  gone,   ///< the device or file is no more
};

/// One value of one channel. `raw` means something only where `status` is ok or stale.
struct Reading {
  TimePoint at;                            ///< midpoint of the clock before and after
  std::chrono::nanoseconds half_width{0};  ///< the value was taken within at +- half_width
  std::uint64_t raw = 0;
  ReadStatus status = ReadStatus::retry;
};

/// Reads all channels of one device. Threads: one at a time.
class Sensor {
 public:
  virtual ~Sensor() = default;
  [[nodiscard]] virtual std::span<const Channel> channels() const noexcept = 0;
  /// Fills `readings[i]` for `channels()[i]`; the spans have the same length. Allocates nothing,
  /// logs nothing, never throws.
  virtual void read(std::span<Reading> readings) noexcept = 0;
};

/// The devices that an interface shows. Interfaces of one kind can stand in for each other.
enum class DeviceKind : std::uint8_t { cpu, nvidia_gpu, amd_gpu };

[[nodiscard]] constexpr DeviceKind device_kind(DomainKind kind) noexcept {
  if (kind == DomainKind::nvidia_gpu) return DeviceKind::nvidia_gpu;
  return kind == DomainKind::amd_gpu ? DeviceKind::amd_gpu : DeviceKind::cpu;
}

/// What a refusal is about.
enum class RefusalScope : std::uint8_t {
  part,       ///< one domain, or one place of the interface
  interface,  ///< all of it: the machine shows nothing through it
  /// Another way to what is read, or refused, elsewhere: an interface that this kernel lacks but
  /// need not have, a counter that is there twice.
  spare,
};

/// Why something is not measured, for `wattle doctor` and every report.
struct Refusal {
  std::string source;    ///< the provider: "powercap"
  std::string subject;   ///< what is refused: "package_0", "CPU energy", "intel-rapl:3"
  std::string reason{};  ///< the cause, as a sentence
  std::string proof{};   ///< what was seen that shows it
  std::string remedy{};  ///< what would change it; empty where nothing would
  std::string risk{};    ///< what the remedy opens up; empty where nothing
  /// The domain that is not measured for this reason, where it is a single one.
  std::optional<Domain> domain{};
  RefusalScope scope = RefusalScope::part;
  /// The kind of the interface's devices. `survey` fills it in.
  DeviceKind device = DeviceKind::cpu;
};

/// What a probe found: sensors, and a reason for everything it could not offer.
struct Survey {
  std::vector<std::unique_ptr<Sensor>> sensors;
  std::vector<Refusal> refused;
};

/// One hardware interface.
struct Provider {
  std::string_view name;
  std::string_view what;  ///< one line on what it reads
  DeviceKind device;
  /// `taken`: domains that are read already. The probe leaves them out, without a word.
  Survey (*probe)(const System& system, const Clock& clock, const std::set<Domain>& taken);
};

}  // namespace wattle
