// The energy events of the PMU `power`: their names and scales, the system calls that count them (a
// table, so that tests run without a PMU), and the sensor that reads all of a group at one time.
// docs/sensors/perf.md has the facts.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/sensor.hpp"
#include "wattle/domain.hpp"
#include "wattle/units.hpp"

// Defined in <linux/perf_event.h>.
struct perf_event_attr;

namespace wattle::perf {

/// The events of the PMU `power`, in the order in which a group reads them.
struct EventName {
  std::string_view name;
  DomainKind kind;
};
inline constexpr std::array kEventNames = {
    EventName{"energy-pkg", DomainKind::package},  //
    EventName{"energy-ram", DomainKind::dram},     //
    EventName{"energy-cores", DomainKind::core},   //
    EventName{"energy-gpu", DomainKind::uncore},   // the integrated one
    EventName{"energy-psys", DomainKind::psys},
};

/// The event's code, which goes into `perf_event_attr::config`, from "event=0x02"; absent where
/// anything else is asked for.
[[nodiscard]] std::optional<std::uint64_t> parse_event(std::string_view text) noexcept;

/// Turns the kernel's counts into ticks.
struct EventScale {
  Joules tick;         ///< an exact power of two where the `.scale` file names one
  unsigned shift = 0;  ///< low bits of a count that are always 0
  /// See `CounterTraits`.
  std::uint64_t followed_ticks = 0;

  [[nodiscard]] std::uint64_t ticks(std::uint64_t count) const noexcept { return count >> shift; }
};

/// From the text of a `.scale` file: the energy of one count in the unit of the `.unit` file,
/// joules. Absent where it is no number, or none that an energy counter can have.
[[nodiscard]] std::optional<EventScale> parse_scale(std::string_view text) noexcept;

/// True for the `.unit` of energy.
[[nodiscard]] bool is_joules(std::string_view unit) noexcept;

/// Each function answers as the kernel does: -1 with `errno` set where it fails.
struct SystemCalls {
  /// An event that counts everything on one CPU, close-on-exec; joins the group that the event
  /// `group` leads, or leads one of its own where that is -1. Gives a descriptor, to be closed.
  int (*open_event)(const perf_event_attr& event, int cpu, int group) noexcept;
  ssize_t (*read)(int fd, void* buffer, std::size_t bytes) noexcept;
};

/// The machine's own.
[[nodiscard]] const SystemCalls& kernel_calls() noexcept;

/// An event that is open for counting.
struct OpenEvent {
  Channel channel;
  EventScale scale;
  Fd file;
};

/// Events that one read gives together. The first one leads.
using EventGroup = std::vector<OpenEvent>;

/// The read format for the events of a group, as `EventSensor` expects it.
inline constexpr std::size_t kMostInGroup = kEventNames.size();
[[nodiscard]] std::uint64_t group_read_format() noexcept;

/// Threads: one at a time.
class EventSensor final : public Sensor {
 public:
  /// No group is empty or has more than `kMostInGroup` events.
  EventSensor(std::vector<EventGroup> groups, const TimeSource& clock, const SystemCalls& calls);
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  struct OpenEvents {
    std::vector<Fd> files;
    std::vector<EventScale> scales;
    std::uint64_t running_ns = 0;  ///< how long the leader had counted at the last read
  };
  void read_group(OpenEvents& group, std::span<Reading> readings) noexcept;

  std::vector<Channel> channels_;
  std::vector<OpenEvents> groups_;
  const TimeSource& clock_;
  const SystemCalls& calls_;
};

}  // namespace wattle::perf
