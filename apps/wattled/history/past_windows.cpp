#include "history/past_windows.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include "devices/power_slots.hpp"
#include "sampling/integrate.hpp"

namespace wattle::daemon {
namespace {

/// A window without known energy.
EnergyFigure unknown_energy(TimePoint begin, TimePoint end) {
  EnergyFigure figure;
  figure.unknown = Seconds(end - begin);
  figure.flags.set(Flag::gap);
  return figure;
}

/// Slots start at whole Unix seconds.
constexpr SlotGrid kStoredGrid{.origin = TimePoint{}};

/// As in the present run.
std::vector<ColumnPower> era_columns(const PastEra& era, const TimeColumns& columns) {
  if (era.slots && kStoredGrid.holds(columns)) return era.slots->columns(columns);
  return domain_columns(era.counter(), era.gauges(), columns);
}

}  // namespace

WindowSum past_energy(const std::vector<PastEra>& eras, TimePoint begin, TimePoint end) {
  WindowSum sum;
  TimePoint from = begin;
  for (const PastEra& era : eras) {
    if (era.first > era.last) continue;
    const TimePoint first = std::clamp(era.first, from, end);
    const TimePoint last = std::clamp(era.last, from, end);
    if (last <= first) continue;
    if (first > from) sum.add(unknown_energy(from, first));
    const std::vector<const History*> gauges = era.gauges();
    sum.add(domain_energy(era.counter(), gauges, {.begin = first, .end = last}));
    from = last;
  }
  if (end > from) sum.add(unknown_energy(from, end));
  return sum;
}

void prepare_columns(PastHistory& past) {
  past.for_each_era([](PastEra& era) {
    for (const auto& channel : era.channels) channel->close();
    if (era.first > era.last) return;
    era.sorted_gauges = era.gauges();
    const PowerSource source{.counter = era.counter(), .gauges = era.sorted_gauges};
    const auto kept = static_cast<std::size_t>((era.last - era.first) / SlotGrid::kSlot) + 2;
    const auto slots = std::make_shared<PowerSlots>(source, kStoredGrid, era.first, kept);
    for (std::int64_t end = slots->end() - 1; slots->end() != end;) {
      end = slots->end();
      slots->take();
    }
    era.slots = slots;
  });
}

std::vector<ColumnPower> past_columns(const std::vector<PastEra>& eras,
                                      const TimeColumns& columns) {
  std::vector<ColumnPower> all(columns.count);
  for (const PastEra& era : eras) {
    const std::vector<ColumnPower> found = era_columns(era, columns);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].mean) all[i] = found[i];
    }
  }
  return all;
}

}  // namespace wattle::daemon
