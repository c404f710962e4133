#include "runs/run_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json/enum_table.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "runs/run_lacks.hpp"
#include "sensors/domain_traits.hpp"

namespace wattle {
namespace {

/// CPU cores that others used on average: of the whole machine, without the command.
std::optional<double> cores_of_others(const Report& report) {
  const CPUUtilization& cpu = report.usage.cpu_utilization;
  const ResourceUsage& usage = report.usage;
  if (!cpu.system.mean_hardware_percent || !cpu.system_core_count || !usage.cpu_user ||
      !usage.cpu_system || report.wall <= Seconds(0)) {
    return std::nullopt;
  }
  const double all = *cpu.system.mean_hardware_percent / 100.0 * *cpu.system_core_count;
  return std::max(0.0, all - (*usage.cpu_user + *usage.cpu_system) / report.wall);
}

/// In percent; 0 if a text with one digit would be "-0.0".
double percent_of(double part) {
  constexpr double kShown = 0.05;
  return std::abs(100.0 * part) < kShown ? 0.0 : 100.0 * part;
}

std::string percent_text(double part) {
  const double percent = percent_of(part);
  // As many digits as mean something in a text: 3, but none after a tenth of a percent.
  return std::abs(percent) < 100.0 ? fmt::format("{:.1f}", percent)
                                   : fmt::format("{:.0f}", percent);
}

struct CostWords {
  std::string_view verb;
  std::string_view noun;
  std::string_view name;
  std::string_view key;
};

/// In the order of `Cost`.
constexpr std::array<CostWords, kCosts.size()> kCostWords = {
    {{"uses", "energy", "energy", "energy_j"},
     {"takes", "time", "time", "wall_s"},
     {"draws", "power", "mean power", "mean_w"},
     {"uses", "CPU time", "CPU time", "cpu_s"},
     {"needs", "memory", "peak memory", "peak_rss_bytes"}}};

constexpr const CostWords& words_of_cost(Cost cost) noexcept { return entry_of(kCostWords, cost); }

/// The values of a cost, and what is known of their errors, where anything is.
struct CostValues {
  std::vector<double> values;
  std::vector<double> uncertainties;  ///< k = 2
  std::vector<double> errors;         ///< by chance; k = 1
  std::vector<double> common;

