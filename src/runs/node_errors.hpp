// The errors of a machine's energy in a report of several runs, and the flags that they call for.
#pragma once

#include <string>
#include <vector>

#include "runs/job_report.hpp"

namespace wattle {

/// Sets the ± of the sum of the runs, and the flags of how they can be off together. `most_false`:
/// see `sum_of_runs`.
void set_errors(NodeReport& node, const std::vector<const NamedRecord*>& chosen, double most_false,
                std::vector<std::string>& notes);

/// Sets whether the sum of the runs stands on what was observed of its counters, and says it where
/// it does not and there are many runs.
void set_observed(NodeReport& node, const std::vector<const NamedRecord*>& chosen,
                  std::vector<std::string>& notes);

/// Flags `ends_unseen` the machines whose counters did not see the ends of runs, where that is
/// more than the ± of all machines together.
void flag_unseen_ends(JobReport& report);

}  // namespace wattle
