// Lines of an exported history, and the packed power of a run.
#include <cmath>

#include "check.hpp"
#include "runs/history/saved_run_json.hpp"
#include "wattle/error.hpp"

FUZZ_TARGET(saved_runs)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  try {
    const SavedRun run = parse_saved_run(text, "runs.jsonl, line 1");
    const SavedRun again = parse_saved_run(saved_run_line(run), "the same");
    fuzz::require(again.record == run.record, "a record stays as it is");
    fuzz::require(again.tags == run.tags, "as do tags");
    if (run.series) {
      fuzz::require(PowerCourse::unpacked(run.series->packed()).has_value(), "a series is packed");
    }
  } catch (const FormatError& error) {
    fuzz::require(fuzz::is_clean(error.what()), "an error is clean");
  }
  const auto series = PowerCourse::unpacked(text);
  if (series) fuzz::require(std::isfinite(series->length.count()), "a length is a number");
  return 0;
}
