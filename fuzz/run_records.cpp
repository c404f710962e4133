// Files of run records and of benchmarks.
#include <cmath>

#include "check.hpp"
#include "runs/compared_runs.hpp"
#include "runs/run_record.hpp"
#include "wattle/error.hpp"

FUZZ_TARGET(run_records)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  try {
    const RunSource source = read_source(fuzz::text_of(data, size), "runs.jsonl");
    (void)compare_sources(source, source, true);
  } catch (const Error& error) {
    fuzz::require(fuzz::is_clean(error.what()), "an error is clean");
  }
  try {
    const auto records = parse_run_records(fuzz::text_of(data, size), "runs.jsonl");
    fuzz::require(!records.empty(), "a file that can be read has a record");
    for (const Report& record : records) {
      fuzz::require(std::isfinite(record.wall.count()) && record.wall.count() >= 0.0,
                    "a length is a number from 0 on");
      fuzz::require(parse_run_record(to_json(record), "again").energy.total.energy ==
                        record.energy.total.energy,
                    "what was read is written, and read as the same");
    }
  } catch (const FormatError& error) {
    fuzz::require(fuzz::is_clean(error.what()), "an error is clean");
  }
  return 0;
}
