#include "units/marked_units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace wattle::detail {
namespace {

/// Tags and phases that are kept apart, as of `WorkUnitsOptions`.
constexpr std::size_t kMostMarkedTags = 256;
/// Readings that are nearer to each other than this are one.
constexpr std::chrono::nanoseconds kPromptStep = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds kSlowStep = std::chrono::milliseconds(100);
/// After that all sensors have shown what was. A mark is received sooner.
constexpr std::chrono::nanoseconds kPatience = std::chrono::seconds(1);

std::vector<DividedDomain> divided(const std::vector<SharedDomain>& domains) {
  std::vector<DividedDomain> parts;
  parts.reserve(domains.size());
  for (const SharedDomain& shared : domains) parts.push_back({.name = shared.domain.name()});
  return parts;
}

}  // namespace

MarkedUnits::MarkedUnits(std::vector<SharedDomain> domains, EnergyOfDomain energy,
                         TimeOfCounter read_at, TimePoint begin, UnitDone done)
    : domains_(std::move(domains)),
      energy_(std::move(energy)),
      read_at_(std::move(read_at)),
      begin_(begin),
      divided_(begin),
      desk_(clock_, kMostMarkedTags),
      book_(desk_.events, desk_.tags, divided(domains_), {.traces = &desk_.traces}),
      reads_(domains_.size(), Reads{.last = begin, .until_last = {.energy = Joules(0.0)}}),
      done_(std::move(done)) {}

bool MarkedUnits::take(const Mark& mark, TimePoint at) {
  clock_.at = std::max(at, divided_);
  return mark.kind == MarkKind::unit ? begin_unit(mark) : end_unit(mark);
}

bool MarkedUnits::begin_unit(const Mark& mark) {
  const auto weight = weight_steps(mark.number);
  const auto [place, is_new] = running_.try_emplace({mark.name, mark.id});
  if (!is_new) return false;
  if (!weight) {
    running_.erase(place);
    return false;
  }
  // Once for each unit: a tag that does not fit in is counted.
  const std::uint16_t column = desk_.tags.column(mark.name);
  const auto started =
      running_.size() <= kMostRunning ? desk_.events.begin(column, *weight, 0) : std::nullopt;
  if (!started) {
    running_.erase(place);
    ++refused_;
    return true;
  }
  if (mark.trace) desk_.traces.keep(started->id, *mark.trace);
  place->second = {.started = *started, .column = column, .weight = *weight};
  return true;
}

bool MarkedUnits::end_unit(const Mark& mark) {
  const auto found = running_.find({mark.name, mark.id});
  if (found == running_.end()) return false;
  const Running& unit = found->second;
  if (done_) ids_.emplace(unit.started.id, mark.id);
  (void)desk_.events.leave({.weight = unit.weight,
                            .work = std::max(0.0, mark.number),
                            .slot = slot_of(unit.started.id),
                            .column = unit.column,
                            .kind = UnitEvent::EventKind::end},
                           unit.started.at_ns);
  running_.erase(found);
  return true;
}

bool MarkedUnits::is_due(std::size_t domain, TimePoint at) const noexcept {
  return at - reads_[domain].newest() >= (domains_[domain].is_slow ? kSlowStep : kPromptStep);
}

bool MarkedUnits::is_due(TimePoint at) const noexcept {
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    if (is_due(i, at)) return true;
  }
  return false;
}

void MarkedUnits::read(TimePoint at) {
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    if (!is_due(i, at)) continue;
    // Where a counter was read its energy is known best.
    const TimePoint read = domains_[i].is_slow ? at : read_at_(domains_[i].place).value_or(at);
    if (read > reads_[i].newest()) reads_[i].next.push_back(read);
  }
  if (at - kPatience > divided_) divide(at - kPatience);
}

/// Energies of counters are differences of those since the start of the run, so that they add up to
/// that of the run, whatever is interpolated.
MeasuredEnergy MarkedUnits::energy_until(std::size_t domain, TimePoint end) {
  Reads& reads = reads_[domain];
  const std::size_t place = domains_[domain].place;
  if (!domains_[domain].is_counter) return energy_(place, reads.last, end);
  const MeasuredEnergy before = reads.until_last;
  const MeasuredEnergy after = energy_(place, begin_, end);
  MeasuredEnergy energy{.unknown = Seconds(end - reads.last)};
  if (before.energy && after.energy) {
    energy.energy = *after.energy - *before.energy;
    energy.uncertainty = std::max(before.uncertainty, after.uncertainty);
    energy.unknown = std::clamp(after.unknown - before.unknown, Seconds(0), energy.unknown);
  }
  if (after.energy) reads.until_last = after;
  return energy;
}

void MarkedUnits::divide(TimePoint until) {
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    Reads& reads = reads_[i];
    const auto end = std::ranges::upper_bound(reads.next, until);
    for (auto at = reads.next.begin(); at != end; ++at) {
      const MeasuredEnergy energy = energy_until(i, *at);
      // A counter that has not moved yet may show by the next reading what was.
      if (!energy.energy && *at - reads.last < kPatience && *at < end_) continue;
      book_.add(i, {.begin = reads.last, .end = *at, .energy = energy});
      reads.last = *at;
    }
    reads.next.erase(reads.next.begin(), end);
  }
  divided_ = std::max(divided_, until);
  clock_.at = divided_;
  book_.settle([this](const UnitEnergy& unit) {
    if (!done_) return;
    const auto id = ids_.extract(unit.id);
    done_(unit, id ? id.mapped() : std::string());
  });
}

UnitsReport MarkedUnits::report() const {
  UnitsReport report = book_.report();
  report.refused += refused_;
  return report;
}

UnitsReport MarkedUnits::end(TimePoint at) {
  end_ = at;
  for (Reads& reads : reads_) {
    if (at > reads.newest()) reads.next.push_back(at);
  }
  // Events at the end itself are in, too.
  divide(std::max(at, clock_.at) + std::chrono::nanoseconds(1));
  return report();
}

}  // namespace wattle::detail
