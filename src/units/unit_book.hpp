// The book of units: what each of them spent, in all domains together, and what the units of each
// tag spent. Readings go in, figures come out; no sensor, no thread, no clock of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "units/domain_shares.hpp"
#include "units/load_series.hpp"
#include "units/tag_figures.hpp"
#include "units/thread_loads.hpp"
#include "units/unit_events.hpp"
#include "units/unit_tags.hpp"
#include "units/unit_traces.hpp"
#include "wattle/work_units.hpp"

namespace wattle::detail {

struct UnitBookOptions {
  IdleShare idle = IdleShare::to_units;
  std::optional<std::chrono::nanoseconds> lag{};
  std::size_t kept_results = 4096;
  UnitTraces* traces = nullptr;          ///< outlives the book; null: units have none
  const ThreadClock* threads = nullptr;  ///< likewise
};

/// Threads: one at a time.
class UnitBook {
 public:
  /// `events` and `tags` outlive it.
  UnitBook(UnitEvents& events, const UnitTags& tags, std::vector<DividedDomain> domains,
           const UnitBookOptions& options);

  /// The next reading of a domain.
  void add(std::size_t domain, const UnitReading& reading);
  /// Takes what has started and ended, and divides all readings that are covered by that. Calls
  /// `done` for each unit whose energy is final now.
  void settle(const std::function<void(const UnitEnergy&)>& done = {});

  [[nodiscard]] UnitState state(UnitId unit) const;
  [[nodiscard]] std::optional<UnitEnergy> result(UnitId unit) const;
  [[nodiscard]] UnitsReport report() const;
  /// Units that have ended and are not final.
  [[nodiscard]] std::uint64_t waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::size_t domains() const noexcept { return shares_.size(); }
  [[nodiscard]] const DomainShares& shares(std::size_t domain) const { return shares_[domain]; }
  [[nodiscard]] const LoadSeries& series(std::size_t domain) const { return series_[domain]; }
  /// Events that wait for readings.
  [[nodiscard]] std::size_t pending_events() const noexcept { return log_.events.size(); }

 private:
  enum class Life : std::uint8_t { none, running, waiting };
  /// A unit that is not final.
  struct OpenUnit {
    UnitId id = 0;
    Life life = Life::none;
    std::uint16_t tag = 0;
    std::uint16_t domains = 0;  ///< that have not added its share
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t weight = 0;
    double work = 0.0;
    double joules = 0.0;
    double unknown_s = 0.0;
    double variance_j2 = 0.0;
    bool is_short = false;
    std::uint64_t running = 0;            ///< units that ran when it started, itself included
    std::int64_t phase_ns = 0;            ///< when its phase started
    double phase_cpu_s = 0.0;             ///< likewise, of the thread, for a unit of weight
    std::optional<double> cpu_s{};        ///< its part of the CPU time of its threads
    std::optional<TraceContext> trace{};  ///< once it is final
  };
  static constexpr std::uint32_t kNoneKept = ~std::uint32_t{0};
  /// A final unit, and the next one of its chain.
  struct KeptUnit {
    OpenUnit unit{};
    std::uint32_t next = kNoneKept;
  };
  /// A phase that was left, and whose energy is not final.
  struct LeftPhase {
    std::size_t domains = 0;  ///< that have not added its share
    double length_s = 0.0;
    double joules = 0.0;
    double unknown_s = 0.0;
  };

  void note(const UnitEvent& event);
  void note_loads(const UnitEvent& event, OpenUnit& unit);
  void note_phase(const UnitEvent& event, const OpenUnit& unit);
  void add_to_phase(const UnitEvent& event, const UnitShare& share);
  void add_share(const UnitEvent& event, const UnitShare& share);
  void finish(OpenUnit& unit);
  void drop_divided_events();
  [[nodiscard]] UnitEnergy energy_of(const OpenUnit& unit) const;
  void keep(const OpenUnit& unit);
  /// Null: it is not kept, or no longer.
  [[nodiscard]] const OpenUnit* kept(UnitId unit) const noexcept;
  /// The number of the chain that the unit is in.
  [[nodiscard]] std::size_t chain_of(UnitId unit) const noexcept;
  [[nodiscard]] SumDoubt doubt() const;
  [[nodiscard]] UnitDomain domain_report(std::size_t domain, const LoadFit& fit) const;
  [[nodiscard]] bool is_of_tag(std::uint16_t column, std::uint16_t tag) const;
  [[nodiscard]] double weight_of_tag(std::size_t domain, std::uint16_t tag) const;
  void add_fit(UnitTag& tag, std::uint16_t column, const std::vector<LoadFit>& fits) const;
  [[nodiscard]] std::vector<UnitContrast> contrasts(const std::vector<LoadFit>& fits) const;

  UnitEvents& events_;
  const UnitTags& tags_;
  UnitBookOptions options_;
  std::vector<DomainShares> shares_;
  std::vector<LoadSeries> series_;
  UnitEventLog log_;
  std::uint64_t noted_ = 0;  ///< the number of the first event that was not noted
  ThreadSteps steps_;
  ThreadLoads loads_{};
  std::vector<OpenUnit> units_;                                         ///< by slot
  std::map<std::pair<std::int64_t, std::uint32_t>, LeftPhase> phases_;  ///< by end and slot
  std::vector<TagFigures> figures_;
  std::vector<UnitId> released_;
  std::vector<KeptUnit> kept_;              ///< the last final ones, a ring
  std::vector<std::uint32_t> kept_chains_;  ///< chains of `kept_`, by a hash of the ids
  std::size_t next_kept_ = 0;               ///< the oldest of `kept_`
  /// Weight x seconds of what has ended, by domain and column, and how much that is.
  std::vector<std::vector<double>> weight_s_;
  std::vector<std::uint64_t> ended_;
  std::uint64_t running_ = 0;  ///< as of the last event
  std::uint64_t waiting_ = 0;
  const std::function<void(const UnitEnergy&)>* done_ = nullptr;
};

}  // namespace wattle::detail
