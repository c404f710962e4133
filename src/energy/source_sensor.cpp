#include "energy/source_sensor.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::detail {
namespace {

bool is_name_of_hardware(const std::string& name) {
  try {
    return Domain::parse(name).kind() != DomainKind::custom;
  } catch (const InvalidArgument&) {
    return false;
  }
}

/// `part`: a counter or gauge.
template <class Part>
[[noreturn]] void refuse(const Part& part, const char* what) {
  throw InvalidArgument("cannot measure \"" + printable(part.name) + "\" of a source: " + what);
}
template <class Part>
void check(const Part& part) {
  if (part.name.empty()) refuse(part, "it has no name");
  if (part.update_interval.count() < 0) refuse(part, "its update interval is negative");
  if (is_name_of_hardware(part.name)) refuse(part, "a domain of the machine is called so");
}

Channel channel_of(const EnergySource::Counter& counter, Domain domain) {
  check(counter);
  if (!std::isfinite(counter.tick.si()) || counter.tick.si() <= 0.0) {
    refuse(counter, "its tick is not above 0 J");
  }
  if (!std::isfinite(counter.max_power.si()) || counter.max_power.si() <= 0.0) {
    refuse(counter, "its greatest power is not above 0 W");
  }
  return {
      .domain = domain,
      .counter = {.tick = counter.tick, .modulus = counter.modulus, .max_power = counter.max_power},
      .update = {.mean = counter.update_interval, .p99 = counter.update_interval},
      .source = "source",
      .place = counter.name};
}

constexpr double kMicroWatt = 1e-6;

Channel channel_of(const EnergySource::Gauge& gauge, Domain domain) {
  check(gauge);
  return {.domain = domain,
          .update = {.mean = gauge.update_interval, .p99 = gauge.update_interval},
          .source = "source",
          .place = gauge.name,
          .metric = Metric::power_instant,
          .gauge = {.scale = kMicroWatt}};
}

template <class Parts>
std::vector<Channel> channels_of(const Parts& parts, std::size_t first) {
  constexpr std::size_t kMost = ChannelSet().size();
  if (parts.size() > kMost) {
    throw InvalidArgument("cannot measure " + std::to_string(parts.size()) +
                          " counters or gauges of one source: at most " + std::to_string(kMost) +
                          "; use several sources");
  }
  std::vector<Channel> channels;
  channels.reserve(parts.size());
  for (const auto& part : parts) {
    channels.push_back(channel_of(part, source_domain(first + channels.size())));
  }
  return channels;
}

std::optional<std::uint64_t> raw_value(const Channel& channel,
                                       const std::optional<std::uint64_t>& raw) noexcept {
  const std::uint64_t modulus = channel.counter.modulus;
  return modulus != 0 && raw >= modulus ? std::nullopt : raw;
}

/// In micro-watts; absent for what is no power.
std::optional<std::uint64_t> raw_value(const Channel& /*channel*/,
                                       const std::optional<Watts>& power) noexcept {
  constexpr double kMostW = 1e12;
  const double power_w = power ? power->si() : -1.0;
  const bool is_power = power_w >= 0.0 && power_w <= kMostW;  // false for NaN
  if (!is_power) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(power_w / kMicroWatt));
}

/// `Value`: what is read, a counter's integer or `Watts`. Threads: one at a time.
template <class Value>
class SourceSensor final : public Sensor {
 public:
  SourceSensor(std::shared_ptr<EnergySource> source, const TimeSource& clock,
               std::vector<Channel> channels)
      : source_(std::move(source)),
        clock_(clock),
        channels_(std::move(channels)),
        values_(channels_.size()) {}

  [[nodiscard]] std::span<const Channel> channels() const noexcept override { return channels_; }
  [[nodiscard]] bool may_block() const noexcept override { return kIsPower; }
  void read_some(ChannelSet /*wanted*/, std::span<Reading> readings) noexcept override {
    std::ranges::fill(values_, std::nullopt);
    const TimePoint before = clock_.now();
    if constexpr (kIsPower) {
      source_->read_power(values_);
    } else {
      source_->read(values_);
    }
    const TimePoint after = clock_.now();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto raw = raw_value(channels_[i], values_[i]);
      readings[i] =
          reading_between(before, after, raw.value_or(0), raw ? ReadStatus::ok : ReadStatus::retry);
    }
  }

 private:
  static constexpr bool kIsPower = std::is_same_v<Value, Watts>;
  std::shared_ptr<EnergySource> source_;
  const TimeSource& clock_;
  std::vector<Channel> channels_;
  std::vector<std::optional<Value>> values_;
};

}  // namespace

Domain source_domain(std::size_t number) {
  return Domain::custom("source", std::to_string(number));
}

std::unique_ptr<Sensor> counters_of(std::shared_ptr<EnergySource> source, const TimeSource& clock,
                                    std::size_t first) {
  std::vector<Channel> channels = channels_of(source->counters(), first);
  return std::make_unique<SourceSensor<std::uint64_t>>(std::move(source), clock,
                                                       std::move(channels));
}

std::unique_ptr<Sensor> gauges_of(std::shared_ptr<EnergySource> source, const TimeSource& clock,
                                  std::size_t first) {
  std::vector<Channel> channels = channels_of(source->gauges(), first);
  return std::make_unique<SourceSensor<Watts>>(std::move(source), clock, std::move(channels));
}

}  // namespace wattle::detail
