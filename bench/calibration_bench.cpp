// The time of a search for wrong sensors: machines of 5, 12 and 16 sensors, 60 s of a varied load.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calibration/calibration.hpp"
#include "meter_world.hpp"

namespace {

using namespace wattle;  // NOLINT(google-build-using-namespace)

struct Machine {
  std::vector<MeterSample> meter;
  std::vector<RecordedDomainPower> domains;
};

/// Sensors of several simulated machines, and one meter of all.
Machine machine_of(std::size_t sensors, double period_s) {
  constexpr double kToMeter = 1.12;
  constexpr std::uint64_t kWithoutFilter = 15;
  test::MeterWorld first = test::meter_world(kWithoutFilter, {.period_s = period_s});
  Machine machine{.meter = std::move(first.meter), .domains = std::move(first.domains)};
  for (std::uint64_t seed = kWithoutFilter + 1; machine.domains.size() < sensors; ++seed) {
    for (RecordedDomainPower& domain : test::meter_world(seed, {}).domains) {
      if (machine.domains.size() >= sensors) break;
      for (MeterSample& sample : machine.meter) {
        const double to_s = sample.time_s - first.shift_s;
        sample.power_w += kToMeter * domain.power.mean_w(to_s - period_s, to_s).value_or(0.0);
      }
      domain.name += "_of_" + std::to_string(seed);
      machine.domains.push_back(std::move(domain));
    }
  }
  return machine;
}

void calibrate(benchmark::State& state) {
  const double period_s = static_cast<double>(state.range(1)) / 1000.0;
  const Machine machine = machine_of(static_cast<std::size_t>(state.range(0)), period_s);
  for (auto _ : state) {  // NOLINT(clang-analyzer-deadcode.DeadStores)
    benchmark::DoNotOptimize(
        calibrated(machine.meter, machine.domains, {.shift = {.least_s = -10.0, .most_s = 10.0}}));
  }
}
BENCHMARK(calibrate)
    ->ArgNames({"sensors", "row_ms"})
    ->ArgsProduct({{5, 12, 16}, {100, 1000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
