// Reads the energy counters of one package, or of the platform.
#pragma once

#include <utility>
#include <vector>

#include "base/files/fd.hpp"
#include "sensors/powercap/zone.hpp"
#include "sensors/read_status.hpp"
#include "sensors/sensor.hpp"

namespace wattle::powercap {

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
