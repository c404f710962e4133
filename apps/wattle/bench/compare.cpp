// `wattle compare`: what recorded runs cost beside others, and whether that is too much.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "bench/compare_options.hpp"
#include "cli/shared_options.hpp"
#include "history/history_options.hpp"
#include "history/run_sources.hpp"
#include "output/output.hpp"
#include "runs/compared_runs.hpp"
#include "runs/html/result_pages.hpp"
#include "runs/run_lacks.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr int kCostsMore = 1;
constexpr int kNotComparable = 2;

RunSource source_named(const std::string& word) {
  if (!is_history_query(word) && is_file_name(word)) {
    return read_source(content_of_file(word), word);
  }
  LoadedRuns loaded = load_runs({word});
  if (!loaded.problems.empty()) throw Error(loaded.problems.front());
  std::vector<Report> records;
  records.reserve(loaded.records.size());
  for (NamedRecord& found : loaded.records) records.push_back(std::move(found.record));
  return source_of(records, word);
}

/// True if the run succeeded, or its failures are ignored: of a job, those of all ranks.
bool is_accepted(const IgnoredFailures& ignored, const RunCost& run) {
  return ignored.accept(run.code, run.signal) &&
         std::ranges::all_of(run.failed_ranks, [&](const Exit& rank) {
           return ignored.accept(rank.code, rank.signal);
         });
}

/// Why the runs of one side are no result; empty: nothing is wrong with them. `accepted`: a lack
/// that may be there.
std::string why_no_result(const CompareOptions& options, const std::string& source,
                          const std::vector<RunCost>& runs, Lack accepted) {
  const auto reason = [&](auto count, std::string_view words) {
    return fmt::format("{} of {} of {} {}", count, counted(runs.size(), "run"), printable(source),
                       words);
  };
  const auto failed = std::ranges::count_if(
      runs, [&](const RunCost& run) { return !is_accepted(options.ignored, run); });
  if (failed > 0) return reason(failed, "failed; --ignore-failure compares failed runs too");
  for (const Lack lack : {Lack::ranks, Lack::domains, Lack::time}) {
    const auto lacking = std::ranges::count_if(
        runs, [&](const RunCost& run) { return lack_of(options.cost, run) == lack; });
    if (lacking > 0 && lack != accepted) return reason(lacking, words_of(lack));
  }
  return {};
}

/// True if B costs more than the limit by what is known of it alone: its unknown time only adds to
/// that.
bool is_above_by_bounds(const CompareOptions& options, const ComparedRuns& pair) {
  if (options.cost != Cost::energy) return false;
  std::vector<RunCost> bounds = pair.b.runs;
  for (RunCost& run : bounds) run.energy_unknown = Seconds(0);
  const Comparison found = compare(options.cost, pair.a.runs, bounds, false);
  return found.ratio && found.ratio->interval &&
         change_of(found.ratio->interval->low) > *options.fail_above;
}

struct Verdict {
  int status = 0;
  std::string reason{};  ///< empty: the text has it
};

Verdict verdict_on(const CompareOptions& options, const ComparedRuns& pair) {
  const std::string of_a = why_no_result(options, options.a, pair.a.runs, Lack::none);
  if (!of_a.empty()) return {kNotComparable, of_a};
  const std::string of_b = why_no_result(options, options.b, pair.b.runs, Lack::none);
  if (!of_b.empty()) {
    const bool is_bound = why_no_result(options, options.b, pair.b.runs, Lack::time).empty();
    if (is_bound && is_above_by_bounds(options, pair)) {
      return {kCostsMore, fmt::format("{} costs more by the known part of its energy alone",
                                      printable(options.b))};
    }
    return {kNotComparable, of_b};
  }
  const auto found = std::ranges::find(pair.comparisons, options.cost, &Comparison::cost);
  if (found == pair.comparisons.end()) {
    return {kNotComparable,
            fmt::format("the {} is unknown; --quantity chooses another", name_of(options.cost))};
  }
  const auto& interval = found->ratio->interval;
  if (!interval) {
    return {kNotComparable,
            found->doubt.empty() ? "it takes two runs of each at least" : found->doubt};
  }
  if (change_of(interval->low) > *options.fail_above) return {kCostsMore, {}};
  const double excess =
      unknown_excess(options.cost, pair.a.runs) + unknown_excess(options.cost, pair.b.runs);
  if (change_of(interval->low + excess) > *options.fail_above) {
    return {kNotComparable, fmt::format("the {} is unknown for a part of the time, which may "
                                        "decide; measure again",
                                        name_of(options.cost))};
  }
  return {};
}

/// The exit status: 1 if the cost is above the limit beyond chance, 2 if that cannot be decided.
/// `is_whole`: each command is compared.
int verdict(const CompareOptions& options, const std::vector<ComparedRuns>& all, bool is_whole) {
  if (!options.fail_above) return 0;
  int status = 0;
  for (const ComparedRuns& pair : all) {
    const Verdict found = verdict_on(options, pair);
    if (found.status == kNotComparable) {
      print_message("compare", "--fail-above cannot be decided", found.reason);
      return kNotComparable;
    }
    if (!found.reason.empty()) print_message("compare", found.reason);
    status = std::max(status, found.status);
  }
  if (status != 0 || is_whole) return status;
  print_message("compare",
                "--fail-above cannot be decided: a command is not compared; see the notes");
  return kNotComparable;
}

}  // namespace

int execute(const CompareOptions& options) {
  try {
    const RunSource a = source_named(options.a);
    const RunSource b = source_named(options.b);
    const std::vector<ComparedRuns> all = compare_sources(a, b, options.force);
    write_result(options.json ? to_json(a, b, all)
                              : to_text(a, b, all, style_of(STDOUT_FILENO), options.cost),
                 options.html_path, [&] { return html::to_html(html::page_of(a, b, all)); });
    const bool is_whole = all.size() == a.commands.size() && all.size() == b.commands.size();
    return verdict(options, all, is_whole);
  } catch (const WriteError&) {
    throw;
  } catch (const Error& error) {
    print_message("compare", error.what());
    return kNotComparable;
  }
}

}  // namespace wattle::app
