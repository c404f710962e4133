// Cumulative energies, as scrapes show them, as steps in whole microjoules. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "wattle/clock.hpp"

namespace wattle::daemon {

/// The energy of a domain since the last known step.
struct EnergyStep {
  std::uint64_t uj = 0;
  Seconds length{0};        ///< since that step
  bool is_restart = false;  ///< the energy fell: what was spent in between is not known
};

/// The steps of a domain add up to its energy, rounded to microjoules, less the first one that was
/// seen, and less what a restart of its counter lost. Threads: one at a time.
class MeasuredSteps {
 public:
  /// Absent at the first time that the energy of `domain` is known, and where it is not known.
  [[nodiscard]] std::optional<EnergyStep> take(const std::string& domain,
                                               std::optional<double> energy_j, TimePoint at);

 private:
  struct LastEnergy {
    std::uint64_t uj = 0;
    TimePoint at{};
  };
  std::map<std::string, LastEnergy> known_{};
};

}  // namespace wattle::daemon
