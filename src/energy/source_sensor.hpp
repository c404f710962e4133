// A user's own device, seen as a sensor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle::detail {

/// Threads: one at a time.
class SourceSensor final : public Sensor {
 public:
  /// `first`: the number of its first counter. Throws `InvalidArgument` for a counter that makes no
  /// sense.
  SourceSensor(std::shared_ptr<EnergySource> source, const Clock& clock, std::uint32_t first);

  /// The domain of the counter `number` of all sources: a counter's own name can be any text.
  [[nodiscard]] static Domain domain_of(std::uint32_t number);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read(std::span<Reading> readings) noexcept override;

 private:
  std::shared_ptr<EnergySource> source_;
  const Clock& clock_;
  std::vector<std::string> names_;
  std::vector<Channel> channels_;
  std::vector<std::optional<std::uint64_t>> raw_;
};

}  // namespace wattle::detail
