// `wattle report`: many runs as one.

#include "cli/commands.hpp"
#include "history/run_sources.hpp"
#include "output/output.hpp"
#include "output/page_output.hpp"
#include "runs/html/job_page.hpp"

namespace wattle::app {

int execute(const ReportOptions& options) {
  constexpr int kIncomplete = 1;
  constexpr int kNothing = 2;
  const LoadedRuns loaded = load_runs(options.words);
  for (const std::string& problem : loaded.problems) {
    print_message("report", problem);
  }
  if (loaded.records.empty()) {
    print_message("report", "there is no run to report");
    return kNothing;
  }
  const std::vector<JobReport> reports = job_reports(loaded.records);
  write_result(options.json ? to_json(reports) : to_text(reports, style_of(STDOUT_FILENO)),
               options.html_path, [&] { return html::to_html(html::page_of(reports)); });
  return loaded.problems.empty() ? 0 : kIncomplete;
}

}  // namespace wattle::app
