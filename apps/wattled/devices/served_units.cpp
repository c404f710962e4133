#include "devices/served_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/marks.hpp"
#include "sensors/domain_traits.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

constexpr std::chrono::seconds kReportAge{1};

Mark start_of(const StartedUnit& unit) {
  return {.kind = MarkKind::unit,
          .name = unit.tag,
          .id = unit.id,
          .number = unit.weight,
          .trace = unit.trace};
}

}  // namespace

ServedUnits::ServedUnits(EnergyHistory& history, Loop& loop)
    : history_(history),
      loop_(loop),
      pace_(loop, EnergyHistory::kPeriod, [this] { tick(); }),
      // Milliseconds, so that a daemon that is restarted goes on with higher ones.
      first_id_(static_cast<std::uint64_t>(std::max(0.0, to_unix(loop.now()) * 1e3))) {}

std::string ServedUnits::make_id() { return fmt::format("{}-{}", first_id_, ++ids_); }

void ServedUnits::begin() {
  const TimePoint now = loop_.now();
  std::vector<detail::SharedDomain> shared;
  for (const DomainFigure& energy : history_.energies(now, now)) {
    if (!counts_in_total(energy.domain.kind())) continue;
    // Windows of a history that forgets start at the one before, and not at the first unit.
    shared.push_back(
        {.place = domains_.size(), .domain = energy.domain, .is_slow = true, .is_counter = false});
    domains_.push_back(energy.domain);
  }
  units_ = std::make_unique<detail::MarkedUnits>(
      std::move(shared),
      [this](std::size_t place, TimePoint from, TimePoint to) {
        return energy_of(place, from, to);
      },
      [](std::size_t) { return std::optional<TimePoint>(); }, now, done_);
  since_unix_s_ = to_unix(now);
  reported_ = now - 2 * kReportAge;
  pace_.start();
}

MeasuredEnergy ServedUnits::energy_of(std::size_t place, TimePoint begin, TimePoint end) {
  if (window_ != std::pair(begin, end)) {
    energies_ = history_.energies(begin, end);
    window_ = {begin, end};
  }
  const auto found = std::ranges::find(energies_, domains_[place], &DomainFigure::domain);
  if (found == energies_.end()) return {.unknown = end - begin};
  return found->figure.measured();
}

ServedUnits::UnitStart ServedUnits::start(const StartedUnit& unit) {
  if (!units_) begin();
  const Name name(unit.tag, unit.id);
  if (deadlines_.contains(name)) return UnitStart::runs_already;
  if (deadlines_.size() >= kMostRunning) return UnitStart::full;
  if (!units_->take(start_of(unit), loop_.now())) return UnitStart::invalid;
  const TimePoint deadline = loop_.now() + unit.timeout;
  deadlines_.emplace(name, deadline);
  overdue_.emplace(deadline, name);
  return UnitStart::started;
}

bool ServedUnits::end(const std::string& tag, const std::string& id, double work) {
  const auto found = deadlines_.find(Name(tag, id));
  if (found == deadlines_.end()) return false;
  const auto [first, last] = overdue_.equal_range(found->second);
  const auto same =
      std::find_if(first, last, [&](const auto& unit) { return unit.second == found->first; });
  if (same != last) overdue_.erase(same);
  deadlines_.erase(found);
  return units_->take({.kind = MarkKind::unit_end, .name = tag, .id = id, .number = work},
                      loop_.now());
}

void ServedUnits::end_overdue() {
  while (!overdue_.empty() && overdue_.begin()->first <= loop_.now()) {
    const Name name = overdue_.begin()->second;
    (void)end(name.first, name.second, 0.0);
    ++timed_out_;
  }
}

void ServedUnits::tick() {
  end_overdue();
  units_->read(loop_.now());
}

const UnitsReport& ServedUnits::report() {
  if (units_ && loop_.now() - reported_ >= kReportAge) {
    report_ = units_->report();
    reported_ = loop_.now();
  }
  return report_;
}

}  // namespace wattle::daemon
