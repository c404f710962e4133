// Tables that a spreadsheet or another program wrote, as lines of nvidia-smi.
#include "run_monitor/tables/table_dialect.hpp"

#include <string>
#include <vector>

#include "base/text/split.hpp"
#include "check.hpp"
#include "run_monitor/tables/dmon_table.hpp"
#include "run_monitor/tables/gpu_table.hpp"

FUZZ_TARGET(table_dialect)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_line(text));
  const std::vector<TableDialect> dialects = possible_dialects(lines);
  fuzz::require(!dialects.empty(), "there is the plain one");
  for (TableDialect dialect : dialects) {
    GpuCsv gpus;
    DmonTable dmon;
    for (const std::string& line : lines) {
      const std::string_view plain = dialect.plain(line);
      fuzz::require(plain.size() <= line.size(), "nothing is added");
      gpus.take(plain);
      dmon.take(plain);
    }
    fuzz::require(gpus.readable() <= lines.size(), "a line is one row at most");
    fuzz::require(fuzz::is_clean(gpus.why_bad()), "what is printed is clean");
    fuzz::require(fuzz::is_clean(dmon.why_bad()), "what is printed is clean");
    fuzz::require(fuzz::is_clean(gpus.note()), "what is printed is clean");
  }
  return 0;
}
