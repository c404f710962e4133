#include "units/unit_book.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "units/unit_time.hpp"

namespace wattle::detail {

namespace {

/// Units that last this number of updates show as they are.
constexpr double kShownUpdates = 10.0;

/// Rounding of cumulative sums is no time.
bool is_unknown(double unknown_s) noexcept { return unknown_s > 1e-9; }

}  // namespace

UnitBook::UnitBook(UnitEvents& events, const UnitTags& tags, std::vector<DividedDomain> domains,
                   const UnitBookOptions& options)
    : events_(events),
      tags_(tags),
      options_(options),
      steps_(options.threads),
      kept_(options.kept_results),
      kept_chains_(options.kept_results, kNoneKept) {
  for (DividedDomain& domain : domains) {
    shares_.emplace_back(std::move(domain), options.idle);
    if (options.lag) shares_.back().set_lag(options.lag->count());
    series_.emplace_back(options.lag);
  }
  weight_s_.resize(shares_.size());
}

void UnitBook::add(std::size_t domain, const UnitReading& reading) {
  shares_[domain].add(reading);
  const MeasuredEnergy& energy = reading.energy;
  const bool is_known = energy.energy && energy.unknown <= Seconds(0);
  series_[domain].add_energy(ns_of(reading.begin), ns_of(reading.end),
                             is_known ? std::optional(energy.energy->si()) : std::nullopt);
}

void UnitBook::settle(const std::function<void(const UnitEnergy&)>& done) {
  done_ = done ? &done : nullptr;
  const std::size_t known = log_.events.size();
  const std::int64_t until_ns = ns_of(events_.drain(log_.events));
  const std::size_t columns = tags_.size();
  if (figures_.size() < columns) {
    figures_.resize(columns);
    ended_.resize(columns);
    for (std::vector<double>& of_domain : weight_s_) of_domain.resize(columns);
  }
  for (std::size_t i = known; i < log_.events.size(); ++i) steps_.note(log_, i);
  // How the load of a thread goes on from its last event is seen the next time.
  const std::uint64_t sampled = log_.first + log_.events.size();
  steps_.sample(log_, until_ns);
  for (; noted_ < sampled; ++noted_) {
    note(log_.events[static_cast<std::size_t>(noted_ - log_.first)]);
  }
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    LoadSeries& series = series_[i];
    series.advance(until_ns);
    shares_[i].set_lag(series.lag_ns());
    shares_[i].divide(log_, until_ns, [this](const UnitEvent& event, const UnitShare& share) {
      add_share(event, share);
    });
  }
  drop_divided_events();
  events_.release(released_);
  released_.clear();
  done_ = nullptr;
}

/// The state of a unit as soon as an event arrives.
void UnitBook::note(const UnitEvent& event) {
  if (event.kind == UnitEvent::EventKind::sample) {
    OpenUnit none;
    return note_loads(event, none);
  }
  if (event.slot >= units_.size()) units_.resize(event.slot + std::size_t{1});
  OpenUnit& unit = units_[event.slot];
  if (event.kind == UnitEvent::EventKind::begin) {
    // A slot's next unit has the next id.
    const UnitId id = unit.id == 0 ? event.slot : unit.id + (UnitId{1} << 32U);
    unit = {.id = id,
            .life = Life::running,
            .tag = event.column,
            .begin_ns = event.at_ns,
            .weight = event.weight,
            .running = ++running_,
            .phase_ns = event.at_ns};
  }
  note_loads(event, unit);
  if (event.kind == UnitEvent::EventKind::end) ++ended_[unit.tag];
  if (event.removes_weight() && event.column != unit.tag) note_phase(event, unit);
  if (event.kind != UnitEvent::EventKind::end) return;
  unit.life = Life::waiting;
  unit.end_ns = event.at_ns;
  unit.work = event.work;
  --running_;
  ++waiting_;
  if (unit.domains > 0) return;
  unit.unknown_s = seconds_of_ns(unit.end_ns - unit.begin_ns);  // nothing is measured
  finish(unit);
}

