#include "sensors/powercap/counter_sensor.hpp"

#include <cmath>

#include "base/text/parse.hpp"
#include "sensors/read_status.hpp"

namespace wattle::powercap {
namespace {

constexpr std::uint64_t kCounterMask = 0xFFFFFFFFU;  // all x86 RAPL counters have 32 bits

/// The range a kernel states for a 32-bit counter whose tick is numerator/denominator uJ.
constexpr std::uint64_t stated_range(std::uint64_t numerator, std::uint64_t denominator) noexcept {
  return kCounterMask * numerator / denominator;
}

TickScale scale_of(double tick_j, std::uint64_t numerator, std::uint64_t denominator) noexcept {
  return {.tick = Joules(tick_j),
          .modulus = kCounterMask + 1,
          .numerator = numerator,
          .denominator = denominator};
}

}  // namespace

TickScale identify_scale(std::optional<std::uint64_t> max_energy_range_uj) noexcept {
  if (!max_energy_range_uj || *max_energy_range_uj == 0) return {.tick = Joules(1e-6)};
  const std::uint64_t range = *max_energy_range_uj;

  // Server DRAM: the kernel multiplies by 15.3 uJ, the hardware counts 2^-16 J (15.2588 uJ).
  // Both from intel_rapl_common.c; the perf driver of the same kernel uses the exact unit.
  constexpr std::uint64_t kServerDramNj = 15300;
  if (range == stated_range(kServerDramNj, 1000)) {
    return scale_of(std::ldexp(1.0, -16), kServerDramNj, 1000);
  }
  // A unit of 2^-n J, multiplied by the kernel as whole nano-joules, or exactly by older ones.
  // Below 2^-19 J a tick would be less than 2 uJ: no hardware counts so finely.
  for (std::uint64_t n = 0; n < 20; ++n) {
    const double tick_j = std::ldexp(1.0, -static_cast<int>(n));
    const std::uint64_t nanojoules = 1'000'000'000 >> n;
    if (range == stated_range(nanojoules, 1000)) return scale_of(tick_j, nanojoules, 1000);
    const std::uint64_t divisor = std::uint64_t{1} << n;
    if (range == stated_range(1'000'000, divisor)) return scale_of(tick_j, 1'000'000, divisor);
  }
  // Some Atoms count in 2^n uJ.
  for (std::uint64_t n = 0; n < 16; ++n) {
    const std::uint64_t microjoules = std::uint64_t{1} << n;
    if (range == stated_range(microjoules, 1)) {
      return scale_of(static_cast<double>(microjoules) * 1e-6, microjoules, 1);
    }
  }
  const bool can_wrap = range < UINT64_MAX;
  return {.tick = Joules(1e-6), .modulus = can_wrap ? range + 1 : 0};
}

std::optional<std::uint64_t> parse_energy(std::string_view text, const TickScale& scale) noexcept {
  const std::optional<std::uint64_t> energy_uj = parse_counter(text);
  return energy_uj ? scale.ticks(*energy_uj) : std::nullopt;
}

CounterSensor::CounterSensor(std::vector<OpenCounter> counters, const TimeSource& clock)
    : clock_(clock) {
  for (OpenCounter& counter : counters) {
    channels_.push_back(std::move(counter.channel));
    sources_.push_back({std::move(counter.energy_uj), counter.scale});
  }
}

void CounterSensor::read_some(ChannelSet wanted, std::span<Reading> readings) noexcept {
  read_in_turn(clock_, wanted, sources_.size(), readings, [&](std::size_t i) {
    const ZoneCounter& source = sources_[i];
    return read_attribute(source.energy_uj,
                          [&](std::string_view text) { return parse_energy(text, source.scale); });
  });
}

}  // namespace wattle::powercap
