#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <utility>

#include "sampling/counters/fed_counter.hpp"
#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using std::chrono::nanoseconds;

/// Sensors of unknown error are taken to be off by this: NVIDIA states 5 % where it states
/// anything (NVML API Reference, nvmlDeviceGetPowerUsage), and boards were found to be within 8 %,
/// with exceptions (arXiv 2312.02741). Two ways through one board share most of it.
constexpr double kUnstatedCalibration = 0.05;

/// How wrong a figure with an energy can be, what it does not know included.
double combined_uncertainty_j(const EnergyFigure& figure) noexcept {
  const double unknown = figure.unknown / figure.known;
  return std::hypot(figure.uncertainty.si(), figure.energy.value_or(Joules()).si() * unknown);
}

/// A counter does, unless it is known to add up what a gauge shows.
bool covers_all_time(const EnergyFigure& figure) noexcept {
  const double unless_known = figure.method == Method::counter ? 1.0 : 0.0;
  return !misses_time(figure.coverage.value_or(unless_known));
}

bool is_full_counter(const EnergyFigure& figure) noexcept {
  return figure.method == Method::counter && !figure.flags.has(Flag::short_window) &&
         covers_all_time(figure);
}

bool is_nonzero(const EnergyFigure& figure) noexcept { return !figure.flags.has(Flag::zero); }

bool is_whole(const EnergyFigure& figure) noexcept {
  static constexpr double kMostUnknown = 0.01;
  return figure.unknown <= kMostUnknown * figure.known;
}

/// Compares mean powers: each over what its figure knows.
bool disagree(const EnergyFigure& a, const EnergyFigure& b) noexcept {
  if (!a.mean || !b.mean || !is_whole(a) || !is_whole(b)) return false;
  const double a_w = a.mean.value_or(Watts()).si();
  const double b_w = b.mean.value_or(Watts()).si();
  // The sensor's error is independent of when it was read: all three in quadrature.
  const double allowed_w =
      std::hypot((a.uncertainty / a.known).si(), (b.uncertainty / b.known).si(),
                 kUnstatedCalibration * std::max(a_w, b_w));
  return std::abs(a_w - b_w) > allowed_w;
}

/// An average of the power whose filter nobody has described (see `filtered_energy`).
bool is_average(const EnergyFigure& figure) noexcept {
  return figure.metric == Metric::power_average;
}

/// True for a counter or an instant gauge that is preferred to any average: it reports power, all
/// the time.
bool precedes_averages(const EnergyFigure& figure) noexcept {
  return is_nonzero(figure) && is_whole(figure);
}

/// The gauge's value at the start is the power before it.
std::optional<Watts> power_shown(const History& gauge, const EnergyWindow& window) noexcept {
  const auto held = gauge.held(window.first ? window.first->at : window.begin);
  if (!held) return std::nullopt;
  return Watts(gauge.channel().scale() * static_cast<double>(held->raw));
}

AlternativeEnergy alternative_of(const EnergyFigure& figure) noexcept {
  return {.method = figure.method,
          .quantity = figure.quantity,
          .energy = figure.energy,
          .uncertainty = figure.uncertainty,
          .flags = figure.flags};
}

}  // namespace

EnergyFigure best_energy(std::vector<EnergyFigure> figures) {
  EnergyFigure first = figures.front();
  std::vector<AlternativeEnergy> stuck;
  for (const EnergyFigure& figure : figures) {
    if (figure.flags.has(Flag::stuck)) stuck.push_back(alternative_of(figure));
  }
  std::erase_if(figures, [](const EnergyFigure& figure) { return !figure.energy; });
  if (figures.empty()) return first;
  std::ranges::stable_sort(figures, {}, combined_uncertainty_j);
  // A gauge that misses time does not show it in its values, nor in its uncertainty.
  if (std::ranges::any_of(figures, is_full_counter)) {
    std::ranges::stable_partition(figures, covers_all_time);
  }
  const auto first_measured = std::ranges::find_if_not(figures, is_average);
  if (first_measured != figures.end() && precedes_averages(*first_measured)) {
    std::ranges::stable_partition(figures,
                                  [](const EnergyFigure& figure) { return !is_average(figure); });
  }
  bool disagrees = false;
  for (const EnergyFigure& figure : figures) disagrees |= disagree(figures.front(), figure);
  if (disagrees) {
    std::ranges::stable_partition(
        figures, [](const EnergyFigure& figure) { return figure.method == Method::counter; });
  }
  // A dead sensor has a small uncertainty.
  std::ranges::stable_partition(figures, is_nonzero);
  EnergyFigure best = std::move(figures.front());
  if (disagrees) best.flags.set(Flag::disagrees);
  for (const EnergyFigure& other : figures | std::views::drop(1)) {
    best.alternatives.push_back(alternative_of(other));
  }
  // A broken sensor is listed, although another one replaces it.
  std::ranges::move(stuck, std::back_inserter(best.alternatives));
  return best;
}

EnergyFigure domain_energy(const History* counter, std::span<const History* const> gauges,
                           const EnergyWindow& window) {
  std::vector<EnergyFigure> figures;
  if (counter != nullptr) {
    EnergyWindow seen = window;
    if (!gauges.empty()) seen.power_before = power_shown(*gauges.front(), window);
    figures.push_back(counter_energy(*counter, seen));
  }
  for (const History* gauge : gauges) {
    figures.push_back(gauge_energy(*gauge, window.begin, window.end, window.work_read_until));
    if (counter == nullptr || !window.looks_at_feed) continue;
    add_feed(figures.front(), *counter, *gauge, figures.back(), window.end);
  }
  return best_energy(std::move(figures));
}

MeanPower counted_power(const Channel& counter, double ticks, nanoseconds length) noexcept {
  if (length <= nanoseconds(0)) return {.reason = "its counter was not read in this time"};
  if (is_stuck(counter, ticks, length)) return {.reason = kCounterStuck};
  return {.power = Joules(counter.scale() * ticks) / Seconds(length)};
}

MeanPower counted_power(const Channel& counter, const Boundary& first,
                        const Boundary& last) noexcept {
  const auto whole = static_cast<double>(last.ticks - first.ticks);
  return counted_power(counter, whole + last.fraction - first.fraction, last.at - first.at);
}

MeanPower domain_power(const History* counter, std::span<const History* const> gauges,
                       const EnergyWindow& window) noexcept {
  if (counter != nullptr && window.first && window.last) {
    const Condition between = counter->condition(window.first->at, window.last->at);
    if (between.unknown > nanoseconds(0)) return {.reason = kCounterRestarted};
    return counted_power(counter->channel(), *window.first, *window.last);
  }
  for (const History* gauge : gauges) {
    const GaugeWindow held = gauge->gauge_window(window.begin, window.end);
    if (held.known < (window.end - window.begin) / 2 || held.known <= nanoseconds(0)) continue;
    return {.power = Watts(gauge->channel().scale() * held.mean_raw())};
  }
  return {};
}

}  // namespace wattle
