// The text of /proc/cpuinfo.
#include "sensors/cpu_info.hpp"

#include "check.hpp"

FUZZ_TARGET(cpu_info)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const CpuInfo info = parse_cpu_info(fuzz::text_of(data, size));
  fuzz::require(fuzz::is_clean(info.vendor), "a vendor is clean");
  fuzz::require(fuzz::is_clean(info.model_name), "a model's name is clean");
  fuzz::require(!(info.is_amd() && info.is_intel()), "nobody is both");
  return 0;
}
