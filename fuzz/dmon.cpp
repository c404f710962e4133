// The table of `nvidia-smi dmon`.
#include "check.hpp"
#include "gpu_figures.hpp"
#include "run_monitor/tables/dmon_table.hpp"

FUZZ_TARGET(dmon)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  fuzz::require_table<DmonTable>(fuzz::text_of(data, size));
  return 0;
}
