#include "runs/run_lacks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>

#include "base/json/enum_table.hpp"

namespace wattle {
namespace {

/// The part of the time that may be unknown where an energy is still in figures.
constexpr double kMostUnknown = 0.1;
/// The power of unknown time is at most this many times the mean power of the rest.
constexpr double kMostPower = 2.0;

constexpr std::array<std::string_view, 4> kLackWords = {
    "", "lack ranks of their job; compare the records of all ranks",
    "lack the energy of a domain; measure them again, or choose another --quantity",
    "have an unknown energy for a part of the time; measure them again, or choose another "
    "--quantity"};

bool is_of_energy(Cost cost) noexcept { return cost == Cost::energy || cost == Cost::power; }

}  // namespace

void mark_missing_domains(const std::vector<std::vector<RunCost>*>& beside) {
  std::set<std::string> all;
  for (const std::vector<RunCost>* const runs : beside) {
    for (const RunCost& run : *runs)
      all.insert(run.energy_domains.begin(), run.energy_domains.end());
  }
  for (std::vector<RunCost>* const runs : beside) {
    for (RunCost& run : *runs) {
      run.missing_domains.clear();
      std::ranges::copy_if(all, std::back_inserter(run.missing_domains),
                           [&](const std::string& domain) {
                             return std::ranges::count(run.energy_domains, domain) == 0;
                           });
    }
  }
}

void mark_missing_ranks(const std::vector<std::vector<RunCost>*>& beside) {
  std::set<unsigned> all;
  for (const std::vector<RunCost>* const runs : beside) {
    for (const RunCost& run : *runs) all.insert(run.ranks.begin(), run.ranks.end());
  }
  for (std::vector<RunCost>* const runs : beside) {
    for (RunCost& run : *runs) {
      run.lacks_ranks = std::ranges::any_of(all, [&](unsigned rank) {
        return rank < run.rank_count.value_or(0) && std::ranges::count(run.ranks, rank) == 0;
      });
    }
  }
}

Lack lack_of(Cost cost, const RunCost& run) noexcept {
  if (run.lacks_ranks || run.missing_ranks > 0) return Lack::ranks;
  if (!is_of_energy(cost)) return Lack::none;
  if (!run.missing_domains.empty()) return Lack::domains;
  return is_mostly_bound(run) ? Lack::time : Lack::none;
}

std::string_view words_of(Lack lack) noexcept { return entry_of(kLackWords, lack); }

bool is_mostly_bound(const RunCost& run) noexcept {
  return run.energy && run.energy_unknown > kMostUnknown * run.wall;
}

double unknown_excess(Cost cost, std::span<const RunCost> runs) noexcept {
  if (!is_of_energy(cost)) return 0.0;
  double most = 0.0;
  for (const RunCost& run : runs) {
    if (!value_of(cost, run) || run.energy_unknown <= Seconds(0)) continue;
    most = std::max(most, run.energy_unknown / (run.wall - run.energy_unknown));
  }
  return std::log1p(kMostPower * most);
}

std::vector<std::string> notes_on_energy(std::span<const RunCost> runs) {
  std::set<std::string> missing_domains;
  std::map<std::string, std::size_t> flagged;
  std::size_t partial = 0;
  std::size_t bounds = 0;
  std::size_t mostly_bounds = 0;
  for (const RunCost& run : runs) {
    missing_domains.insert(run.missing_domains.begin(), run.missing_domains.end());
    if (!run.missing_domains.empty()) ++partial;
    if (run.missing_domains.empty() && run.energy && run.energy_unknown > Seconds(0)) {
      ++bounds;
      if (is_mostly_bound(run)) ++mostly_bounds;
    }
    run.energy_flags.each([&](std::string_view flag) { ++flagged[std::string(flag)]; });
  }
  std::vector<std::string> notes;
  if (partial > 0) {
    notes.push_back(
        fmt::format("the energy of {} of {} runs is in no figure: {} {} not measured in {}",
                    partial, runs.size(), fmt::join(missing_domains, ", "),
                    missing_domains.size() == 1 ? "was" : "were", partial == 1 ? "it" : "them"));
  }
  if (bounds > 0) {
    notes.push_back(
        fmt::format("the energy of {} of {} runs is a lower bound: a part of the time is unknown",
                    bounds, runs.size()));
  }
  if (mostly_bounds > 0) {
    notes.push_back(
        fmt::format("the energy of {} of {} runs is in no figure: more than {:g} % of the time is "
                    "unknown",
                    mostly_bounds, runs.size(), 100.0 * kMostUnknown));
  }
  for (const auto& [flag, count] : flagged) {
    // Nothing is lost by a wrap.
    if (flag == kFlagNames[static_cast<std::size_t>(Flag::wrapped)]) continue;
    notes.push_back(
        fmt::format("the energy of {} of {} runs is flagged {}", count, runs.size(), flag));
  }
  return notes;
}

}  // namespace wattle
