#include "sampling/measured_window.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers/known_sum.hpp"

namespace wattle {

MeasuredWindow::MeasuredWindow(Readings& readings, bool is_of_work)
    : readings_(readings),
      is_of_work_(is_of_work),
      shown_(readings.no_capture()),
      interval_began_(readings.clock().now()) {
  for (const Domain& domain : readings.domains()) parts_.push_back({.domain = domain});
}

void MeasuredWindow::read(bool ends_interval) noexcept {
  readings_.read(shown_);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    DomainWindow& part = parts_[i];
    if (readings_.may_block(i)) continue;
    // Where it failed the window ends with what was read last.
    if (shown_.domains[i].counter) part.last = shown_.domains[i].counter;
    if (!has_begun_) part.first = part.interval_begin = part.last;
  }
  has_begun_ = true;
  if (ends_interval) end_interval(readings_.clock().now(), IntervalKind::whole);
}

void MeasuredWindow::end_rest(TimePoint at) noexcept { end_interval(at, IntervalKind::rest); }

void MeasuredWindow::end_interval(TimePoint at, IntervalKind interval) noexcept {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    DomainWindow& part = parts_[i];
    EnergyWindow window{.begin = interval_began_, .end = at};
    const bool is_counted = readings_.counter(i) != nullptr && !readings_.may_block(i);
    if (is_counted) {
      window.last = shown_.domains[i].counter;
      window.first = std::exchange(part.interval_begin, window.last);
    }
    part.interval = window;
    const bool is_read = !is_counted || (window.first && window.last);
    const MeanPower mean = is_read ? readings_.mean_power(i, window) : MeanPower();
    if (mean.power || mean.is_stuck()) part.is_stuck = mean.is_stuck();
    if (interval == IntervalKind::whole) {
      if (part.intervals.add(mean.power)) part.highest = window;
    } else {
      part.intervals.add_rest(mean.power);
    }
  }
  interval_began_ = at;
}

bool MeasuredWindow::read_lanes(TimePoint deadline, Lanes lanes) {
  const bool all = readings_.read_lanes(shown_, deadline, lanes);
  lanes_read_at_ = readings_.clock().now();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    DomainWindow& part = parts_[i];
    if (!readings_.may_block(i)) continue;
    part.last = shown_.domains[i].counter;
    if (!lanes_have_begun_) part.first = part.last;
    part.is_late = part.is_late || !shown_.domains[i].has_answered;
  }
  if (!lanes_have_begun_) interval_began_ = readings_.clock().now();
  lanes_have_begun_ = true;
  return all;
}

std::optional<Watts> MeasuredWindow::interval_power() const noexcept {
  KnownSum<Watts> sum;
  for (const DomainWindow& part : parts_) {
    if (counts_in_total(part.domain.kind()) && !part.is_stuck) sum.add(part.intervals.last());
  }
  return sum.value();
}

std::optional<Watts> MeasuredWindow::interval_power(const Domain& domain) const noexcept {
  const auto found = std::ranges::find(parts_, domain, &DomainWindow::domain);
  return found == parts_.end() ? std::nullopt : found->intervals.last();
}

std::optional<EnergyFigure> MeasuredWindow::interval_energy(const Domain& domain) const {
  const auto found = std::ranges::find(parts_, domain, &DomainWindow::domain);
  if (found == parts_.end() || !found->interval) return std::nullopt;
  return readings_.energy(static_cast<std::size_t>(found - parts_.begin()), *found->interval);
}

std::optional<Watts> MeasuredWindow::max_uncertainty(std::size_t place) const {
  const DomainWindow& part = parts_[place];
  if (!part.highest || !part.intervals.max()) return std::nullopt;
  const EnergyFigure peak = readings_.energy(place, *part.highest);
  if (!peak.energy || peak.known <= Seconds(0)) return std::nullopt;
  return peak.uncertainty / peak.known;
}

std::vector<DomainFigure> MeasuredWindow::figures(TimePoint begin, TimePoint end) const {
  const auto work_read_until =
      is_of_work_ ? std::optional(lanes_read_at_.value_or(end)) : std::nullopt;
  std::vector<DomainFigure> figures;
  figures.reserve(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const DomainWindow& part = parts_[i];
    EnergyFigure figure = readings_.energy(i, {.begin = begin,
                                               .end = end,
                                               .first = part.first,
                                               .last = part.last,
                                               .work_read_until = work_read_until});
    // The peak of a counter that does not move is not 0.
    if (!figure.flags.has(Flag::stuck)) {
      figure.max = part.intervals.max();
      figure.max_uncertainty = max_uncertainty(i);
    }
    if (part.is_late) figure.flags.set(Flag::late);
    figures.push_back(figure_of(readings_.channel(i), std::move(figure)));
  }
  return figures;
}

std::vector<DomainFigure> MeasuredWindow::figures_within(TimePoint from, TimePoint to) const {
  std::vector<DomainFigure> figures;
  figures.reserve(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const DomainWindow& part = parts_[i];
    EnergyWindow window{.begin = from, .end = to};
    if (part.first && part.first->at + kReadersOwnTime >= from) window.first = part.first;
    if (part.last && part.last->at <= to + kReadersOwnTime) window.last = part.last;
    figures.push_back(figure_of(readings_.channel(i), readings_.energy(i, window)));
  }
  return figures;
}

}  // namespace wattle
