// The texts that the perf provider reads: CPU lists, events, scales, /proc/self/status, releases.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sensors/perf/diagnosis.hpp"
#include "sensors/perf/pmu.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_cpu_list(std::string_view text) {
  const auto cpus = wattle::perf::parse_cpu_list(text);
  if (!cpus) return;
  require(!cpus->empty());
  for (std::size_t i = 1; i < cpus->size(); ++i) require((*cpus)[i - 1] < (*cpus)[i]);
}

void check_scale(std::string_view text) {
  const auto scale = wattle::perf::parse_scale(text);
  if (!scale) return;
  require(scale->tick.si() > 0.0);
  require(scale->shift < 64);
  require(scale->followed_ticks > 0);
  require(scale->ticks(UINT64_MAX) > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_cpu_list(text);
  check_scale(text);
  (void)wattle::perf::parse_event(text);
  (void)wattle::perf::is_joules(text);
  (void)wattle::perf::is_filtered(text);
  (void)wattle::perf::knows_cap_perfmon(text);
  return 0;
}
