// What a timeline costs, in bytes and in time, beside a plain vector of time and value.
//
// Times that can be disturbed by other work on the machine are measured on the thread's own clock;
// where a query is over in microseconds, each is timed alone and the median is reported.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "count_allocations.hpp"
#include "sampling/timeline/timeline.hpp"
#include "timeline_series.hpp"

namespace {

using namespace std::chrono_literals;
using wattle::Timeline;
using wattle::TimelineKind;
using wattle::TimelineOptions;
using wattle::TimePoint;
using wattle::bench::CounterSeries;
using wattle::bench::GaugeSeries;
using wattle::bench::Sample;
using wattle::bench::take;

constexpr std::size_t kAppended = 1'000'000;
constexpr std::size_t kSearched = 10'000'000;
constexpr std::size_t kLimit = std::size_t{64} << 20U;

constexpr TimelineOptions kCounter{.kind = TimelineKind::counter, .memory_limit = kLimit};
constexpr TimelineOptions kGauge{.kind = TimelineKind::gauge,
                                 .quantum = 100us,
                                 .period = 50ms,
                                 .hold = 100ms,
                                 .memory_limit = kLimit};

double seconds(TimePoint time) { return wattle::Seconds(time.time_since_epoch()).count(); }

/// The peer: what one writes without thinking about it.
class PlainVector {
 public:
  void append(TimePoint at, std::uint64_t raw) {
    readings_.emplace_back(seconds(at), static_cast<double>(raw));
  }
  [[nodiscard]] std::size_t memory_bytes() const { return readings_.size() * sizeof(readings_[0]); }
  [[nodiscard]] std::size_t size() const { return readings_.size(); }

  [[nodiscard]] double value_at(TimePoint time) const {
    const auto after = first_after(time);
    const auto before = after - 1;
    return before->second + (after->second - before->second) * (seconds(time) - before->first) /
                                (after->first - before->first);
  }
  [[nodiscard]] double difference(TimePoint begin, TimePoint end) const {
    return value_at(end) - value_at(begin);
  }
  /// Of steps, clipped at both ends.
  [[nodiscard]] double integral(TimePoint begin, TimePoint end) const {
    double sum = 0.0;
    for (auto i = first_after(begin) - 1; i->first < seconds(end); ++i) {
      const double from = std::max(i->first, seconds(begin));
      sum += i->second * (std::min((i + 1)->first, seconds(end)) - from);
    }
    return sum;
  }

