// The page of an hour of 8 GPUs with 3 domains each, read 10 times a second: how long it takes to
// make at the end of a run, and how large it is.
//
//   html_bench [FILE]: also writes the page to FILE.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "report/html/run_page.hpp"
#include "sampling/integrate.hpp"
#include "sampling/power_course.hpp"

namespace {

using namespace wattle;  // NOLINT(google-build-using-namespace)
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto kLength = std::chrono::hours(1);
constexpr milliseconds kInterval{100};
constexpr unsigned kDomains = 24;

/// A gauge in milliwatts, whose power jumps to and fro with noise on it.
void fill(History& history, TimePoint begin, unsigned seed) {
  std::uint64_t state = seed + 1;
  const auto random = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 33U;
  };
  std::uint64_t load = 0;
  std::uint64_t i = 0;
  for (TimePoint at = begin; at <= begin + kLength; at += kInterval, ++i) {
    if (i % 37 == 0) load = random() % 500'000;
    history.add({.at = at, .raw = 100'000 + load + random() % 40'000, .status = ReadStatus::ok});
  }
}

double ms_since(steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) try {
  const TimePoint begin{std::chrono::hours(1)};
  std::deque<History> histories;
  std::vector<const History*> gauges;
  Report report;
  report.command = {"./train.py"};
  report.wall = kLength;
  report.interval = kInterval;
  std::vector<CourseSource> sources;
  for (unsigned i = 0; i < kDomains; ++i) {
    const Domain domain = Domain::nvidia_gpu(i);
    const Channel channel{.domain = domain,
                          .counter = {.tick = Joules(1e-3)},
                          .update = {.mean = kInterval},
                          .metric = Metric::power_instant};
    histories.emplace_back(channel, HistoryOptions{.period = kInterval});
    fill(histories.back(), begin, i);
  }
  gauges.reserve(histories.size());
  for (const History& history : histories) gauges.push_back(&history);
  for (unsigned i = 0; i < kDomains; ++i) {
    const Domain domain = Domain::nvidia_gpu(i);
    sources.push_back({.domain = domain, .gauges = {&gauges[i], 1}});
    report.energy.domains.push_back(
        {.domain = domain,
         .source = "nvml",
         .figure =
             domain_energy(nullptr, {&gauges[i], 1}, {.begin = begin, .end = begin + kLength})});
  }
  report.energy.total = total_of(report.energy.domains, {});

  const auto start = steady_clock::now();
  report.energy.course = power_course(sources, {.begin = begin,
                                                .end = begin + kLength,
                                                .interval = kInterval,
                                                .most_columns = html::most_columns(kDomains)});
  const double course_ms = ms_since(start);
  const std::string page = html::to_html(html::page_of(report));
  fmt::print(
      "the page of an hour of {} domains: {:.0f} ms, of these {:.0f} ms for the histories; "
      "{:.0f} kB\n",
      kDomains, ms_since(start), course_ms, static_cast<double>(page.size()) / 1000.0);
  if (argc > 1) std::ofstream(argv[1], std::ios::binary) << page;
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "html_bench: %s\n", error.what());
  return 1;
}
