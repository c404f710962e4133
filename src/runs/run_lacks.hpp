// Domains, ranks and time that runs lack, which keeps them out of figures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runs/run_cost.hpp"

namespace wattle {

/// Sets `missing_domains` of runs that are to be in one figure, or in figures that are compared.
void mark_missing_domains(const std::vector<std::vector<RunCost>*>& beside);
/// Sets `lacks_ranks` of the same: runs of a job without ranks that others of these runs have.
void mark_missing_ranks(const std::vector<std::vector<RunCost>*>& beside);

/// Why a cost of a run is less than what was spent, so that no decision can depend on it.
enum class Lack : std::uint8_t { none, ranks, domains, time };
[[nodiscard]] Lack lack_of(Cost cost, const RunCost& run) noexcept;
/// After the runs, with the remedy: "lack ranks of their job; compare the records of all ranks".
[[nodiscard]] std::string_view words_of(Lack lack) noexcept;

/// True if so much of the time is unknown that the energy is in no figure.
[[nodiscard]] bool is_mostly_bound(const RunCost& run) noexcept;
/// The natural logarithm of how many times larger the cost of these runs may be than the sum of
/// what is known: their unknown time at twice the known mean power. 0: all is known.
[[nodiscard]] double unknown_excess(Cost cost, std::span<const RunCost> runs) noexcept;

/// Which energies of the runs are in no figure, or are lower bounds: sentences that go on after
/// the name of the runs.
[[nodiscard]] std::vector<std::string> notes_on_energy(std::span<const RunCost> runs);

}  // namespace wattle
