#include "calibration/aligned_faults.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "calibration/sensor_evidence.hpp"

namespace wattle {

FaultyAlignment without_faults(const std::vector<MeterSample>& meter,
                               std::vector<RecordedDomainPower> used, const ShiftRange& range) {
  FaultyAlignment found{.used = std::move(used), .alignment = {}, .faults = {}};
  found.alignment = aligned(meter, found.used, range);
  found.faults.resize(found.used.size());
  return found;
}

FaultyAlignment with_faults(const std::vector<MeterSample>& meter, FaultyAlignment now,
                            const ShiftRange& range) {
  constexpr std::size_t kMostDomains = 16;
  if (now.used.size() > kMostDomains) return now;
  const std::size_t most = now.used.size() / 2;
  for (std::size_t turn = 0; turn < most; ++turn) {
    const MeterAlignment& at = now.alignment;
    const auto suspicion =
        clear_suspicion(sensor_suspicions({at.rows, now.used, at.timing, at.gains}));
    if (!suspicion) break;
    const std::size_t i = suspicion->fault.domain;
    if (!suspicion->fault.lag_s) {
      // A lag that is not exact leaves errors that look like this, too.
      if (turn == 0) {
        now.faults[i] = {.is_unrelated = true,
                         .missed_steps = suspicion->missed_steps,
                         .clear_steps = suspicion->clear_steps};
      }
      break;
    }
    std::vector<RecordedDomainPower> used = now.used;
    used[i].power = used[i].power.earlier(*suspicion->fault.lag_s);
    FaultyAlignment next = without_faults(meter, std::move(used), range);
    if (!next.alignment.problem.empty()) break;
    next.faults = now.faults;
    next.faults[i].lag_s += *suspicion->fault.lag_s;
    now = std::move(next);
  }
  return now;
}

GainEstimates gain_estimates(const FaultyAlignment& found) {
  const MeterAlignment& at = found.alignment;
  const auto unrelated = std::ranges::find_if(found.faults, &FoundFault::is_unrelated);
  PossibleFault fault;
  if (unrelated != found.faults.end()) {
    fault = {.domain = static_cast<std::size_t>(unrelated - found.faults.begin())};
  }
  FittedGains fit = fitted_gains({at.rows, found.used, at.timing, at.gains}, fault);
  const AlignedRows rows(at.rows, found.used, fit.timing);
  return {rows, std::move(fit)};
}

}  // namespace wattle
