// What a run monitor measured, value by value.
#include "base/text/split.hpp"
#include "check.hpp"
#include "run_monitor/tables/samples_table.hpp"

FUZZ_TARGET(samples_csv)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  SamplesTable table;
  std::size_t lines = 0;
  while (!text.empty()) {
    table.take(take_line(text));
    ++lines;
  }
  fuzz::require(table.rows() + table.bad_rows() <= lines, "a line is one row at most");
  const SamplesResult result = table.result();
  if (const auto mean = result.cpu_user_percent) {
    fuzz::require(*mean >= 0.0 && *mean <= 100.0 * (1.0 + 1e-9), "a mean is between");
  }
  fuzz::require(result.gpus.gpus.size() <= kMostGpus, "there are no more GPUs than that");
  return 0;
}
