#include "lab/common_ways.hpp"

#include <algorithm>
#include <optional>

namespace wattle::lab {
namespace {

double value_of(const Reading& reading, const Channel& channel) noexcept {
  return static_cast<double>(reading.raw) * channel.scale();
}

}  // namespace

Estimate two_reads(World& world, double length_s) {
  const std::size_t channel = World::counter_channel();
  const Channel& counter = world.sensor().channels()[channel];
  world.wait_until(0.0);
  const Reading first = world.read(channel);
  const double end_s = World::seconds_of(first.at) + length_s;
  world.work_between(world.now_s(), end_s);
  world.wait_until(end_s);
  const Reading last = world.read(channel);
  Estimate estimate{.begin = first.at, .end = last.at};
  if (first.status != ReadStatus::ok || last.status != ReadStatus::ok) return estimate;
  std::uint64_t passed = last.raw - first.raw;
  if (last.raw < first.raw) passed += counter.counter.modulus;
  estimate.energy_j = static_cast<double>(passed) * counter.scale();
  return estimate;
}

Estimate trapezoid(World& world, double length_s) {
  const std::size_t channel = world.gauge_channel();
  const Channel& gauge = world.sensor().channels()[channel];
  world.work_between(0.0, length_s);
  double energy_j = 0.0;
  std::optional<Reading> before;
  follow(world, channel, 0.0, length_s, Seconds(gauge.update.mean).count() / 2.0,
         [&](const Reading& reading) {
           if (reading.status != ReadStatus::ok) return;
           if (before && reading.raw == before->raw) return;
           if (before) {
             energy_j += 0.5 * (value_of(*before, gauge) + value_of(reading, gauge)) *
                         Seconds(reading.at - before->at).count();
           }
           before = reading;
         });
  return {
      .begin = World::time_point(0.0), .end = World::time_point(length_s), .energy_j = energy_j};
}

Estimate one_second_polls(World& world, double length_s) {
  constexpr double kPeriodS = 1.0;
  const std::size_t channel = world.gauge_channel();
  const Channel& gauge = world.sensor().channels()[channel];
  world.work_between(0.0, length_s);
  double energy_j = 0.0;
  double counted_s = 0.0;
  while (counted_s < length_s) {
    const double due_s = std::min(counted_s + kPeriodS, length_s);
    world.wait_until(due_s);
    const Reading reading = world.read(channel);
    if (reading.status == ReadStatus::ok) {
      energy_j += value_of(reading, gauge) * (due_s - counted_s);
    }
    counted_s = due_s;
  }
  return {
      .begin = World::time_point(0.0), .end = World::time_point(length_s), .energy_j = energy_j};
}

}  // namespace wattle::lab
