// The table of `nvidia-smi dmon`.
#include "base/file.hpp"
#include "check.hpp"
#include "gpu_figures.hpp"
#include "hardware/dmon_table.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  std::string_view text = fuzz::text_of(data, size);
  DmonTable table;
  std::size_t lines = 0;
  while (!text.empty()) {
    table.take(take_line(text));
    ++lines;
  }
  fuzz::require(table.rows() + table.bad_rows() <= lines, "a line is one row at most");
  const GpuTable result = table.result();
  fuzz::require(result.gpus.size() <= kMostGpus, "no file takes more memory than that");
  fuzz::require_figures(result.all);
  for (const GpuSummary& gpu : result.gpus) fuzz::require_figures(gpu);
  return 0;
}
