// Shares of processor time that a run monitor wrote.
#include "base/text/split.hpp"
#include "check.hpp"
#include "run_monitor/tables/cpu_table.hpp"

FUZZ_TARGET(cpu_csv)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  CpuTable table;
  std::size_t lines = 0;
  while (!text.empty()) {
    table.take(take_line(text));
    ++lines;
  }
  fuzz::require(table.rows() + table.bad_rows() <= lines, "a line is one row at most");
  if (const auto mean = table.usr_mean_pct()) {
    fuzz::require(*mean >= 0.0 && *mean <= 100.0 * (1.0 + 1e-9), "a mean is between");
  }
  return 0;
}
