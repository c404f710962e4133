// The energies for scrapes that no counter shows, or none that the daemon follows otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "http/loop.hpp"
#include "http/pace.hpp"
#include "sampling/readings.hpp"

namespace wattle::daemon {

/// The energy of GPUs without a counter, and of meters, rails and batteries, from the first scrape
/// on. They are read while somebody scrapes, and for `kPatience` more: the time from then to the
/// next scrape is unknown. Threads: the loop's.
class EnergyTotals {
 public:
  static constexpr std::chrono::minutes kPatience{30};
  static constexpr std::chrono::milliseconds kPeriod{100};

  explicit EnergyTotals(Loop& loop);
  /// `device` sleeps, or reads by itself; it keeps all domains for at least `kKept`.
  void add(std::shared_ptr<Readings> device);
  /// The only reader of a device, for this and for those who ask it. Keeps what gives energy.
  /// `clock` outlives its thread.
  [[nodiscard]] static std::shared_ptr<Readings> reader_of(const std::shared_ptr<Sensor>& device,
                                                           const TimeSource& clock);

  struct DomainTotal {
    Domain domain;
    bool is_integrated = false;        ///< found from power, not from a counter
    TimePoint since{};                 ///< when it was 0
    Joules energy{};                   ///< of the known time; never decreases
    Joules uncertainty{};              ///< k = 2
    Seconds unknown{};                 ///< time since `since` whose energy is unknown
    std::optional<double> coverage{};  ///< see `EnergyFigure`
  };
  /// The totals until now. Has the devices read from now on.
  [[nodiscard]] std::vector<DomainTotal> read();

 private:
  /// Windows are at most this long before they are added up, so that what is kept covers them.
  static constexpr std::chrono::minutes kLongestWindow{30};
  /// A channel's history holds readings of 7 bytes each for at least this long.
  static constexpr std::chrono::minutes kKept{60};
  static constexpr std::size_t kKeptBytes = std::size_t{256} << 10U;
  static_assert(kLongestWindow + kPatience <= kKept);
  static_assert(kKept / kPeriod * 7 <= kKeptBytes);

  struct RunningTotal {
    TimePoint since;
    TimePoint base;  ///< everything before it is added up
    Joules settled{};
    UncertaintySum errors{};
    Seconds unknown{};
    Joules shown{};           ///< the last total
    Seconds shown_unknown{};  ///< likewise
  };
  struct Source {
    Domain domain;
    const Readings* readings;
    std::size_t place;

    [[nodiscard]] EnergyFigure energy(TimePoint begin, TimePoint end) const {
      return readings->energy(place, {.begin = begin, .end = end});
    }
    [[nodiscard]] const History* counter() const { return readings->counter(place); }
  };
  static void settle(const Source& source, RunningTotal& sum, TimePoint end);
  [[nodiscard]] DomainTotal total_of(const Source& source, TimePoint now);
  void tick();
  void resume(TimePoint now);
  void pause();

  Loop& loop_;
  std::unique_ptr<Timer> idle_;
  std::vector<std::shared_ptr<Readings>> devices_;
  std::vector<Source> sources_;
  std::map<Domain, RunningTotal> sums_;
  Pace pace_;
};

}  // namespace wattle::daemon