  void add(Cost cost, const RunCost& run, double value) {
    values.push_back(value);
    if (cost != Cost::energy && cost != Cost::power) return;
    if (!run.energy || !run.uncertainty || run.energy->si() <= 0.0) return;
    // Power is energy by time, which is exact beside it.
    const double scale = value / run.energy->si();
    const double whole = run.uncertainty->si();
    const double comes_back = std::clamp(run.common.value_or(Joules(0.0)).si(), -whole, whole);
    // Where all of it is common, nobody knows how much is by chance.
    const double by_chance =
        std::abs(comes_back) < whole ? std::sqrt(whole * whole - comes_back * comes_back) : whole;
    uncertainties.push_back(scale * whole);
    errors.push_back(scale * by_chance / 2.0);
    common.push_back(scale * comes_back);
  }
  [[nodiscard]] bool has_errors() const noexcept { return errors.size() == values.size(); }
  [[nodiscard]] Series series() const {
    return has_errors() ? Series{values, errors, common} : Series{values};
  }
};

bool are_positive(const CostValues& of) {
  return !of.values.empty() && std::ranges::all_of(of.values, [](double value) {
    return value > 0.0 && std::isfinite(value);
  });
}

/// True if `cost` of these runs would be that of the large ones alone: a small peak is unknown.
bool is_biased(Cost cost, std::span<const RunCost> runs) {
  return cost == Cost::memory && !std::ranges::all_of(runs, [](const RunCost& run) {
           return run.peak_rss_bytes.has_value();
         });
}

CostValues all_values(Cost cost, std::span<const RunCost> runs) {
  CostValues values;
  if (is_biased(cost, runs)) return values;
  for (const RunCost& run : runs) {
    if (const auto value = value_of(cost, run)) values.add(cost, run, *value);
  }
  return values;
}

/// In the order in which the runs were made.
std::vector<double> values_in_time(Cost cost, std::span<const RunCost> runs) {
  std::vector<const RunCost*> ordered;
  ordered.reserve(runs.size());
  for (const RunCost& run : runs) ordered.push_back(&run);
  std::ranges::stable_sort(ordered, {}, &RunCost::started_unix_s);
  std::vector<double> values;
  for (const RunCost* const run : ordered) {
    if (const auto value = value_of(cost, *run)) values.push_back(*value);
  }
  return values;
}

/// Why runs that did not take turns show nothing of their commands; empty: nothing is against it.
/// What differs may be the machine then, which was not the same for both.
std::string doubt_of(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr const char* kRemedy = "let the commands take turns: wattle bench";
  for (const auto& drift : {drift_of(a), drift_of(b), drift_of(a, b)}) {
    if (!drift) continue;
    return fmt::format(
        "runs change by {:+.1f} % from the first to the last, which may be the "
        "machine; {}",
        100.0 * *drift, kRemedy);
  }
  for (const auto& echo : {echo_of(a), echo_of(b)}) {
    if (!echo) continue;
    return fmt::format(
        "each run resembles the one before it (correlation {:.2f}), which may be "
        "the machine; {}",
        *echo, kRemedy);
  }
  return {};
}

/// Those of the rounds in which both are known, in the same order.
std::pair<CostValues, CostValues> values_by_round(Cost cost, std::span<const RunCost> a,
                                                  std::span<const RunCost> b) {
  std::pair<CostValues, CostValues> values;
  if (is_biased(cost, a) || is_biased(cost, b)) return values;
  std::map<std::size_t, const RunCost*> rounds;
  for (const RunCost& run : a) rounds.emplace(run.round, &run);
  for (const RunCost& run : b) {
    const auto partner = rounds.find(run.round);
    if (partner == rounds.end()) continue;
    const auto value_a = value_of(cost, *partner->second);
    const auto value_b = value_of(cost, run);
    if (!value_a || !value_b) continue;
    values.first.add(cost, *partner->second, *value_a);
    values.second.add(cost, run, *value_b);
  }
  return values;
}

}  // namespace

RunCost cost_of(const Report& report) {
  const Total& total = report.energy.total;
  RunCost cost{.round = 0,
               .started_unix_s = report.started_unix_s,
               .wall = report.wall,
               .energy = total.energy,
               .energy_unknown = total.unknown,
               .energy_flags = total.flags,
               .mean_power = total.mean,
               .cpu_user = report.usage.cpu_user,
               .cpu_system = report.usage.cpu_system,
               .peak_rss_bytes = report.usage.peak_rss_bytes,
               .other_cores = cores_of_others(report),
               .code = report.exit.code,
               .signal = report.exit.signal};
  if (total.energy) {
    cost.uncertainty = total.uncertainty;
    cost.common = total.common;
  }
  const auto& mpi = report.mpi;
  if (mpi && mpi->rank && mpi->size.value_or(1) > 1) {
    cost.ranks = {*mpi->rank};
    cost.rank_count = mpi->size;
  }
  for (const DomainFigure& domain : report.energy.domains) {
    const bool is_part = counts_in_total(domain.domain.kind()) && domain.figure.energy;
    if (is_part) cost.energy_domains.push_back(domain.domain.name());
  }
  return cost;
}

std::string_view name_of(Cost cost) noexcept { return words_of_cost(cost).name; }

std::string_view key_of(Cost cost) noexcept { return words_of_cost(cost).key; }

std::optional<double> value_of(Cost cost, const RunCost& run) noexcept {
  const bool is_whole = run.missing_domains.empty() && !is_mostly_bound(run);
  if (run.lacks_ranks) return std::nullopt;
  switch (cost) {
    case Cost::energy:
      return run.energy && is_whole ? std::optional(run.energy->si()) : std::nullopt;
    case Cost::time:
      return run.wall.count();
    case Cost::power:
      return run.mean_power && is_whole ? std::optional(run.mean_power->si()) : std::nullopt;
    case Cost::cpu:
      if (!run.cpu_user || !run.cpu_system) return std::nullopt;
      return (*run.cpu_user + *run.cpu_system).count();
    case Cost::memory:
      break;
  }
  if (!run.peak_rss_bytes) return std::nullopt;
  return static_cast<double>(*run.peak_rss_bytes);
}

std::vector<double> values_of(Cost cost, std::span<const RunCost> runs) {
  return all_values(cost, runs).values;
}

std::optional<Summary> summary_of(Cost cost, std::span<const RunCost> runs) {
  const CostValues values = all_values(cost, runs);
  if (values.values.empty()) return std::nullopt;
  return summarize(values.values, values.has_errors()
                                      ? std::span<const double>(values.uncertainties)
                                      : std::span<const double>());
}

std::string text_of(Cost cost, double value) {
  switch (cost) {
    case Cost::energy:
      return to_text(Joules(value));
    case Cost::power:
      return to_text(Watts(value));
    case Cost::memory:
      return bytes_to_text(static_cast<std::uint64_t>(std::max(value, 0.0)));
    case Cost::time:
    case Cost::cpu:
      break;
  }
  if (value >= 1.0) return to_text(Seconds(value));
  const double ms = value * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms < 10.0 ? 3 : ms < 100.0 ? 2 : 1);
}

