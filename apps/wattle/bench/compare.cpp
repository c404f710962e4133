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

/// Prints which side has failed runs that are not ignored. False: none has.
bool has_failed_runs(const CompareOptions& options, const std::vector<ComparedRuns>& all) {
  for (const ComparedRuns& pair : all) {
    for (const auto& [source, side] : {std::pair(&options.a, &pair.a), {&options.b, &pair.b}}) {
      const auto failed = std::ranges::count_if(side->runs, [&](const RunCost& run) {
        return !options.ignored.accept(run.code, run.signal);
      });
      if (failed == 0) continue;
      print_message("compare", "--fail-above cannot be decided",
                    fmt::format("{} of {} of {} failed; --ignore-failure compares failed runs too",
                                failed, counted(side->runs.size(), "run"), printable(*source)));
      return true;
    }
  }
  return false;
}

/// The exit status: 1 if the cost is above the limit beyond chance, 2 if that cannot be decided.
/// `is_whole`: each command is compared.
int verdict(const CompareOptions& options, const std::vector<ComparedRuns>& all, bool is_whole) {
  if (!options.fail_above) return 0;
  if (has_failed_runs(options, all)) return kNotComparable;
  int status = 0;
  for (const ComparedRuns& pair : all) {
    const auto found = std::ranges::find(pair.comparisons, options.cost, &Comparison::cost);
    if (found == pair.comparisons.end() || !found->ratio->interval) {
      std::string reason = "it takes two runs of each at least";
      if (found == pair.comparisons.end()) {
        reason =
            fmt::format("the {} is unknown; --quantity chooses another", name_of(options.cost));
      } else if (!found->doubt.empty()) {
        reason = found->doubt;
      }
      print_message("compare", "--fail-above cannot be decided", reason);
      return kNotComparable;
    }
    if (change_of(found->ratio->interval->low) > *options.fail_above) status = kCostsMore;
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
