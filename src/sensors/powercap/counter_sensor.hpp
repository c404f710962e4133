// Reads the energy counters of one package, or of the platform, in the unit that is hidden in a
// zone's range. docs/sensors/powercap.md has the facts.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/read_status.hpp"
#include "sensors/sensor.hpp"
#include "wattle/units.hpp"

namespace wattle::powercap {

/// Turns `energy_uj`, which the kernel rounds, back into the counter's own ticks.
struct TickScale {
  Joules tick;                ///< energy of one tick: an exact power of two where it is known
  std::uint64_t modulus = 0;  ///< ticks to a wrap; 0 = unknown
  /// The kernel shows floor(ticks * numerator / denominator) micro-joules.
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  /// Ticks from `energy_uj`; absent where it is beyond the counter's range.
  [[nodiscard]] std::optional<std::uint64_t> ticks(std::uint64_t energy_uj) const noexcept {
    if (energy_uj > UINT64_MAX / denominator - numerator) return std::nullopt;
    // Rounded up: a tick is at least 1 uJ, so exactly one number of ticks rounds down to a value.
    const std::uint64_t count = (energy_uj * denominator + numerator - 1) / numerator;
    if (modulus != 0 && count >= modulus) return std::nullopt;
    return count;
  }
};

/// The scale that `max_energy_range_uj` implies. Where it names no unit known: ticks of 1 uJ and a
/// modulus of the range plus one; where it is absent or 0: ticks of 1 uJ, modulus unknown.
[[nodiscard]] TickScale identify_scale(std::optional<std::uint64_t> max_energy_range_uj) noexcept;

/// A counter that is open for reading.
struct OpenCounter {
  Channel channel;
  Fd energy_uj;
  TickScale scale;
};

/// Ticks from the text of an `energy_uj`.
[[nodiscard]] std::optional<std::uint64_t> parse_energy(std::string_view text,
                                                        const TickScale& scale) noexcept;

/// Threads: one at a time.
class CounterSensor final : public Sensor {
 public:
  CounterSensor(std::vector<OpenCounter> counters, const TimeSource& clock);
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read_some(ChannelSet wanted, std::span<Reading> readings) noexcept override;

 private:
  struct ZoneCounter {
    Fd energy_uj;
    TickScale scale;
  };

  std::vector<Channel> channels_;
  std::vector<ZoneCounter> sources_;
  const TimeSource& clock_;
};

}  // namespace wattle::powercap
