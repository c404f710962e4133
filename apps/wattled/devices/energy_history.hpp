// The energy of past windows, for the time that `--history` sets.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/power_columns.hpp"
#include "devices/power_slots.hpp"
#include "history/past_history.hpp"
#include "history/value_collector.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"
#include "sampling/domain_figure.hpp"
#include "sampling/readings.hpp"
#include "sensors/sensor.hpp"

namespace wattle::daemon {

/// The longest history. A channel keeps 16 MiB: ten readings per second, of at most 3 bytes each,
/// fit in it for longer than this.
inline constexpr std::chrono::seconds kLongestHistory = std::chrono::hours(24 * 4);

/// Reads all domains ten times per second, also without clients. Threads: the loop's.
class EnergyHistory {
 public:
  /// The period of the readings.
  static constexpr std::chrono::milliseconds kPeriod{100};

  /// `sensors`: those that do not block are read in the loop's thread. `kept` > 0: the length of
  /// the history.
  EnergyHistory(const std::vector<std::shared_ptr<Sensor>>& sensors, Loop& loop,
                const TimeSource& clock, std::chrono::seconds kept);

  [[nodiscard]] const TimeSource& clock() const noexcept { return clock_; }
  /// Reads a device, too. Returns its only reader, for those who ask it.
  [[nodiscard]] std::shared_ptr<Readings> add(const std::shared_ptr<Sensor>& device);

  /// The energy of each domain from `begin` to `end`, in the order of the domains. Time before the
  /// history, or in the future, is unknown. If the window ends now, counters that do not block are
  /// read again.
  [[nodiscard]] std::vector<DomainFigure> energies(TimePoint begin, TimePoint end);
  /// The same for callers who may see CPU energy in multiples of `quantum` only: differences of
  /// rounded-down counters, so that no choice of windows shows more. Unknown if the history does
  /// not cover an end of the window.
  [[nodiscard]] std::vector<DomainFigure> coarse_energies(TimePoint begin, TimePoint end,
                                                          Joules quantum);

  struct Power {
    Domain domain;
    std::vector<ColumnPower> columns;
    Flags flags{};  ///< of all columns together, by the sensor that they are from
  };
  [[nodiscard]] TimePoint now() const { return loop_.now(); }
  [[nodiscard]] std::chrono::seconds kept() const noexcept { return kept_; }
  /// The start of what is kept.
  [[nodiscard]] TimePoint oldest() const { return loop_.now() - kept_; }
  /// Columns that these slots hold cost little, however long they are.
  [[nodiscard]] const SlotGrid& slots() const noexcept { return slots_; }
  /// The power of each domain, in the order of the domains. `quantum` > 0: of CPUs from counters
  /// rounded down to multiples of it, without extremes.
  [[nodiscard]] std::vector<Power> powers(const TimeColumns& columns, Joules quantum) const;

  /// Takes over what earlier runs of the daemon read.
  void set_past(std::shared_ptr<const PastHistory> past) { past_ = std::move(past); }
  /// All channels that give the energy of a domain.
  [[nodiscard]] std::vector<HistorySource> sources() const;

 private:
  /// A domain, and where its readings are.
  struct DomainReadings {
    Domain domain;
    const Readings* readings;
    std::size_t place;
    PowerSlots slots;
    std::string device{};  ///< its UUID, or its PCI address; empty: unknown
  };
  std::shared_ptr<Readings> add_all(const std::vector<std::shared_ptr<Sensor>>& sensors);
  void tick();
  /// The energy in the present run, and in earlier ones.
  [[nodiscard]] EnergyFigure energy_of(const DomainReadings& entry, TimePoint begin,
                                       TimePoint end) const;
  [[nodiscard]] std::vector<ColumnPower> all_columns_of(const DomainReadings& entry,
                                                        const TimeColumns& columns) const;
  /// The readings of earlier runs of a domain, if `begin` is before this run; else null.
  [[nodiscard]] const std::vector<PastEra>* past_of(const DomainReadings& entry,
                                                    TimePoint begin) const;
  [[nodiscard]] Flags flags_of(const DomainReadings& entry, const TimeColumns& columns,
                               bool is_coarse) const;
  void make_coarse(const DomainReadings& entry, TimePoint begin, TimePoint end, Joules quantum,
                   EnergyFigure& figure) const;
  [[nodiscard]] std::vector<ColumnPower> columns_of(const DomainReadings& entry,
                                                    const TimeColumns& columns) const;
  [[nodiscard]] static std::vector<ColumnPower> coarse_columns(const DomainReadings& entry,
                                                               const TimeColumns& columns,
                                                               Joules quantum);

  Loop& loop_;
  const TimeSource& clock_;
  std::chrono::seconds kept_;
  TimePoint started_;
  std::shared_ptr<const PastHistory> past_{};  ///< null: nothing is known
  SlotGrid slots_;  ///< at whole Unix seconds, until the wall clock steps
  std::vector<std::shared_ptr<Readings>> readings_;
  std::vector<DomainReadings> entries_;
  Pace pace_;
};

}  // namespace wattle::daemon
