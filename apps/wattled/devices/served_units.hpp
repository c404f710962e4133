// Units of work that programs start and end by requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/trace_context.hpp"
#include "devices/energy_history.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"
#include "units/marked_units.hpp"
#include "wattle/work_units.hpp"

namespace wattle::daemon {

/// A unit that is to start.
struct StartedUnit {
  std::string tag;
  std::string id;  ///< units of a tag that run at once have different ones
  double weight = 1.0;
  std::optional<TraceContext> trace{};
  std::chrono::seconds timeout{0};  ///< it ends after that, if not before
};

/// Divides the energy of all domains that do not overlap among units, by the readings of the
/// history; those of the last second are waited for. From the first unit on. Units do not survive
/// the daemon. Threads: the loop's.
class ServedUnits {
 public:
  /// Units at a time.
  static constexpr std::size_t kMostRunning = 10'000;
  /// A history that forgets sooner has nothing any more of what is divided a second later.
  static constexpr std::chrono::seconds kLeastHistory{3};

  /// `history` outlives it, and keeps at least `kLeastHistory`.
  ServedUnits(EnergyHistory& history, Loop& loop);

  /// Gets each unit whose energy is final. Before the first one starts.
  void on_done(detail::UnitDone done) { done_ = std::move(done); }

  enum class UnitStart : std::uint8_t {
    started,
    runs_already,
    full,     ///< as many run as may
    invalid,  ///< its weight is none
  };
  [[nodiscard]] UnitStart start(const StartedUnit& unit);
  /// False: no such unit runs.
  [[nodiscard]] bool end(const std::string& tag, const std::string& id, double work);
  /// An ID that no unit of this daemon had, and none of an earlier one.
  [[nodiscard]] std::string make_id();

  /// At most a second old: a report takes long. Empty before the first unit.
  [[nodiscard]] const UnitsReport& report();
  /// Units that were ended because their time was over.
  [[nodiscard]] std::uint64_t timed_out() const noexcept { return timed_out_; }
  /// When the first unit started; absent: none did.
  [[nodiscard]] std::optional<double> since_unix_s() const noexcept { return since_unix_s_; }

 private:
  using Name = std::pair<std::string, std::string>;  ///< tag and ID

  void begin();
  void tick();
  void end_overdue();
  [[nodiscard]] MeasuredEnergy energy_of(std::size_t place, TimePoint begin, TimePoint end);

  EnergyHistory& history_;
  Loop& loop_;
  Pace pace_;
  std::vector<Domain> domains_;
  detail::UnitDone done_;
  std::unique_ptr<detail::MarkedUnits> units_;  ///< null before the first one
  std::map<Name, TimePoint> deadlines_;
  std::multimap<TimePoint, Name> overdue_;  ///< the same, the next one first
  std::uint64_t timed_out_ = 0;
  std::uint64_t ids_ = 0;
  std::uint64_t first_id_ = 0;
  std::optional<double> since_unix_s_;
  /// The energies of the last window that was asked for: domains ask for the same one.
  std::pair<TimePoint, TimePoint> window_;
  std::vector<DomainFigure> energies_;
  UnitsReport report_;
  TimePoint reported_;
};

}  // namespace wattle::daemon
