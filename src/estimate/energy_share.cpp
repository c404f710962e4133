#include "estimate/energy_share.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "estimate/machine_power.hpp"

namespace wattle {
namespace {

/// By how much more or less power a load may draw in a second of CPU time than another: by its
/// instructions, the clock of its cores, and whether two of its threads share a core. bench/shares
/// shows what the range holds.
constexpr double kIntensityRatio = 3.2;

/// Two loads in a span of time. One with less than a core's worth of CPU time runs on one core
/// for a part of the time; one with more runs all the time.
struct TwoLoads {
  double own_cores = 0.0;
  double own_time = 0.0;  ///< the part of the time in which it runs
  double other_cores = 0.0;
  double other_time = 0.0;
};

TwoLoads loads_of(Seconds own, Seconds others, Seconds wall) noexcept {
  const auto time = [&](Seconds cpu) { return std::clamp(cpu / wall, 0.0, 1.0); };
  const auto cores = [&](Seconds cpu) { return std::max(cpu / wall, 1.0); };
  return {.own_cores = cores(own),
          .own_time = time(own),
          .other_cores = cores(others),
          .other_time = time(others)};
}

/// The own load's part where power follows cores^exponent: while both run, by the Shapley value,
/// the mean of what it draws alone and of what it adds to the other. `overlap`: the part of the
/// time in which both run.
double shapley_part(const TwoLoads& loads, double exponent, double overlap) noexcept {
  const double own = std::pow(loads.own_cores, exponent);
  const double other = std::pow(loads.other_cores, exponent);
  const double both = std::pow(loads.own_cores + loads.other_cores, exponent);
  const double own_energy = (loads.own_time - overlap) * own + overlap * (own + both - other) / 2.0;
  const double other_energy =
      (loads.other_time - overlap) * other + overlap * (other + both - own) / 2.0;
  return own_energy / (own_energy + other_energy);
}

/// `part` of a load that draws `ratio` times the power of the other in a second of CPU time.
double weighted(double part, double ratio) noexcept {
  return part * ratio / (part * ratio + 1.0 - part);
}

std::int64_t nanojoules(double joules) noexcept {
  constexpr double kMost = 9.0e18;
  return std::llround(std::clamp(joules * 1e9, -kMost, kMost));
}

/// Joules of all spans together.
struct ShareSums {
  double idle = 0.0;
  double command = 0.0;
  double low = 0.0;
  double high = 0.0;
  double unexplained = 0.0;
  double command_part_of_unexplained = 0.0;  ///< the command's part, if none of it were idle
};

Watts lowest_power(std::span<const ShareSpan> spans) noexcept {
  Watts lowest(std::numeric_limits<double>::max());
  for (const ShareSpan& span : spans) {
    if (span.wall > Seconds(0)) lowest = std::min(lowest, span.energy / span.wall);
  }
  return lowest;
}

/// All together drew less than an idle machine draws at least.
bool is_below(std::span<const ShareSpan> spans, Watts idle) noexcept {
  Joules energy;
  Seconds wall{0};
  for (const ShareSpan& span : spans) {
    energy += span.energy;
    wall += span.wall;
  }
  return energy < idle * wall;
}

void add_span(ShareSums& sums, const ShareSpan& span, const IdleRange& bounds, bool is_known) {
  const auto above = [&](Watts idle) {
    return std::max((span.energy - idle * span.wall).si(), 0.0);
  };
  const double idle = std::min((bounds.typical * span.wall).si(), span.energy.si());
  (is_known ? sums.idle : sums.unexplained) += idle;
  const Seconds others =
      std::max(span.busy - span.command - span.wall * bounds.busy_cpus, Seconds(0));
  const auto part = part_of(span.command, others, span.wall);
  if (!part) {
    sums.unexplained += span.energy.si() - idle;
    return;
  }
  sums.command += part->typical * above(bounds.typical);
  sums.low += part->low * above(bounds.high);
  sums.high += part->high * above(bounds.low);
  if (!is_known) sums.command_part_of_unexplained += part->typical * idle;
}

}  // namespace

void ShareMoments::add(const ShareMoment& moment) noexcept {
  if (!moments_.empty() && Seconds(moment.at - moments_.back().at) < apart_) return;
  moments_.push_back(moment);
  if (moments_.size() <= kMost) return;
  // Every second one goes.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < moments_.size(); i += 2) moments_[kept++] = moments_[i];
  moments_.resize(kept);
  apart_ *= 2.0;
}

void ShareMoments::end(const ShareMoment& moment) noexcept {
  if (moments_.size() > 1 && Seconds(moment.at - moments_.back().at) < kShortest) {
    moments_.back() = moment;
  } else if (moments_.size() <= kMost) {
    moments_.push_back(moment);
  }
}

std::optional<PartRange> part_of(Seconds own, Seconds others, Seconds wall) noexcept {
  own = std::max(own, Seconds(0));
  others = std::max(others, Seconds(0));
  if (wall <= Seconds(0) || own + others <= Seconds(0)) return std::nullopt;
  PartRange range{.typical = own / (own + others)};
  range.low = range.high = range.typical;
  if (own <= Seconds(0) || others <= Seconds(0)) return range;
  const TwoLoads loads = loads_of(own, others, wall);
  // Both at the same time as little, by chance, and as much as they can.
  const std::array overlaps = {std::max(loads.own_time + loads.other_time - 1.0, 0.0),
                               loads.own_time * loads.other_time,
                               std::min(loads.own_time, loads.other_time)};
  for (const double exponent : {kHighExponent, 1.0, kLowExponent}) {
    for (const double overlap : overlaps) {
      const double part = std::clamp(shapley_part(loads, exponent, overlap), 0.0, 1.0);
      range.low = std::min(range.low, weighted(part, 1.0 / kIntensityRatio));
      range.high = std::max(range.high, weighted(part, kIntensityRatio));
    }
  }
  return range;
}

ShareBalance balance_of(std::span<const ShareSpan> spans, Joules measured,
                        const std::optional<IdleRange>& baseline) {
  // A baseline that is too high would give the command nothing, for certain.
  const bool is_below_idle = baseline && is_below(spans, baseline->low);
  const std::optional<IdleRange> idle = is_below_idle ? std::nullopt : baseline;
  const Watts lowest = spans.empty() ? Watts(0.0) : lowest_power(spans);
  const IdleRange bounds =
      idle.value_or(IdleRange{.low = Watts(0.0), .typical = lowest, .high = lowest});
  ShareSums sums;
  Joules energy;
  for (const ShareSpan& span : spans) {
    add_span(sums, span, bounds, idle.has_value());
    energy += span.energy;
  }
  // The spans give parts; the sum is what is reported.
  const double scale = energy.si() > 0.0 ? measured / energy : 0.0;
  ShareBalance balance{.measured_nj = nanojoules(measured.si()),
                       .command_nj = nanojoules(sums.command * scale),
                       .unexplained_nj = nanojoules(sums.unexplained * scale),
                       .is_below_idle = is_below_idle};
  if (energy.si() <= 0.0) balance.unexplained_nj = balance.measured_nj;
  if (idle) balance.idle_nj = nanojoules(sums.idle * scale);
  balance.others_nj = balance.measured_nj - balance.idle_nj.value_or(0) - balance.command_nj -
                      balance.unexplained_nj;
  // A remainder of the rounding belongs to no part.
  constexpr std::int64_t kRounding = 4;
  if (std::abs(balance.others_nj) <= kRounding) {
    balance.unexplained_nj += balance.others_nj;
    balance.others_nj = 0;
  }
  // Where idle is not known, half of what may be idle or not is the middle.
  const double typical = sums.command + sums.command_part_of_unexplained / 2.0;
  balance.command = {.low = Joules(std::min(sums.low, typical) * scale),
                     .typical = Joules(typical * scale),
                     .high = Joules(std::max(sums.high, typical) * scale)};
  return balance;
}

}  // namespace wattle
