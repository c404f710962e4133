#include "devices/energy_history.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "history/past_windows.hpp"
#include "sampling/integrate.hpp"
#include "sampling/uncertainty.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {
namespace {

/// At the end there may be many devices that hang.
constexpr std::chrono::milliseconds kDevicePatience{25};

/// The value of a counter, rounded down to a multiple of `quantum`.
Joules rounded_down(const Channel& counter, const Boundary& at, Joules quantum) {
  const Joules shown = (static_cast<double>(at.ticks) + at.fraction) * counter.counter.tick;
  return std::floor(shown / quantum) * quantum;
}

/// The text that distinguishes a device from others of the same name.
std::map<Domain, std::string> devices_of(const std::vector<std::shared_ptr<Sensor>>& sensors) {
  std::map<Domain, std::string> devices;
  for (const std::shared_ptr<Sensor>& sensor : sensors) {
    const DeviceInfo* const info = sensor->device();
    if (info == nullptr) continue;
    for (const Channel& channel : sensor->channels()) {
      devices.try_emplace(channel.domain, info->id.empty() ? info->pci_address : info->id);
    }
  }
  return devices;
}

}  // namespace

EnergyHistory::EnergyHistory(const std::vector<std::shared_ptr<Sensor>>& sensors, Loop& loop,
                             const TimeSource& clock, std::chrono::seconds kept)
    : loop_(loop),
      clock_(clock),
      kept_(kept),
      started_(loop.now()),
      slots_{.origin = from_unix(std::floor(to_unix(loop.now())))},
      pace_(loop, kPeriod, [this] { tick(); }) {
  (void)add_all(sensors);
  pace_.start();
}

std::shared_ptr<Readings> EnergyHistory::add(const std::shared_ptr<Sensor>& device) {
  return add_all({device});
}

std::shared_ptr<Readings> EnergyHistory::add_all(
    const std::vector<std::shared_ptr<Sensor>>& sensors) {
  std::vector<ReadingWork> all;
  for (const std::shared_ptr<Sensor>& sensor : sensors) {
    for (ReadingWork& work : work_of(sensor, {.period = kPeriod})) {
      work.lane.longest_age = kPeriod / 2;
      work.lane.patience = kDevicePatience;
      all.push_back(std::move(work));
    }
  }
  const std::map<Domain, std::string> devices = devices_of(sensors);
  readings_.push_back(std::make_shared<Readings>(std::move(all), clock_));
  const Readings& added = *readings_.back();
  const std::vector<Domain> domains = added.domains();
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const PowerSource source{.counter = added.counter(i), .gauges = added.gauges(i)};
    entries_.push_back({.domain = domains[i],
                        .readings = &added,
                        .place = i,
                        .slots = {source, slots_, loop_.now(),
                                  static_cast<std::size_t>(kept_ / SlotGrid::kSlot) + 1}});
    const auto device = devices.find(domains[i]);
    if (device != devices.end()) entries_.back().device = device->second;
  }
  std::ranges::sort(entries_, {}, &DomainReadings::domain);
  tick();
  return readings_.back();
}

void EnergyHistory::tick() {
  for (const auto& readings : readings_) readings->read();
  for (DomainReadings& entry : entries_) entry.slots.take();
  // The time of a step of the wall clock is the time of the first check that finds it.
  (void)to_unix(loop_.now());
  if (past_ && oldest() > started_) past_.reset();
}

std::vector<DomainFigure> EnergyHistory::energies(TimePoint begin, TimePoint end) {
  if (end > loop_.now() - kPeriod) {
    for (const auto& readings : readings_) readings->read();
  }
  const TimePoint oldest = std::min(std::max(begin, loop_.now() - kept_), end);
  std::vector<DomainFigure> energies;
  for (const DomainReadings& entry : entries_) {
    EnergyFigure figure = energy_of(entry, oldest, end);
    if (oldest > begin) {
      figure.unknown += Seconds(oldest - begin);
      figure.flags.set(Flag::gap);
    }
    energies.push_back(figure_of(entry.readings->channel(entry.place), std::move(figure)));
  }
  return energies;
}

std::vector<DomainFigure> EnergyHistory::coarse_energies(TimePoint begin, TimePoint end,
                                                         Joules quantum) {
  std::vector<DomainFigure> all = energies(begin, end);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].domain.category() != DomainCategory::gpu) {
      make_coarse(entries_[i], begin, end, quantum, all[i].figure);
    }
  }
  return all;
}

void EnergyHistory::make_coarse(const DomainReadings& entry, TimePoint begin, TimePoint end,
                                Joules quantum, EnergyFigure& figure) const {
  const History* const counter = entry.readings->counter(entry.place);
  const bool is_kept = begin >= loop_.now() - kept_;
  std::optional<Boundary> first;
  std::optional<Boundary> last;
  if (counter != nullptr && is_kept) first = counter->at(begin);
  if (counter != nullptr) last = counter->at(end);
  const bool is_known = first && last && !figure.flags.has(Flag::stuck);
  figure.energy.reset();
  if (is_known) {
    figure.energy = rounded_down(counter->channel(), *last, quantum) -
                    rounded_down(counter->channel(), *first, quantum);
  }
  figure.uncertainty = rounded_uncertainty(figure.uncertainty, quantum);
}

