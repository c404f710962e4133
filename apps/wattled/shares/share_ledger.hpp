// Energies of groups of processes, or of processes, cumulated so that they add up to what was
// measured. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shares/divided_energy.hpp"
#include "wattle/clock.hpp"

namespace wattle::daemon {

/// An energy since the start, and the one of the last interval.
struct SharedAmount {
  std::uint64_t uj = 0;
  std::uint64_t last_uj = 0;
  GroupRange range{};       ///< where `uj` lies, by how it was divided
  GroupRange last_range{};  ///< the same of `last_uj`

  void start_interval() noexcept {
    last_uj = 0;
    last_range = {};
  }
  void add(std::uint64_t more_uj) noexcept { add(more_uj, {more_uj, more_uj}); }
  void add(std::uint64_t more_uj, const GroupRange& more) noexcept {
    uj += more_uj;
    last_uj += more_uj;
    for (GroupRange* const sum : {&range, &last_range}) {
      sum->low_uj += more.low_uj;
      sum->high_uj += more.high_uj;
    }
  }
  /// How far the energy may be off. It never falls.
  [[nodiscard]] std::uint64_t uncertainty_uj() const noexcept {
    return std::max(range.high_uj - uj, uj - range.low_uj);
  }
  /// The same of the last interval.
  [[nodiscard]] std::uint64_t last_uncertainty_uj() const noexcept {
    return std::max(last_range.high_uj - last_uj, last_uj - last_range.low_uj);
  }
};

/// A domain, or several together, and everything in it that is no row.
struct LedgerDomain {
  std::string name{};
  std::vector<std::string> covers{};
  Seconds length{0};  ///< of the last interval; 0: its energy was not known
  std::string undivided_reason{};
  SharedAmount measured{};
  SharedAmount idle{};
  SharedAmount unexplained{};
  SharedAmount rest{};
  SharedAmount undivided{};
  SharedAmount other{};  ///< groups that have no row
  /// The energy of removed rows. It only moves here: nothing was spent.
  std::uint64_t ended_uj = 0;
};

/// A group that has counters of its own.
struct LedgerRow {
  std::optional<TimePoint> ended{};     ///< absent: the group is there
  std::vector<SharedAmount> amounts{};  ///< by domain; the last ones may be missing

  [[nodiscard]] SharedAmount at(std::size_t domain) const noexcept {
    return domain < amounts.size() ? amounts[domain] : SharedAmount{};
  }
};

/// For each domain, all rows + idle + unexplained + rest + undivided + other + ended = measured,
/// exactly. No counter falls.
///
/// A group gets a row in the first interval in which it uses energy, if it was there before and a
/// row is free; those that used most come first. It keeps the row until `kKept` after its end.
/// Until it has one, its energy is in `other`, and stays there. Memory is bounded by the rows, and
/// by the groups that are there. Threads: one at a time.
template <class Group>
class LedgerOf {
 public:
  /// The time for which the row of an ended group shows its last values.
  static constexpr std::chrono::minutes kKept{2};

  explicit LedgerOf(std::size_t most_rows) : most_rows_(most_rows) {}

  /// An interval that ends at `at`. `live`: all groups that are there now; others with energy count
  /// as well.
  void add(TimePoint at, Seconds length, const std::vector<EnergyAmong<Group>>& divided,
           std::set<Group> live);

  [[nodiscard]] const std::vector<LedgerDomain>& domains() const noexcept { return domains_; }
  [[nodiscard]] const std::map<Group, LedgerRow>& rows() const noexcept { return rows_; }
  /// Groups that are there.
  [[nodiscard]] std::size_t live() const noexcept { return live_.size(); }
  /// Those of them that have no row.
  [[nodiscard]] std::size_t hidden() const;

 private:
  [[nodiscard]] std::size_t place_of(const EnergyAmong<Group>& divided);
  void end_rows(TimePoint at);
  void give_rows(const std::vector<EnergyAmong<Group>>& divided);
  void take(std::size_t place, Seconds length, const EnergyAmong<Group>& divided);

  std::size_t most_rows_;
  std::vector<LedgerDomain> domains_{};
  std::map<Group, LedgerRow> rows_{};
  std::set<Group> live_{};    ///< at the end of the last interval
  std::set<Group> before_{};  ///< at its start
};
using ShareLedger = LedgerOf<CgroupGroup>;
using ProcessLedger = LedgerOf<GpuProcess>;

}  // namespace wattle::daemon
