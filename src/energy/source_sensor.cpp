#include "energy/source_sensor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {
namespace {

const EnergySource::Counter& checked(const EnergySource::Counter& counter) {
  const auto fail = [&](const char* what) {
    throw InvalidArgument("cannot measure the counter \"" + printable(counter.name) +
                          "\": " + what);
  };
  if (counter.name.empty()) fail("it has no name");
  if (!std::isfinite(counter.tick.si()) || counter.tick.si() <= 0.0) {
    fail("its tick is not above 0 J");
  }
  if (!std::isfinite(counter.max_power.si()) || counter.max_power.si() <= 0.0) {
    fail("its greatest power is not above 0 W");
  }
  if (counter.update_interval.count() < 0) fail("its update interval is negative");
  return counter;
}

Channel channel_of(const EnergySource::Counter& counter, Domain domain) {
  return {
      .domain = domain,
      .counter = {.tick = counter.tick, .modulus = counter.modulus, .max_power = counter.max_power},
      .update = {.mean = counter.update_interval, .p99 = counter.update_interval},
      .source = "source",
      .place = counter.name};
}

}  // namespace

Domain SourceSensor::domain_of(std::uint32_t number) {
  return Domain::custom("source", std::to_string(number));
}

SourceSensor::SourceSensor(std::shared_ptr<EnergySource> source, const Clock& clock,
                           std::uint32_t first)
    : source_(std::move(source)), clock_(clock) {
  if (!source_) throw InvalidArgument("cannot measure a source that is null");
  for (const EnergySource::Counter& counter : source_->counters()) {
    const auto number = first + static_cast<std::uint32_t>(channels_.size());
    channels_.push_back(channel_of(checked(counter), domain_of(number)));
    names_.push_back(counter.name);
  }
  raw_.resize(channels_.size());
}

void SourceSensor::read(std::span<Reading> readings) noexcept {
  std::ranges::fill(raw_, std::nullopt);
  const TimePoint before = clock_.now();
  source_->read(raw_);
  const auto half_width = (clock_.now() - before) / 2;
  for (std::size_t i = 0; i < raw_.size(); ++i) {
    const std::uint64_t modulus = channels_[i].counter.modulus;
    const std::uint64_t raw = raw_[i].value_or(0);
    const bool is_possible = raw_[i].has_value() && (modulus == 0 || raw < modulus);
    readings[i] = {.at = before + half_width,
                   .half_width = half_width,
                   .raw = raw,
                   .status = is_possible ? ReadStatus::ok : ReadStatus::retry};
  }
}

}  // namespace wattle::detail
