// Units of work that others start and end by marks, and their shares of what somebody else reads: a
// run, or the daemon.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/marks.hpp"
#include "units/unit_book.hpp"
#include "units/unit_desk.hpp"
#include "wattle/domain.hpp"
#include "wattle/energy.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

/// A domain that units share.
struct SharedDomain {
  std::size_t place = 0;  ///< among those that are read
  Domain domain;
  /// It is read by a thread of its own, less often, and late.
  bool is_slow = false;
  /// Its energy in a window costs as much however long that is; else it grows with the window.
  bool is_counter = true;
};

/// The energy of the domain at `place` in a window.
using EnergyOfDomain =
    std::function<MeasuredEnergy(std::size_t place, TimePoint begin, TimePoint end)>;
/// When the counter at `place` was read last; absent: not by a call of `MarkedUnits::read`.
using TimeOfCounter = std::function<std::optional<TimePoint>(std::size_t place)>;

/// Gets a unit whose energy is final, and the ID that its marks gave it.
using UnitDone = std::function<void(const UnitEnergy& unit, const std::string& id)>;

/// Threads: one at a time.
class MarkedUnits {
 public:
  static constexpr std::size_t kMostRunning = 100'000;

  /// `begin`: of the time that is divided.
  MarkedUnits(std::vector<SharedDomain> domains, EnergyOfDomain energy, TimeOfCounter read_at,
              TimePoint begin, UnitDone done = {});

  /// A mark of a unit that was sent at `at`. False: it starts what runs, ends what does not, or has
  /// a weight that is none.
  bool take(const Mark& mark, TimePoint at);
  /// A reading at `at` would be new: the last one is not as near as that.
  [[nodiscard]] bool is_due(TimePoint at) const noexcept;
  /// The counters were read at `at`. Divides what is known by then.
  void read(TimePoint at);
  /// Everything that is divided so far.
  [[nodiscard]] UnitsReport report() const;
  /// The time to be divided ended at `at`, and everything was read: the rest is divided.
  [[nodiscard]] UnitsReport end(TimePoint at);

 private:
  /// Shows the time of the mark that is taken.
  struct MarkClock final : TimeSource {
    [[nodiscard]] TimePoint now() const noexcept override { return at; }
    [[nodiscard]] std::chrono::nanoseconds suspended() const noexcept override {
      return std::chrono::nanoseconds(0);
    }
    TimePoint at;
  };
  struct Running {
    UnitEvents::Started started;
    std::uint16_t column = 0;
    std::int64_t weight = 0;
  };
  /// When the counter of a domain was read.
  struct Reads {
    TimePoint last;               ///< up to here the book knows it
    MeasuredEnergy until_last{};  ///< of a counter: since the start of the run
    std::vector<TimePoint> next{};
    [[nodiscard]] TimePoint newest() const noexcept { return next.empty() ? last : next.back(); }
  };

  [[nodiscard]] bool is_due(std::size_t domain, TimePoint at) const noexcept;
  bool begin_unit(const Mark& mark);
  bool end_unit(const Mark& mark);
  [[nodiscard]] MeasuredEnergy energy_until(std::size_t domain, TimePoint end);
  void divide(TimePoint until);

  std::vector<SharedDomain> domains_;
  EnergyOfDomain energy_;
  TimeOfCounter read_at_;
  TimePoint begin_;
  MarkClock clock_;
  TimePoint end_ = TimePoint::max();  ///< of the run
  TimePoint divided_;                 ///< no mark counts as sent before
  UnitDesk desk_;
  UnitBook book_;
  std::vector<Reads> reads_;                                        ///< of each domain
  std::map<std::pair<std::string, std::string>, Running> running_;  ///< by tag and ID
  UnitDone done_;
  std::map<UnitId, std::string> ids_;  ///< of units that have ended and are not done
  std::uint64_t refused_ = 0;
};

}  // namespace wattle::detail
