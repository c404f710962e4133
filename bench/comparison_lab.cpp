// How often the intervals of `wattle bench` hold the truth, beside other ways to make one.
//
//   comparison_lab [REPETITIONS]      tables in Markdown; fixed seeds: the same at every run
//   comparison_lab apart [REPETITIONS]   the last two alone: what no interval can hold
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
#include "runs/run_cost.hpp"

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

/// The runs of one command, in the order of time.
std::vector<RunCost> runs_of(const std::vector<double>& energies_j, double start_s) {
  std::vector<RunCost> runs;
  runs.reserve(energies_j.size());
  for (const double energy_j : energies_j) {
    runs.push_back({.round = runs.size() + 1,
                    .started_unix_s = start_s + static_cast<double>(runs.size()),
                    .energy = Joules(energy_j)});
  }
  return runs;
}

Comparison compared(const SimulatedBench& bench, bool in_rounds) {
  return compare(Cost::energy, runs_of(bench.a, 0.0), runs_of(bench.b, 1e6), in_rounds);
}

/// Two files of runs, while the machine drifts.
void print_drift(int repetitions) {
  fmt::print(
      "\n| runs of each | of equal commands: nothing is claimed | a difference is shown | of B at "
      "10 "
      "% less: nothing is claimed | less is shown | more is shown |\n|---|---|---|---|---|---|\n");
  for (const std::size_t runs : {3U, 5U, 6U, 10U, 30U}) {
    Random random(runs);
    std::array<int, 5> counts{};
    for (int i = 0; i < repetitions; ++i) {
      const Comparison equal = compared(simulate(drift_without_turns(), runs, 1.0, random), false);
      const Comparison less = compared(simulate(drift_without_turns(), runs, 0.9, random), false);
      counts[0] += static_cast<int>(!equal.doubt.empty());
      counts[1] += static_cast<int>(equal.ratio->is_shown());
      counts[2] += static_cast<int>(!less.doubt.empty());
      counts[3] += static_cast<int>(less.ratio->is_shown() && less.ratio->estimate < 0.0);
      counts[4] += static_cast<int>(less.ratio->is_shown() && less.ratio->estimate > 0.0);
    }
    fmt::print("| {} |", runs);
    for (const int count : counts) fmt::print(" {:.1f} |", 100.0 * count / repetitions);
    fmt::print("\n");
  }
}

/// Commands of one mean, of which B has a kind of run that A lacks.
void print_unlike(int repetitions) {
  fmt::print(
      "\n| runs of each | without a slow run of B | a difference is shown, in turns | not in turns "
      "|\n|---|---|---|---|\n");
  for (const std::size_t runs : {3U, 5U, 10U, 30U, 100U}) {
    Random random(runs);
    std::array<int, 3> counts{};
    for (int i = 0; i < repetitions; ++i) {
      const SimulatedBench bench = simulate(unlike_kinds(), runs, 1.0, random);
      const auto [least, most] = std::ranges::minmax(bench.b);
      counts[0] += static_cast<int>(most < 1.2 * least);
      counts[1] += static_cast<int>(compared(bench, true).ratio->is_shown());
      counts[2] += static_cast<int>(compared(bench, false).ratio->is_shown());
    }
    fmt::print("| {} |", runs);
    for (const int count : counts) fmt::print(" {:.1f} |", 100.0 * count / repetitions);
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace wattle::lab

int main(int argc, char** argv) {
  try {
    const bool is_apart = argc > 1 && std::string_view(argv[1]) == "apart";
    const int place = is_apart ? 2 : 1;
    const int repetitions = argc > place ? std::max(1, std::atoi(argv[place])) : 2000;
    if (!is_apart) wattle::lab::print_table(repetitions);
    wattle::lab::print_drift(repetitions);
    wattle::lab::print_unlike(repetitions);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "comparison_lab: %s\n", error.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
