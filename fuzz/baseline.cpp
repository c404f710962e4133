// The file of a baseline.
#include "estimate/baseline.hpp"

#include "check.hpp"

FUZZ_TARGET(baseline)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const auto baseline = parse_baseline(fuzz::text_of(data, size));
  if (!baseline) return 0;
  fuzz::require(fuzz::is_clean(baseline->machine.host), "a host is clean");
  fuzz::require(baseline->mean.si() >= 0.0, "a power is not negative");
  const IdleRange idle = baseline->power();
  fuzz::require(idle.low <= idle.typical && idle.typical <= idle.high, "idle power is a range");
  fuzz::require(fuzz::is_clean(baseline_text(*baseline)), "its text is clean");
  return 0;
}