 private:
  using Reading = std::pair<double, double>;
  [[nodiscard]] std::vector<Reading>::const_iterator first_after(TimePoint time) const {
    return std::ranges::upper_bound(readings_, seconds(time), {}, &Reading::first);
  }
  std::vector<Reading> readings_;
};

/// On the thread's own clock: time in which other programs ran is not counted.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

const std::vector<Sample>& samples(std::size_t model) {
  static const std::array<std::vector<Sample>, 5> all = {
      take(CounterSeries({}), kAppended), take(CounterSeries({.steps = true}), kAppended),
      take(CounterSeries({.late = true}), kAppended),
      take(CounterSeries({.steps = true, .late = true}), kAppended),
      take(GaugeSeries(), kAppended)};
  return all[model];
}

template <class Make>
void append(benchmark::State& state, std::size_t model, Make make) {
  const std::vector<Sample>& readings = samples(model);
  double bytes = 0.0;
  std::size_t allocated = 0;
  for (auto _ : state) {
    auto timeline = make();
    const std::size_t before = allocations();
    const double begin = thread_seconds();
    for (const Sample& reading : readings) timeline.append(reading.at, reading.raw);
    state.SetIterationTime(thread_seconds() - begin);
    allocated = allocations() - before;
    bytes = static_cast<double>(timeline.memory_bytes()) / static_cast<double>(timeline.size());
  }
  state.counters["bytes_per_reading"] = bytes;
  state.counters["allocations"] = static_cast<double>(allocated);
  state.counters["per_reading"] = benchmark::Counter(
      static_cast<double>(readings.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

Timeline counter_timeline() { return Timeline(kCounter); }
Timeline gauge_timeline() { return Timeline(kGauge); }
PlainVector plain_vector() { return {}; }

#define WATTLE_BENCH_APPEND(name, model, make) \
  BENCHMARK_CAPTURE(append, name, model, make) \
      ->UseManualTime()                        \
      ->Unit(benchmark::kMillisecond)          \
      ->MinTime(0.2)
WATTLE_BENCH_APPEND(counter_on_grid, 0, counter_timeline);
WATTLE_BENCH_APPEND(counter_stepping, 1, counter_timeline);
WATTLE_BENCH_APPEND(counter_late, 2, counter_timeline);
WATTLE_BENCH_APPEND(counter_stepping_late, 3, counter_timeline);
WATTLE_BENCH_APPEND(gauge_late, 4, gauge_timeline);
WATTLE_BENCH_APPEND(plain_vector, 0, plain_vector);

/// Ten million readings in each.
struct Filled {
  Timeline counter{kCounter};
  Timeline gauge{kGauge};
  PlainVector plain_counter;
  PlainVector plain_gauge;

  Filled() {
    fill(CounterSeries({.late = true}), counter, plain_counter);
    fill(GaugeSeries(), gauge, plain_gauge);
  }

  template <class Series>
  static void fill(Series series, Timeline& timeline, PlainVector& plain) {
    for (std::size_t i = 0; i < kSearched; ++i) {
      const Sample sample = series.next();
      timeline.append(sample.at, sample.raw);
      plain.append(sample.at, sample.raw);
    }
  }
};

const Filled& filled() {
  static const Filled once;
  return once;
}

/// Begins and ends anywhere in the history.
using Window = std::pair<TimePoint, TimePoint>;

std::vector<Window> any_windows(const Timeline& timeline, std::size_t count) {
  std::mt19937_64 random(1);
  const TimePoint oldest = timeline.oldest().value_or(TimePoint());
  const auto span =
      static_cast<std::uint64_t>((timeline.newest().value_or(oldest) - oldest).count());
  const auto any = [&] { return oldest + std::chrono::nanoseconds(random() % span); };
  std::vector<Window> windows(count);
  for (Window& window : windows) window = std::minmax({any(), any()});
  return windows;
}

/// More than any cache holds.
void overwrite_caches() {
  static std::vector<char> buffer(std::size_t{128} << 20U);
  for (std::size_t i = 0; i < buffer.size(); i += 64) ++buffer[i];
  benchmark::ClobberMemory();
}

enum class Caches : std::uint8_t { warm, cold };

/// Warm: a hundred windows, asked for over and over. Cold: the caches are overwritten before each.
template <class Ask>
void query(benchmark::State& state, Caches caches, const Timeline& timeline, Ask ask) {
  const std::vector<Window> windows = any_windows(timeline, 100);
  for (const Window& window : windows) benchmark::DoNotOptimize(ask(window));
  std::vector<double> times_us;
  for (auto _ : state) {
    const Window& window = windows[times_us.size() % windows.size()];
    if (caches == Caches::cold) overwrite_caches();
    const auto begin = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(ask(window));
    const wattle::Seconds took = std::chrono::steady_clock::now() - begin;
    state.SetIterationTime(took.count());
    times_us.push_back(took.count() * 1e6);
  }
  const auto middle = times_us.begin() + std::ssize(times_us) / 2;
  std::ranges::nth_element(times_us, middle);
  state.counters["median_us"] = *middle;
}

void lookup(benchmark::State& state, Caches caches) {
  query(state, caches, filled().counter,
        [](const Window& window) { return filled().counter.at(window.first); });
}
void lookup_in_vector(benchmark::State& state, Caches caches) {
  query(state, caches, filled().counter,
        [](const Window& window) { return filled().plain_counter.value_at(window.first); });
}
void counter_window(benchmark::State& state, Caches caches) {
  query(state, caches, filled().counter, [](const Window& window) {
    return filled().counter.ticks_between(window.first, window.second);
  });
}
void counter_window_of_vector(benchmark::State& state, Caches caches) {
  query(state, caches, filled().counter, [](const Window& window) {
    return filled().plain_counter.difference(window.first, window.second);
  });
}
void gauge_window(benchmark::State& state, Caches caches) {
  query(state, caches, filled().gauge, [](const Window& window) {
    return filled().gauge.gauge_window(window.first, window.second);
  });
}
void gauge_window_of_vector(benchmark::State& state, Caches caches) {
  query(state, caches, filled().gauge, [](const Window& window) {
    return filled().plain_gauge.integral(window.first, window.second);
  });
}

#define WATTLE_BENCH_QUERY(name)              \
  BENCHMARK_CAPTURE(name, warm, Caches::warm) \
      ->UseManualTime()                       \
      ->Unit(benchmark::kMicrosecond)         \
      ->Iterations(3000);                     \
  BENCHMARK_CAPTURE(name, cold, Caches::cold) \
      ->UseManualTime()                       \
      ->Unit(benchmark::kMicrosecond)         \
      ->Iterations(200)
WATTLE_BENCH_QUERY(lookup);
WATTLE_BENCH_QUERY(lookup_in_vector);
WATTLE_BENCH_QUERY(counter_window);
WATTLE_BENCH_QUERY(counter_window_of_vector);
WATTLE_BENCH_QUERY(gauge_window);

// Reads every reading between its ends.
BENCHMARK_CAPTURE(gauge_window_of_vector, warm, Caches::warm)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(100);

/// All ten million readings from first to last.
void visit_all(benchmark::State& state) {
  const Timeline& timeline = filled().counter;
  for (auto _ : state) {
    std::uint64_t sum = 0;
    const double begin = thread_seconds();
    timeline.for_each(TimePoint(), TimePoint::max(),
                      [&](const wattle::StoredReading& reading) { sum += reading.raw; });
    state.SetIterationTime(thread_seconds() - begin);
    benchmark::DoNotOptimize(sum);
  }
  state.counters["per_reading"] = benchmark::Counter(
      static_cast<double>(timeline.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(visit_all)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
