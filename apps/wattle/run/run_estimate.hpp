// The parts of a run's report that are not measured: the estimate, and the command's share.
#pragma once

#include "report/report.hpp"
#include "run/instruments.hpp"
#include "wattle/estimate.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// The estimate, where the total covers no CPU. Everything else of the report is there.
void fill_estimate(Report& report, const EnergyEstimator& estimator);

/// The share, where something was measured.
void fill_share(Report& report, const Instruments& instruments, const System& system);

}  // namespace wattle::app
