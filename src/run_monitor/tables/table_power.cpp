#include "run_monitor/tables/table_power.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sampling/integrate.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;

/// The time on a clock that starts with an interval.
TimePoint time_of(std::int64_t since_first_ms) noexcept {
  return TimePoint(milliseconds(since_first_ms));
}

/// The traits of a sensor that a table does not describe.
Channel unknown_gauge(double watts_per_raw) {
  return {.domain = Domain::nvidia_gpu(0),
          .metric = Metric::power_average,
          .gauge = {.scale = watts_per_raw}};
}

}  // namespace

void TablePower::start_or_end(std::int64_t time_ms, const RowGaps::RowGap& gap, const Cell& power) {
  const bool follows = gap.kind == RowGaps::GapKind::usual;
  if (gap.kind == RowGaps::GapKind::pause || (follows && rows_.empty())) {
    sum_.unknown_ms += gap.length_ms;
  }
  // The clock was set back: nobody knows how long ago the row before was, but most are that long.
  if (gap.length_ms < 0) sum_.unknown_ms += gap.usual_ms;
  if (!follows) {
    close(last_ms_);
  } else if (!power.is_number() || rows_.size() >= kMostRows) {
    close(time_ms);
  }
}

void TablePower::note_bridged(const RowGaps::RowGap& gap, double last_w, double change_w,
                              const PossiblePowers& between) noexcept {
  const double bridged_s = static_cast<double>(gap.length_ms - gap.usual_ms) * 1e-3;
  bridged2_s2_ += bridged_s * bridged_s;
  double most_w = std::abs(change_w);
  if (between.are_some) {
    most_w = std::max({most_w, last_w - between.least_w, between.most_w - last_w});
  }
  bridged_j_ += most_w * bridged_s;
}

double TablePower::bridged2_j2() const noexcept {
  if (changes_ == 0) return 0.0;
  // The rows between may have had any power that others have, and the step between the two that are
  // known may have been at any time. Three standard deviations: there are few of them.
  const double change2_w2 = changes2_w2_ / static_cast<double>(changes_);
  return 9.0 * change2_w2 * bridged2_s2_ + bridged_j_ * bridged_j_;
}

void TablePower::close(std::int64_t end_ms) {
  add_stretch(sum_, rows_, end_ms - first_ms_);
  rows_.clear();
}

void TablePower::add_stretch(PowerSum& sum, std::span<const HeldValue> rows,
                             std::int64_t length_ms) {
  if (rows.empty() || length_ms <= 0) return;
  static const Channel gauge = unknown_gauge(kWattsPerRaw);
  const EnergyFigure figure = held_energy(gauge, rows, time_of(length_ms));
  sum.is_known = sum.is_known || figure.energy.has_value();
  sum.energy_j += figure.energy.value_or(Joules()).si();
  sum.errors.add(figure.uncertainty, figure.common);
}

MeasuredEnergy TablePower::energy() const {
  PowerSum sum = sum_;
  add_stretch(sum, rows_, last_ms_ - first_ms_);
  MeasuredEnergy energy{.unknown = Seconds(static_cast<double>(sum.unknown_ms) * 1e-3)};
  if (energy.unknown > Seconds(0)) energy.flags.set(Flag::gap);
  if (!sum.is_known) return energy;
  energy.energy = Joules(sum.energy_j);
  sum.errors.add(Joules(std::sqrt(bridged2_j2())), Joules());
  energy.uncertainty = sum.errors.uncertainty();
  energy.common = sum.errors.common();
  if (sum.energy_j == 0.0) energy.flags.set(Flag::zero);
  return energy;
}

}  // namespace wattle