/// How much of each tag runs from now on, and what has run until now.
void UnitBook::note_loads(const UnitEvent& event, OpenUnit& unit) {
  const bool is_by_thread = event.thread != 0;
  const auto changes =
      is_by_thread ? loads_.pass(event) : std::span<const ThreadLoads::LoadChange>();
  const double cpu_s = is_by_thread ? loads_.per_weight_s(event.thread) : 0.0;
  const double weight = static_cast<double>(event.weight) * kWeightStep;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    if (!shares_[i].takes_part(event)) continue;
    if (event.kind == UnitEvent::EventKind::begin) ++unit.domains;
    const bool is_by_cpu = shares_[i].is_by_thread(event);
    if (is_by_cpu) {
      for (const auto& change : changes) series_[i].add(event.at_ns, change.column, change.weight);
    } else {
      series_[i].add(event.at_ns, event.column, event.weight_change());
    }
    if (!event.removes_weight()) continue;
    const double ran_s =
        is_by_cpu ? cpu_s - unit.phase_cpu_s : seconds_of_ns(event.at_ns - unit.phase_ns);
    weight_s_[i][event.column] += weight * ran_s;
  }
  if (event.removes_weight() && is_by_thread) {
    unit.cpu_s = unit.cpu_s.value_or(0.0) + weight * (cpu_s - unit.phase_cpu_s);
  }
  if (!event.adds_weight()) return;
  unit.phase_ns = event.at_ns;
  unit.phase_cpu_s = cpu_s;
}

void UnitBook::note_phase(const UnitEvent& event, const OpenUnit& unit) {
  ++ended_[event.column];
  LeftPhase phase{.length_s = seconds_of_ns(event.at_ns - unit.phase_ns)};
  for (const DomainShares& shares : shares_) {
    if (shares.takes_part(event)) ++phase.domains;
  }
  if (phase.domains == 0) return figures_[event.column].add_unknown();
  phases_.emplace(std::pair(event.at_ns, event.slot), phase);
}

void UnitBook::add_share(const UnitEvent& event, const UnitShare& share) {
  OpenUnit& unit = units_[event.slot];
  unit.joules += share.joules;
  unit.variance_j2 += share.variance_j2;
  if (event.column != unit.tag) add_to_phase(event, share);
  if (event.kind != UnitEvent::EventKind::end) return;
  unit.unknown_s = std::max(unit.unknown_s, share.unit_unknown_s);
  unit.is_short |= share.is_short;
  if (--unit.domains == 0) finish(unit);
}

void UnitBook::add_to_phase(const UnitEvent& event, const UnitShare& share) {
  const auto found = phases_.find(std::pair(event.at_ns, event.slot));
  if (found == phases_.end()) return;
  LeftPhase& phase = found->second;
  phase.joules += share.joules;
  phase.unknown_s = std::max(phase.unknown_s, share.unknown_s);
  if (--phase.domains > 0) return;
  if (is_unknown(phase.unknown_s)) {
    figures_[event.column].add_unknown();
  } else {
    figures_[event.column].add_phase(event.at_ns, phase.joules, phase.length_s);
  }
  phases_.erase(found);
}

void UnitBook::finish(OpenUnit& unit) {
  TagFigures& figures = figures_[unit.tag];
  if (is_unknown(unit.unknown_s)) {
    figures.add_unknown();
  } else {
    figures.add({.end_ns = unit.end_ns,
                 .joules = unit.joules,
                 .length_s = seconds_of_ns(unit.end_ns - unit.begin_ns),
                 .work = unit.work,
                 .running = unit.running});
    if (unit.is_short) figures.add_short();
  }
  if (options_.traces != nullptr) unit.trace = options_.traces->take(unit.id);
  unit.life = Life::none;
  --waiting_;
  released_.push_back(unit.id);
  keep(unit);
  if (done_ != nullptr) (*done_)(energy_of(unit));
}

void UnitBook::drop_divided_events() {
  std::uint64_t next = log_.first + log_.events.size();
  next = std::min(next, noted_);
  for (const DomainShares& shares : shares_) next = std::min(next, shares.next_event());
  const std::uint64_t divided = next - log_.first;
  // Moving the rest costs as much as it is long.
  if (divided < log_.events.size() / 2) return;
  log_.events.erase(log_.events.begin(),
                    log_.events.begin() + static_cast<std::ptrdiff_t>(divided));
  log_.first = next;
}

std::size_t UnitBook::chain_of(UnitId unit) const noexcept {
  return (unit * 0x9E3779B97F4A7C15U >> 32U) % kept_chains_.size();
}

void UnitBook::keep(const OpenUnit& unit) {
  const auto place = static_cast<std::uint32_t>(next_kept_);
  next_kept_ = (next_kept_ + 1) % kept_.size();
  KeptUnit& kept = kept_[place];
  if (kept.unit.id != 0) {
    std::uint32_t* link = &kept_chains_[chain_of(kept.unit.id)];
    while (*link != place) link = &kept_[*link].next;
    *link = kept.next;
  }
  std::uint32_t& first = kept_chains_[chain_of(unit.id)];
  kept = {.unit = unit, .next = first};
  first = place;
}

