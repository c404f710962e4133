// The texts that the perf provider reads: CPU lists, events, scales, /proc/self/status, releases.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check.hpp"
#include "sensors/cpu_info.hpp"
#include "sensors/perf/diagnosis.hpp"
#include "sensors/perf/event_sensor.hpp"

namespace {

using wattle::fuzz::require;

void check_cpu_list(std::string_view text) {
  const auto cpus = wattle::parse_cpu_list(text);
  if (!cpus) return;
  require(!cpus->empty(), "a list that is taken names a CPU");
  for (std::size_t i = 1; i < cpus->size(); ++i) {
    require((*cpus)[i - 1] < (*cpus)[i], "CPUs are in order, each once");
  }
}

void check_scale(std::string_view text) {
  const auto scale = wattle::perf::parse_scale(text);
  if (!scale) return;
  require(scale->tick.si() > 0.0, "a tick is some energy");
  require(scale->shift < 64, "a shift is one of 64 bits");
  require(scale->followed_ticks > 0, "some ticks can be followed");
  require(scale->ticks(UINT64_MAX) > 0, "the largest count is some ticks");
}

}  // namespace

FUZZ_TARGET(perf)(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_cpu_list(text);
  check_scale(text);
  (void)wattle::perf::parse_event(text);
  (void)wattle::perf::is_joules(text);
  (void)wattle::perf::is_filtered(text);
  (void)wattle::perf::knows_cap_perfmon(text);
  return 0;
}