std::vector<ColumnPower> EnergyHistory::columns_of(const DomainReadings& entry,
                                                   const TimeColumns& columns) const {
  if (slots_.holds(columns)) return entry.slots.columns(columns);
  return domain_columns(entry.readings->counter(entry.place), entry.readings->gauges(entry.place),
                        columns);
}

std::vector<ColumnPower> EnergyHistory::coarse_columns(const DomainReadings& entry,
                                                       const TimeColumns& columns, Joules quantum) {
  std::vector<ColumnPower> all(columns.count);
  const History* const counter = entry.readings->counter(entry.place);
  if (counter == nullptr) return all;
  const Channel& channel = counter->channel();
  const Seconds width(columns.width);
  std::optional<Boundary> before = counter->at(columns.begin);
  for (std::size_t i = 0; i < columns.count; ++i) {
    const std::optional<Boundary> after = counter->at(columns.edge(i + 1));
    const bool is_known = before && after && counted_power(channel, *before, *after).power &&
                          counter->condition(columns.edge(i), columns.edge(i + 1)).unknown ==
                              std::chrono::nanoseconds(0);
    if (is_known) {
      all[i].mean =
          (rounded_down(channel, *after, quantum) - rounded_down(channel, *before, quantum)) /
          width;
    }
    before = after;
  }
  const auto edge = [&](std::size_t i) {
    return edge_between(i > 0 ? all[i - 1].mean : std::nullopt,
                        i < all.size() ? all[i].mean : std::nullopt, counter->period());
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].mean) continue;
    const Joules doubt = column_uncertainty(channel, edge(i), edge(i + 1));
    all[i].uncertainty = rounded_uncertainty(doubt, quantum) / width;
  }
  return all;
}

std::vector<EnergyHistory::Power> EnergyHistory::powers(const TimeColumns& columns,
                                                        Joules quantum) const {
  std::vector<Power> all;
  for (const DomainReadings& entry : entries_) {
    const bool is_coarse = quantum > Joules(0) && entry.domain.category() != DomainCategory::gpu;
    all.push_back({.domain = entry.domain,
                   .columns = is_coarse ? coarse_columns(entry, columns, quantum)
                                        : all_columns_of(entry, columns),
                   .flags = flags_of(entry, columns, is_coarse)});
  }
  return all;
}

Flags EnergyHistory::flags_of(const DomainReadings& entry, const TimeColumns& columns,
                              bool is_coarse) const {
  // Earlier runs of the daemon kept no events.
  const TimePoint begin = std::max(columns.begin, past_ ? started_ : columns.begin);
  const TimePoint end = columns.edge(columns.count);
  const History* const counter = entry.readings->counter(entry.place);
  const History* const gauge =
      is_coarse ? nullptr : shown_gauge(entry.readings->gauges(entry.place), columns);
  Flags flags;
  if (gauge != nullptr) flags |= coverage_flags(*gauge);
  const History* const shown = gauge != nullptr ? gauge : counter;
  if (shown != nullptr && begin < end) flags |= shown->condition(begin, end).flags;
  return flags;
}

const std::vector<PastEra>* EnergyHistory::past_of(const DomainReadings& entry,
                                                   TimePoint begin) const {
  return past_ && begin < started_ ? past_->find(entry.domain, entry.device) : nullptr;
}

EnergyFigure EnergyHistory::energy_of(const DomainReadings& entry, TimePoint begin,
                                      TimePoint end) const {
  const auto present = [&](TimePoint from) {
    return entry.readings->energy(entry.place, {.begin = from, .end = end});
  };
  const auto* const eras = past_of(entry, begin);
  if (eras == nullptr) return present(begin);
  const TimePoint middle = std::min(started_, end);
  WindowSum sum = past_energy(*eras, stored_time(begin), stored_time(middle));
  if (middle < end) sum.add(present(middle));
  return sum.result();
}

std::vector<ColumnPower> EnergyHistory::all_columns_of(const DomainReadings& entry,
                                                       const TimeColumns& columns) const {
  std::vector<ColumnPower> all = columns_of(entry, columns);
  const auto* const eras = past_of(entry, columns.begin);
  if (eras == nullptr) return all;
  TimeColumns stored = columns;
  stored.begin = stored_time(columns.begin);
  const std::vector<ColumnPower> past = past_columns(*eras, stored);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].mean) all[i] = past[i];
  }
  return all;
}

std::vector<HistorySource> EnergyHistory::sources() const {
  std::vector<HistorySource> all;
  for (const DomainReadings& entry : entries_) {
    const History* const counter = entry.readings->counter(entry.place);
    if (counter != nullptr) all.push_back({.device = entry.device, .history = counter});
    for (const History* const gauge : entry.readings->gauges(entry.place)) {
      all.push_back({.device = entry.device, .history = gauge});
    }
  }
  return all;
}

}  // namespace wattle::daemon
