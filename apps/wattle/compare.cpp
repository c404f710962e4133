// `wattle compare`: what recorded runs cost beside others, and whether that is too much.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/file.hpp"
#include "base/text.hpp"
#include "bench_plan.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "page_output.hpp"
#include "run_sources.hpp"
#include "runs/compared_runs.hpp"
#include "runs/html/compare_page.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr int kCostsMore = 1;
constexpr int kNotComparable = 2;

RunSource source_in_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  const auto text = read_file(path, kMostBytes);
  if (!text) {
    throw Error(
        fmt::format("cannot read {}: {}", printable(path), std::generic_category().message(errno)));
  }
  return read_source(*text, path);
}

constexpr std::string_view kTagQuery = "tag:";

/// Saved runs with all of these tags: "tag:branch=main,host=n1"; "tag:branch" with any value.
RunSource tagged_runs(const std::string& query) {
  HistoryFilter filter;
  for (const std::string& tag : parameter_values(query.substr(kTagQuery.size()))) {
    const std::size_t equals = tag.find('=');
    filter.tags.insert_or_assign(tag.substr(0, equals),
                                 equals == std::string::npos ? "" : tag.substr(equals + 1));
  }
  std::vector<RunRecord> records;
  open_saved_runs()->each(filter, [&](const SavedRun& run) {
    records.push_back(parse_run_record(run.record, run.id));
  });
  if (records.empty()) {
    throw Error(
        fmt::format("no saved run has {}; wattle history --tag lists them", printable(query)));
  }
  return source_of(records, query);
}

RunSource source_named(const std::string& word) {
  if (word.starts_with(kTagQuery)) return tagged_runs(word);
  if (is_file_name(word)) return source_in_file(word);
  LoadedRuns loaded = load_runs({word});
  if (!loaded.problems.empty()) throw Error(loaded.problems.front());
  return source_of({loaded.records.front().record}, word);
}

/// 1 where the cost is above the limit beyond chance, 2 where nobody can know.
int verdict(const CompareOptions& options, const std::vector<ComparedRuns>& all) {
  if (!options.fail_above) return 0;
  int status = 0;
  for (const ComparedRuns& pair : all) {
    const auto found = std::ranges::find(pair.comparisons, options.cost, &Comparison::cost);
    if (found == pair.comparisons.end() || !found->ratio->interval) {
      write_to_stderr(
          fmt::format("wattle compare: --fail-above cannot be decided: {}\n",
                      found == pair.comparisons.end()
                          ? fmt::format("the {} is not known; --quantity chooses another",
                                        name_of(options.cost))
                          : "it takes two runs of each at least"));
      return kNotComparable;
    }
    if (change_of(found->ratio->interval->low) > *options.fail_above) status = kCostsMore;
  }
  return status;
}

}  // namespace

int compare(const CompareOptions& options) {
  try {
    const RunSource a = source_named(options.a);
    const RunSource b = source_named(options.b);
    const std::vector<ComparedRuns> all = compared(a, b, options.force);
    write_result(options.json ? to_json(a, b, all) : to_text(a, b, all, style_of(STDOUT_FILENO)),
                 options.html_path, [&] { return html::to_html(html::page_of(a, b, all)); });
    return verdict(options, all);
  } catch (const WriteError&) {
    throw;
  } catch (const Error& error) {
    write_to_stderr(fmt::format("wattle compare: {}\n", error.what()));
    return kNotComparable;
  }
}

}  // namespace wattle::app
