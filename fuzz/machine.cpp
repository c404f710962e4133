// The texts of /proc/stat and /proc/meminfo.
#include "usage/machine.hpp"

#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto times = parse_cpu_times(text)) {
    fuzz::require(times->busy <= times->total, "busy time is part of all time");
    fuzz::require(times->processors <= size / 5, "a processor has a line");
  }
  if (const auto memory = parse_memory(text)) {
    fuzz::require(memory->used_bytes <= memory->total_bytes, "used memory is part of all memory");
  }
  return 0;
}