const UnitBook::OpenUnit* UnitBook::kept(UnitId unit) const noexcept {
  for (std::uint32_t place = kept_chains_[chain_of(unit)]; place != kNoneKept;
       place = kept_[place].next) {
    if (kept_[place].unit.id == unit) return &kept_[place].unit;
  }
  return nullptr;
}

UnitState UnitBook::state(UnitId unit) const {
  const std::uint32_t slot = slot_of(unit);
  if (unit != 0 && slot < units_.size() && units_[slot].id == unit) {
    if (units_[slot].life == Life::running) return UnitState::running;
    if (units_[slot].life == Life::waiting) return UnitState::waiting;
  }
  return unit != 0 && kept(unit) != nullptr ? UnitState::done : UnitState::forgotten;
}

std::optional<UnitEnergy> UnitBook::result(UnitId unit) const {
  if (state(unit) != UnitState::done) return std::nullopt;
  return energy_of(*kept(unit));
}

UnitEnergy UnitBook::energy_of(const OpenUnit& unit) const {
  UnitEnergy energy{.id = unit.id,
                    .tag = tags_.name(unit.tag).name,
                    .begin = time_of_ns(unit.begin_ns),
                    .end = time_of_ns(unit.end_ns),
                    .weight = static_cast<double>(unit.weight) * kWeightStep,
                    .work = unit.work};
  if (unit.trace) energy.traceparent = traceparent_text(*unit.trace);
  if (unit.cpu_s) energy.cpu_time = Seconds(*unit.cpu_s);
  const double length_s = seconds_of_ns(unit.end_ns - unit.begin_ns);
  const bool has_gap = is_unknown(unit.unknown_s);
  if (has_gap) {
    energy.energy.unknown = Seconds(std::min(unit.unknown_s, length_s));
    energy.energy.flags.set(Flag::gap);
  }
  if (!has_gap || unit.unknown_s < length_s * (1.0 - 1e-6)) {
    energy.energy.energy = Joules(unit.joules);
    energy.energy.uncertainty = Joules(std::sqrt(unit.variance_j2));
  }
  if (unit.is_short) energy.energy.flags.set(Flag::short_window);
  return energy;
}

SumDoubt UnitBook::doubt() const {
  double joules = 0.0;
  double measured_j2 = 0.0;
  double idle_j = 0.0;
  double spilled_j = 0.0;
  double interval_s = 0.0;
  for (const DomainShares& shares : shares_) {
    const DomainShares::ShareDoubt part = shares.doubt();
    joules += part.joules;
    measured_j2 += part.measured_j2;
    idle_j += part.idle_j;
    spilled_j += std::max(0.0, part.spilled_j);
    interval_s = std::max(interval_s, part.mean_interval_s);
  }
  if (!(joules > 0.0)) return {.relative = 1.0};
  return {.relative = std::hypot(std::sqrt(measured_j2), idle_j) / joules,
          .spilled = spilled_j / joules,
          .block_s = kShownUpdates * interval_s};
}

UnitsReport UnitBook::report() const {
  UnitsReport report{.running = events_.running(),
                     .waiting = waiting_,
                     .ended_twice = UnitEvents::ended_twice(),
                     .refused = events_.refused(),
                     .beyond_tags = tags_.beyond()};
  std::vector<LoadFit> fits;
  double overlap = 0.0;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    fits.push_back(series_[i].fit());
    report.domains.push_back(domain_report(i, fits.back()));
    overlap = std::max(overlap, shares_[i].doubt().mean_running);
  }
  const SumDoubt sum_doubt = doubt();
  const auto add = [&](std::uint16_t column) {
    UnitTag tag = figures_[column].summary(sum_doubt);
    const UnitTags::Name& name = tags_.name(column);
    tag.tag = name.of ? tags_.name(*name.of).name : name.name;
    if (name.of) tag.phase = name.name;
    if (overlap < 2.0 && tag.mean_time.count() < sum_doubt.block_s) tag.is_short = true;
    if (tag.count > 0) add_fit(tag, column, fits);
    report.tags.push_back(std::move(tag));
  };
  const auto add_with_phases = [&](std::size_t column) {
    add(static_cast<std::uint16_t>(column));
    for (std::size_t j = 0; j < figures_.size(); ++j) {
      if (tags_.name(static_cast<std::uint16_t>(j)).of == column)
        add(static_cast<std::uint16_t>(j));
    }
  };
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    if (i == UnitTags::kOther || tags_.name(static_cast<std::uint16_t>(i)).of) continue;
    add_with_phases(i);
  }
  // Last, so that a tag keeps its place when there come to be too many.
  if (!figures_.empty() && figures_[UnitTags::kOther].has_units()) {
    add_with_phases(UnitTags::kOther);
  }
  report.contrasts = contrasts(fits);
  return report;
}

}  // namespace wattle::detail