Comparison compare(Cost cost, std::span<const RunCost> a, std::span<const RunCost> b,
                   bool in_rounds) {
  Comparison comparison{.cost = cost, .ratio = {}, .is_paired = in_rounds};
  const auto [of_a, of_b] =
      in_rounds ? values_by_round(cost, a, b) : std::pair(all_values(cost, a), all_values(cost, b));
  if (!are_positive(of_a) || !are_positive(of_b)) return comparison;
  if (!in_rounds) comparison.doubt = doubt_of(values_in_time(cost, a), values_in_time(cost, b));
  comparison.ratio = in_rounds ? paired_log_ratio(of_a.series(), of_b.series())
                               : unpaired_log_ratio(of_a.series(), of_b.series());
  if (!comparison.doubt.empty()) comparison.ratio->interval.reset();
  if (auto& interval = comparison.ratio->interval) {
    interval->low -= unknown_excess(cost, a);
    interval->high += unknown_excess(cost, b);
  }
  return comparison;
}

std::string sentence_of(const Comparison& comparison, std::string_view a, std::string_view b) {
  if (!comparison.ratio) return {};
  const LogRatio& ratio = *comparison.ratio;
  const auto& [verb, noun, name, key] = words_of_cost(comparison.cost);
  const double change = change_of(ratio.estimate);
  const char* const more = change < 0.0 ? "less" : "more";
  if (!comparison.doubt.empty()) {
    return fmt::format("{} and {}: nothing is claimed about {}: {}", a, b, name, comparison.doubt);
  }
  if (!ratio.interval) {
    return fmt::format("{} {} {} % {} {} than {} in one run each; there is no interval for one run",
                       b, verb, percent_text(std::abs(change)), more, noun, a);
  }
  const double low = change_of(ratio.interval->low);
  const double high = change_of(ratio.interval->high);
  std::string text;
  if (ratio.is_shown()) {
    const auto [least, most] = std::minmax({std::abs(low), std::abs(high)});
    text = fmt::format("{} {} {} % {} {} than {} (95 %: {} to {})", b, verb,
                       percent_text(std::abs(change)), more, noun, a, percent_text(least),
                       percent_text(most));
  } else {
    text = fmt::format("{} and {}: no difference in {} shown (95 %: {} to {} %)", a, b, name,
                       percent_text(low), percent_text(high));
    if (const auto resolution = resolution_of(ratio)) {
      text += fmt::format("; {} would show one of {:g} %",
                          counted(resolution->more_runs, "more run"), 100.0 * resolution->change);
    }
  }
  if (ratio.outliers > 0) {
    text += fmt::format("; {} of {} runs {} far from the others, which makes the interval wide",
                        ratio.outliers, ratio.outliers_of, ratio.outliers == 1 ? "is" : "are");
  }
  return text;
}

std::string change_text(const LogRatio& ratio) {
  const auto percent = [](double log_ratio) { return percent_of(change_of(log_ratio)); };
  std::string text = fmt::format("{:+.1f} %", percent(ratio.estimate));
  if (const auto& interval = ratio.interval) {
    text += fmt::format(" ({:+.1f} to {:+.1f})", percent(interval->low), percent(interval->high));
  }
  return text;
}

}  // namespace wattle
