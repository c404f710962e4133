// A user's own device, seen as sensors: its counters are one, its gauges of power another.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "sensors/sensor.hpp"
#include "wattle/energy_meter.hpp"

namespace wattle::detail {

/// The domain of the counter or gauge `number` of all sources: its own name can be any text.
[[nodiscard]] Domain source_domain(std::size_t number);

/// The energy counters of a source. Threads: one at a time.
class SourceSensor final : public Sensor {
 public:
  /// `first`: the number of its first counter. Throws `InvalidArgument` for a counter that makes no
  /// sense.
  SourceSensor(std::shared_ptr<EnergySource> source, const Clock& clock, std::size_t first);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read(std::span<Reading> readings) noexcept override;

 private:
  std::shared_ptr<EnergySource> source_;
  const Clock& clock_;
  std::vector<Channel> channels_;  ///< their places are the counters' names
  std::vector<std::optional<std::uint64_t>> raw_;
};

/// The gauges of a source, which a thread reads. Threads: one at a time.
class SourceGauges final : public Sensor {
 public:
  /// As `SourceSensor`.
  SourceGauges(std::shared_ptr<EnergySource> source, const Clock& clock, std::size_t first);

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  void read(std::span<Reading> readings) noexcept override;
  [[nodiscard]] bool may_block() const noexcept override { return true; }

 private:
  std::shared_ptr<EnergySource> source_;
  const Clock& clock_;
  std::vector<Channel> channels_;
  std::vector<std::optional<Watts>> power_;
};

}  // namespace wattle::detail
