// How often the intervals of `wattle bench` hold the truth, beside other ways to make one.
//
//   comparison_lab [REPETITIONS]      a table in Markdown; fixed seeds: the same at every run
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "lab/comparison_model.hpp"
#include "runs/log_ratio.hpp"

namespace wattle::lab {
namespace {

std::vector<double> log_ratios(const SimulatedBench& bench) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < bench.a.size(); ++i) {
    ratios.push_back(std::log(bench.b[i] / bench.a[i]));
  }
  return ratios;
}

ConfidenceInterval in_turns(const SimulatedBench& bench, Random& /*random*/) {
  return *paired_log_ratio({bench.a, bench.errors_a}, {bench.b, bench.errors_b}).interval;
}

ConfidenceInterval apart(const SimulatedBench& bench, Random& /*random*/) {
  return *unpaired_log_ratio({bench.a, bench.errors_a}, {bench.b, bench.errors_b}).interval;
}

ConfidenceInterval student(const SimulatedBench& bench, Random& /*random*/) {
  return *summarize(log_ratios(bench)).mean95;
}

/// The means of resampled ratios; with `studentized`, in standard errors of each.
std::vector<double> resampled(const std::vector<double>& ratios, bool studentized, Random& random) {
  constexpr std::size_t kResamples = 1'000;
  const double mean = summarize(ratios).mean;
  std::vector<double> means;
  std::vector<double> sample(ratios.size());
  while (means.size() < kResamples) {
    for (double& value : sample) {
      value =
          ratios[static_cast<std::size_t>(random.uniform() * static_cast<double>(ratios.size()))];
    }
    double sum = 0.0;
    double squares = 0.0;
    for (const double value : sample) {
      sum += value - mean;
      squares += (value - mean) * (value - mean);
    }
    const auto count = static_cast<double>(sample.size());
    const double error = std::sqrt((squares - sum * sum / count) / (count - 1.0) / count);
    if (!studentized) {
      means.push_back(mean + sum / count);
    } else if (error > 0.0) {
      means.push_back(sum / count / error);
    }
  }
  std::ranges::sort(means);
  return means;
}

double quantile(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

ConfidenceInterval percentile_bootstrap(const SimulatedBench& bench, Random& random) {
  const std::vector<double> means = resampled(log_ratios(bench), false, random);
  return {quantile(means, 0.025), quantile(means, 0.975)};
}

ConfidenceInterval studentized_bootstrap(const SimulatedBench& bench, Random& random) {
  const std::vector<double> ratios = log_ratios(bench);
  const std::vector<double> units = resampled(ratios, true, random);
  const Summary summary = summarize(ratios);
  const double error = *summary.sd / std::sqrt(static_cast<double>(ratios.size()));
  return {summary.mean - error * quantile(units, 0.975),
          summary.mean - error * quantile(units, 0.025)};
}

struct Way {
  std::string_view name;
  ConfidenceInterval (*interval)(const SimulatedBench& bench, Random& random);
  bool is_slow = false;
};

constexpr std::array kWays = {Way{"**in turns**", in_turns}, Way{"**not in turns**", apart},
                              Way{"t of logarithms", student},
                              Way{"studentized bootstrap", studentized_bootstrap, true},
                              Way{"percentile bootstrap", percentile_bootstrap, true}};

/// "94.8, 4.2, 9.6": how many intervals hold the truth; how many show a difference where there is
/// none; the median width. All in percent.
std::string cell_of(const Disturbance& disturbance, std::size_t rounds, const Way& way,
                    int repetitions) {
  constexpr double kRatio = 0.9;
  constexpr std::uint64_t kSeed = 25;
  // A bootstrap takes a thousand times as long.
  constexpr int kMostOfSlow = 300;
  constexpr std::size_t kMostRoundsOfSlow = 10;
  // Of three values the same one may be drawn three times.
  constexpr std::size_t kFewestRoundsOfSlow = 5;
  // They fail where runs differ by little already.
  const bool is_easy = disturbance.spread == Spread::normal && disturbance.noise < 0.1;
  const bool is_drawn = is_easy && rounds >= kFewestRoundsOfSlow && rounds <= kMostRoundsOfSlow;
  if (way.is_slow && !is_drawn) return "";
  if (way.is_slow) repetitions = std::min(repetitions, kMostOfSlow);
  Random random(kSeed + rounds);
  int held = 0;
  int shown = 0;
  std::vector<double> widths;
  for (int i = 0; i < repetitions; ++i) {
    const ConfidenceInterval interval =
        way.interval(simulate(disturbance, rounds, kRatio, random), random);
    held += static_cast<int>(interval.contains(std::log(kRatio)));
    widths.push_back(100.0 * (interval.high - interval.low));
    const ConfidenceInterval none =
        way.interval(simulate(disturbance, rounds, 1.0, random), random);
    shown += static_cast<int>(!none.contains(0.0));
  }
  const auto percent = [&](int count) { return 100.0 * count / repetitions; };
  return fmt::format("{:.1f}, {:.1f}, {:.1f}", percent(held), percent(shown),
                     median_of(std::move(widths)));
}

void print_table(int repetitions) {
  fmt::print("| runs differ by | rounds |");
  for (const Way& way : kWays) fmt::print(" {} |", way.name);
  fmt::print("\n|---|---|---|---|---|---|---|\n");
  for (const Disturbance& disturbance : disturbances()) {
    for (const std::size_t rounds : {3U, 5U, 10U, 30U}) {
      fmt::print("| {} | {} |", disturbance.name, rounds);
      for (const Way& way : kWays) {
        fmt::print(" {} |", cell_of(disturbance, rounds, way, repetitions));
      }
      fmt::print("\n");
    }
  }
}

}  // namespace
}  // namespace wattle::lab

int main(int argc, char** argv) {
  try {
    wattle::lab::print_table(argc > 1 ? std::max(1, std::atoi(argv[1])) : 2000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "comparison_lab: %s\n", error.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
