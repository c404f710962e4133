// Reports as runs of several kinds give them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.hpp"

namespace wattle::testing_support {

/// A figure without anything special about it.
[[nodiscard]] EnergyFigure figure(double energy_j, double uncertainty_j, double mean_w);

/// A domain as powercap gives it.
[[nodiscard]] DomainFigure domain_energy(Domain domain, const EnergyFigure& figure);

/// A build on a machine of two sockets, two seconds long.
[[nodiscard]] Report measured();
/// The same on a virtual machine without sensors.
[[nodiscard]] Report without_sensors();
/// The same with --estimate.
[[nodiscard]] Report estimated();
/// As `measured`, with the command's share after a baseline, and of two GPUs.
[[nodiscard]] Report shared();
/// A training on two packages with memory and `count` GPUs; without a baseline. The command used
/// the first `used` of them.
[[nodiscard]] Report on_gpus(std::uint32_t count, std::uint32_t used);
/// A package that was reset, memory whose sensor failed, a package that may not be read.
[[nodiscard]] Report with_unknown_stretches();
/// A command ended by SIGSEGV, before its counters moved once.
[[nodiscard]] Report killed();
/// A command that left processes behind.
[[nodiscard]] Report still_running();
/// Names and arguments that no terminal and no JSON should see as they are.
[[nodiscard]] Report with_foreign_text();
/// A rank that leaves the energy to another one.
[[nodiscard]] Report of_another_rank();
/// As `measured`, with units of work: of one tag with a phase, and of one with a hostile name.
[[nodiscard]] Report with_units();
/// A command that could not be executed.
[[nodiscard]] Report not_started();

}  // namespace wattle::testing_support
