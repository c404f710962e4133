// The table of GPUs that nvidia-smi or a run monitor wrote.
#include "check.hpp"
#include "gpu_figures.hpp"
#include "run_monitor/tables/gpu_table.hpp"

FUZZ_TARGET(gpu_csv)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  fuzz::require_table<GpuCsv>(fuzz::text_of(data, size));
  return 0;
}
