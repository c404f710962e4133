#include "runs/node_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/text/text.hpp"
#include "runs/run_sum.hpp"
#include "sensors/domain_traits.hpp"

namespace wattle {
namespace {

constexpr std::string_view kUnseenNote =
    ": the records do not say that counters showed the power just before the start and the end of "
    "the runs: their sum may be off by more than its ±; longer runs have less of that";

/// Counters in the energy of these runs whose updates nobody observed; absent where there are no
/// counters.
std::optional<std::set<std::string>> unobserved_counters(
    const std::vector<const NamedRecord*>& runs) {
  std::optional<std::set<std::string>> unobserved;
  for (const NamedRecord* run : runs) {
    for (const DomainFigure& domain : run->record.energy.domains) {
      const EnergyFigure& figure = domain.figure;
      if (!counts_in_total(domain.domain.kind()) || !figure.energy) continue;
      if (figure.method != Method::counter) continue;
      if (!unobserved) unobserved.emplace();
      if (!figure.update_is_observed) unobserved->insert(domain.domain.name());
    }
  }
  return unobserved;
}

}  // namespace

void set_errors(NodeReport& node, const std::vector<const NamedRecord*>& chosen, double most_false,
                std::vector<std::string>& notes) {
  std::vector<SummedRun> runs;
  runs.reserve(chosen.size());
  for (const NamedRecord* run : chosen) runs.push_back(summed_run(run->record));
  const RunSum sum = sum_of_runs(std::move(runs), most_false);
  node.uncertainty = sum.uncertainty;
  node.common = sum.common;
  if (sum.is_in_step) {
    node.flags.set(Flag::in_step);
    notes.push_back(
        fmt::format("{}: the runs are in step with the updates of a sensor, so that their "
                    "errors add up; start them at random times",
                    printable(node.name)));
  }
  node.unseen = sum.unseen;
  if (chosen.size() > 1 && is_material(sum.unseen, sum.uncertainty, sum.energy)) {
    node.flags.set(Flag::ends_unseen);
    notes.push_back(printable(node.name) + std::string(kUnseenNote));
  }
}

void set_observed(NodeReport& node, const std::vector<const NamedRecord*>& chosen,
                  std::vector<std::string>& notes) {
  constexpr std::size_t kMany = 10;  // fewer runs hide it in their ±
  const auto unobserved = unobserved_counters(chosen);
  if (!unobserved) return;
  node.updates_are_observed = unobserved->empty();
  if (unobserved->empty() || chosen.size() < kMany) return;
  notes.push_back(fmt::format(
      "{}: how often {} {} renewed is published, not observed: the ± of {} runs does not hold if a "
      "counter pauses; wattle sensors --measure observes it",
      printable(node.name), fmt::join(*unobserved, ", "), unobserved->size() == 1 ? "is" : "are",
      chosen.size()));
}

void flag_unseen_ends(JobReport& report) {
  Joules unseen;
  bool is_flagged = false;
  for (const NodeReport& node : report.nodes) {
    unseen += node.unseen;
    is_flagged = is_flagged || node.flags.has(Flag::ends_unseen);
  }
  const bool is_sum = report.nodes.size() > 1 && report.energy;
  if (!is_sum || !is_material(unseen, report.uncertainty, *report.energy)) return;
  for (NodeReport& node : report.nodes) {
    if (node.unseen > Joules()) node.flags.set(Flag::ends_unseen);
  }
  if (!is_flagged) report.notes.push_back("all machines" + std::string(kUnseenNote));
}

}  // namespace wattle
