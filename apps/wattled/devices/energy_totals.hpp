// The energies for scrapes that no counter shows, or none that the daemon follows otherwise.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "devices/followed_device.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"

namespace wattle::daemon {

/// The energy of GPUs without a counter, and of meters, rails and batteries, from the first scrape
/// on. They are read while somebody scrapes, and for `kPatience` more: the time from then to the
/// next scrape is unknown. Threads: the loop's.
class EnergyTotals {
 public:
  static constexpr std::chrono::minutes kPatience{30};

  explicit EnergyTotals(Loop& loop);
  void add(std::shared_ptr<FollowedDevice> device);

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
  static_assert(kLongestWindow + kPatience <= FollowedDevice::kKept);

  struct RunningTotal {
    TimePoint since;
    TimePoint base;  ///< everything before it is added up
    Joules settled{};
    UncertaintySum errors{};
    Seconds unknown{};
    Joules shown{};           ///< the last total
    Seconds shown_unknown{};  ///< likewise
  };
  using Source = FollowedDevice::DomainHistories;
  static void settle(const Source& source, RunningTotal& sum, TimePoint end);
  [[nodiscard]] DomainTotal total_of(const Source& source, TimePoint now);
  void tick();
  void resume(TimePoint now);
  void pause();

  Loop& loop_;
  std::unique_ptr<Timer> idle_;
  std::vector<std::shared_ptr<FollowedDevice>> devices_;
  std::map<Domain, RunningTotal> sums_;
  Pace pace_;
};

}  // namespace wattle::daemon
