// The text of /proc/cpuinfo, for the microarchitecture.
#include "check.hpp"
#include "estimate/microarchitecture.hpp"
#include "sensors/cpu_info.hpp"

FUZZ_TARGET(processor_kinds)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const Processors processors = parse_processors(fuzz::text_of(data, size));
  fuzz::require(processors.kinds.size() <= Processors::kMostKinds, "kinds are limited");
  const Microarchitecture found = recognize(processors);
  fuzz::require(fuzz::is_clean(found.title), "a title is clean");
  fuzz::require(fuzz::is_clean(found.recognized_by), "what it is recognized by is clean");
  fuzz::require(found.idle.low > 0.0 && found.idle.low <= found.idle.high, "idle is a range");
  fuzz::require(found.full.low > 0.0 && found.full.low <= found.full.high, "full is a range");
  return 0;
}
