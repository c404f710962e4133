#include "sensors/cray/node_sensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "sensors/cray/counter_file.hpp"

namespace wattle::cray {
namespace {

/// Room for two numbers of 20 digits with their units.
using StatedText = std::array<char, 64>;

}  // namespace

AttributeValue read_value(CounterFile& counter) noexcept {
  const auto take = [&](std::string_view text) -> std::optional<std::uint64_t> {
    const auto value = parse_stated_value(text, counter.unit);
    if (!value) return std::nullopt;
    // Without a time each reading passes for a new one.
    if (value->at_us == 0 || value->at_us != counter.at_us) counter.renewed = TimePoint{};
    counter.at_us = value->at_us;
    return value->raw;
  };
  return read_attribute<StatedText>(counter.file, take);
}

NodeSensor::NodeSensor(std::vector<Channel> channels, std::vector<CounterFile> files,
                       const TimeSource& clock)
    : channels_(std::move(channels)), files_(std::move(files)), clock_(clock) {}

void NodeSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  read_in_turn(clock_, wanted, files_.size(), readings,
               [&](std::size_t i) { return read_value(files_[i]); });
  for (std::size_t i = 0; i < std::min(readings.size(), files_.size()); ++i) {
    if (!wanted[i] || readings[i].status != ReadStatus::ok) continue;
    TimePoint& renewed = files_[i].renewed;
    if (renewed == TimePoint{}) renewed = readings[i].at;
    if (readings[i].at - renewed > kOldest) readings[i].status = ReadStatus::stale;
  }
}

}  // namespace wattle::cray
