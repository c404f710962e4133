// What a unit of work costs the program that starts and ends it, beside the naive way: a window of
// an energy meter for each request.
//
//   units_bench --benchmark_counters_tabular=true
//
// The counters are made up: no sensor is read but a number. `allocations` counts those of a round
// after the first.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "count_allocations.hpp"
#include "wattle/energy_meter.hpp"
#include "wattle/work_units.hpp"

namespace {

using wattle::EnergySource;

/// 100 W, by the clock.
class MadeUpCounter final : public EnergySource {
 public:
  [[nodiscard]] std::vector<Counter> counters() const override {
    return {{.name = "made_up", .update_interval = std::chrono::milliseconds(1)}};
  }
  void read(std::span<std::optional<std::uint64_t>> raw) noexcept override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    raw[0] = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count() * 100);
  }
};

wattle::WorkUnits& units() {
  static wattle::WorkUnits all({.domains = std::vector<wattle::Domain>{},
                                .sources = {std::make_shared<MadeUpCounter>()},
                                .if_unavailable = wattle::IfUnavailable::ignore});
  return all;
}

/// Starts and ends one, while `range` others run.
void begin_and_end(benchmark::State& state) {
  std::vector<wattle::WorkUnit> others;
  for (std::int64_t i = 0; i < state.range(0); ++i) others.push_back(units().begin("other"));
  for (auto _ : state) {
    wattle::WorkUnit unit = units().begin("request");
    unit.add(1.0);
    unit.end();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(begin_and_end)->Arg(0)->Arg(255)->Arg(100'000)->UseRealTime();
BENCHMARK(begin_and_end)->Arg(0)->Threads(2)->UseRealTime();

/// With the CPU time of its thread at both ends.
void begin_and_end_by_cpu_time(benchmark::State& state) {
  std::vector<wattle::WorkUnit> others;
  const wattle::UnitOptions by_cpu_time{.by = wattle::UnitRule::cpu_time};
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    others.push_back(units().begin("other", by_cpu_time));
  }
  for (auto _ : state) {
    wattle::WorkUnit unit = units().begin("request", by_cpu_time);
    unit.add(1.0);
    unit.end();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(begin_and_end_by_cpu_time)->Arg(0)->Arg(100'000)->UseRealTime();
BENCHMARK(begin_and_end_by_cpu_time)->Arg(0)->Threads(2)->UseRealTime();

/// All that the program and the thread of the units do for one of them.
void with_its_share(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 100'000; ++i) units().begin("request").end();
    benchmark::DoNotOptimize(units().update());
  }
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(with_its_share)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void begin_and_end_allocate(benchmark::State& state) {
  std::uint64_t count = 0;
  const auto round = [] {
    for (int i = 0; i < 10'000; ++i) units().begin("request").end();
  };
  for (int i = 0; i < 4; ++i) {
    round();
    (void)units().update();
  }
  for (auto _ : state) {
    const std::uint64_t before = allocations();
    round();
    count += allocations() - before;
    state.PauseTiming();
    (void)units().update();
    state.ResumeTiming();
  }
  state.counters["allocations"] =
      static_cast<double>(count) / static_cast<double>(state.iterations());
}
BENCHMARK(begin_and_end_allocate)->Unit(benchmark::kMillisecond)->Iterations(50);

/// A window a request: each has the energy of the whole machine.
void window_for_each(benchmark::State& state) {
  static const wattle::EnergyMeter first({.domains = std::vector<wattle::Domain>{},
                                          .sources = {std::make_shared<MadeUpCounter>()},
                                          .if_unavailable = wattle::IfUnavailable::ignore});
  for (auto _ : state) {
    wattle::EnergyMeter meter = first.another();
    meter.start("request");
    meter.stop();
    benchmark::DoNotOptimize(meter.trace());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(window_for_each)->UseRealTime();

}  // namespace
