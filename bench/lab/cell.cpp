#include "lab/cell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lab/estimators.hpp"
#include "lab/random.hpp"

namespace wattle::lab {
namespace {

constexpr std::size_t kQuantiles = 201;

/// What one way said, trial by trial. Errors and half-widths are parts of the true energy.
struct Record {
  std::vector<double> errors;
  std::vector<double> half_widths;
  int covered = 0;
  int disagrees = 0;
  int partial_coverage = 0;
  int coverage_unknown = 0;
  int gap = 0;
  double most_beside = 0.0;
  int far_off_beside = 0;
  int noticed_beside = 0;

  void add(const Estimate& estimate, double true_j) {
    if (!estimate.energy_j || true_j <= 0.0) return;
    const double error_j = *estimate.energy_j - true_j;
    errors.push_back(error_j / true_j);
    disagrees += estimate.flags.has(Flag::disagrees) ? 1 : 0;
    partial_coverage += estimate.flags.has(Flag::partial_coverage) ? 1 : 0;
    coverage_unknown += estimate.flags.has(Flag::coverage_unknown) ? 1 : 0;
    gap += estimate.flags.has(Flag::gap) ? 1 : 0;
    if (estimate.energy_beside_j && !estimate.flags.has(Flag::disagrees)) {
      most_beside = std::max(most_beside, std::abs(*estimate.energy_beside_j - true_j) / true_j);
    }
    if (estimate.energy_beside_j) {
      constexpr double kCalibration = 0.05;  // as best_energy takes it
      const double allowed_j = estimate.half_width_j.value_or(0.0) + estimate.half_width_beside_j +
                               kCalibration * true_j;
      const bool is_far_off = std::abs(*estimate.energy_beside_j - true_j) > allowed_j;
      far_off_beside += is_far_off ? 1 : 0;
      noticed_beside += is_far_off && estimate.flags.has(Flag::disagrees) ? 1 : 0;
    }
    if (!estimate.half_width_j) return;
    half_widths.push_back(*estimate.half_width_j / true_j);
    covered += std::abs(error_j) <= *estimate.half_width_j + kRounding * true_j ? 1 : 0;
  }
};

/// The value below which the given part of an ascending range lies.
double quantile(const std::vector<double>& ascending, double part) noexcept {
  const double place = part * static_cast<double>(ascending.size() - 1);
  return ascending[static_cast<std::size_t>(std::llround(place))];
}

Errors errors_of(const std::vector<double>& errors) {
  double sum = 0.0;
  double squares = 0.0;
  std::vector<double> sizes;
  sizes.reserve(errors.size());
  for (const double error : errors) {
    sum += error;
    squares += error * error;
    sizes.push_back(std::abs(error));
  }
  std::ranges::sort(sizes);
  const auto count = static_cast<double>(errors.size());
  return {.bias = sum / count,
          .rms = std::sqrt(squares / count),
          .p95 = quantile(sizes, 0.95),
          .most = sizes.back()};
}

WayResult summarize(std::string_view way, Record record, int trials) {
  WayResult result{.way = way};
  if (record.errors.empty()) return result;
  const auto count = static_cast<double>(record.errors.size());
  result.found = count / trials;
  std::ranges::sort(record.errors);
  result.errors = errors_of(record.errors);
  const std::size_t points = std::min(kQuantiles, record.errors.size());
  for (std::size_t i = 0; i < points; ++i) {
    const double part = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 0.5;
    result.quantiles.push_back(quantile(record.errors, part));
  }
  if (record.half_widths.empty()) return result;
  std::ranges::sort(record.half_widths);
  result.claims = {.median_half_width = quantile(record.half_widths, 0.5),
                   .coverage = static_cast<double>(record.covered) / trials,
                   .disagrees = record.disagrees / count,
                   .partial_coverage = record.partial_coverage / count,
                   .coverage_unknown = record.coverage_unknown / count,
                   .gap = record.gap / count,
                   .most_beside = record.most_beside,
                   .far_off_beside = record.far_off_beside / count,
                   .noticed_beside = record.far_off_beside > 0
                                         ? static_cast<double>(record.noticed_beside) /
                                               static_cast<double>(record.far_off_beside)
                                         : 0.0};
  return result;
}

std::string scenario_of(const Cell& cell) {
  return fmt::format("{}, {}, {}", cell.machine.name, cell.load.name, length_text(cell.window_s));
}

std::uint64_t seed_of(const Cell& cell, std::uint64_t seed) {
  for (const char c : scenario_of(cell)) seed = hash(seed, static_cast<unsigned char>(c));
  return seed;
}

}  // namespace

std::string Cell::name() const { return fmt::format("{}, {}", mode, scenario_of(*this)); }

bool Cell::is_hidden() const {
  const bool counter_sees = machine.counter && !machine.counter_is_fed;
  if (!machine.gauge || counter_sees) return false;
  const double update_s = machine.gauge->update.mean_s;
  if (machine.gauge->window_s >= update_s || machine.gauge->time_constant_s > 0.0) return false;
  constexpr double kNear = 0.1;
  constexpr double kMost = 0.5;
  return load.shape.variance_at_multiples(update_s, kNear) > kMost;
}

double Cell::most_if_hidden(double true_mean_w) const noexcept {
  return std::max(load.shape.highest_w() / true_mean_w - 1.0,
                  1.0 - load.shape.lowest_w() / true_mean_w);
}

std::string length_text(double seconds) {
  if (seconds < 1.0) return fmt::format("{:g} ms", seconds * 1e3);
  return fmt::format("{:g} s", seconds);
}

CellResult run_cell(const Cell& cell, const TrialOptions& options) {
  std::vector<const Way*> ways;
  const Way* const mode = find_mode(cell.mode);
  if (mode != nullptr) ways.push_back(mode);
  for (const Way& way : common_ways()) {
    if (options.common_ways && can_use(way, cell.machine)) ways.push_back(&way);
  }

  std::vector<Record> records(ways.size());
  double true_sum_j = 0.0;
  const std::uint64_t cell_seed = seed_of(cell, options.seed);
  for (int trial = 0; trial < options.trials; ++trial) {
    Random random(hash(cell_seed, static_cast<std::uint64_t>(trial)));
    const double length_s = cell.window_s * (1.0 + cell.variation * random.uniform(-1.0, 1.0));
    const std::uint64_t world_seed = random.bits();
    for (std::size_t i = 0; i < ways.size(); ++i) {
      World world(cell.machine, cell.load, world_seed);
      const Estimate estimate = ways[i]->estimate(world, length_s);
      const double true_j = world.energy_j(estimate.begin, estimate.end);
      records[i].add(estimate, true_j);
      if (i == 0) true_sum_j += true_j;
    }
  }

  CellResult result{.true_mean_j = true_sum_j / options.trials};
  for (std::size_t i = 0; i < ways.size(); ++i) {
    WayResult summary = summarize(ways[i]->name, std::move(records[i]), options.trials);
    if (ways[i] == mode) {
      result.wattle = std::move(summary);
    } else {
      result.common.push_back(std::move(summary));
    }
  }
  return result;
}

std::optional<double> width_ratio(const WayResult& result) noexcept {
  if (!result.claims || result.errors.p95 <= kRounding) return std::nullopt;
  return result.claims->median_half_width / result.errors.p95;
}

}  // namespace wattle::lab
