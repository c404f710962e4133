// What one reading of a counter costs beyond the system call that it needs.
//
// The file is a real sysfs attribute that holds a number, so that the kernel's part is that of
// `energy_uj` without its register access, and is there on every machine.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "count_allocations.hpp"
#include "sampling/history.hpp"
#include "sensors/powercap/counter_sensor.hpp"

namespace {

constexpr const char* kFile = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

wattle::powercap::CounterSensor make_sensor() {
  std::vector<wattle::powercap::OpenCounter> counters;
  counters.push_back({.channel = {.domain = wattle::Domain::package(0),
                                  .counter = {.tick = wattle::Joules(1e-6),
                                              .modulus = std::uint64_t{1} << 40U,
                                              .max_power = wattle::Watts(2000.0)},
                                  .update = {.mean = std::chrono::milliseconds(1),
                                             .spread = std::chrono::microseconds(270),
                                             .p99 = std::chrono::microseconds(1650)},
                                  .source = "powercap",
                                  .place = kFile},
                      .energy_uj = wattle::open_for_reading(kFile),
                      .scale = wattle::powercap::identify_scale(262143328850)});
  return {std::move(counters), wattle::machine_clock()};
}

bool usable(benchmark::State& state) {
  if (::access(kFile, R_OK) == 0) return true;
  state.SkipWithError("this kernel has no hpage_pmd_size");
  return false;
}

void bare_pread(benchmark::State& state) {
  if (!usable(state)) return;
  const wattle::Fd fd = wattle::open_for_reading(kFile);
  std::array<char, 32> text;
  for (auto _ : state) {
    benchmark::DoNotOptimize(::pread(fd.get(), text.data(), text.size(), 0));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(bare_pread);

/// Stamped, parsed, turned into ticks.
void sensor_read(benchmark::State& state) {
  if (!usable(state)) return;
  auto sensor = make_sensor();
  std::array<wattle::Reading, 1> reading;
  const std::size_t before = allocations();
  for (auto _ : state) {
    sensor.read(reading);
    benchmark::DoNotOptimize(reading);
  }
  if (reading[0].status != wattle::ReadStatus::ok) state.SkipWithError("not read");
  state.counters["allocations"] = static_cast<double>(allocations() - before);
}
BENCHMARK(sensor_read);

/// As before, and added to its history: unwrapped, checked, stored.
void sensor_read_into_history(benchmark::State& state) {
  if (!usable(state)) return;
  auto sensor = make_sensor();
  wattle::History history(sensor.channels()[0], {});
  std::array<wattle::Reading, 1> reading;
  const std::size_t before = allocations();
  for (auto _ : state) {
    sensor.read(reading);
    history.add(reading[0]);
    benchmark::DoNotOptimize(history);
  }
  state.counters["allocations"] = static_cast<double>(allocations() - before);
}
BENCHMARK(sensor_read_into_history);

/// What scripts do.
void open_read_close(benchmark::State& state) {
  if (!usable(state)) return;
  std::array<char, 32> text;
  for (auto _ : state) {
    const int fd = ::open(kFile, O_RDONLY | O_CLOEXEC);
    benchmark::DoNotOptimize(::read(fd, text.data(), text.size()));
    ::close(fd);
  }
}
BENCHMARK(open_read_close);

}  // namespace
