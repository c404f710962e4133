// The texts of /proc/stat, /proc/meminfo, /proc/pressure, /proc/diskstats and /proc/net/dev.
#include "check.hpp"
#include "run_monitor/machine_reader.hpp"

FUZZ_TARGET(machine)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto times = parse_cpu_times(text)) {
    fuzz::require(times->busy <= times->total, "busy time is part of all time");
    fuzz::require(times->processors <= size / 5, "a processor has a line");
    for (const auto part :
         {times->user, times->system, times->idle, times->iowait, times->irq, times->steal}) {
      fuzz::require(part <= times->total, "a part is part of all time");
    }
    if (const auto shares = cpu_shares(CpuTimes{}, *times)) {
      const double sum = shares->user + shares->system + shares->idle + shares->iowait +
                         shares->irq + shares->steal;
      fuzz::require(sum > 99.999 && sum < 100.001, "shares add up");
    }
  }
  if (const auto memory = parse_memory(text)) {
    fuzz::require(memory->used_bytes <= memory->total_bytes, "used memory is part of all memory");
  }
  if (const auto pressure = parse_pressure(text)) {
    fuzz::require(pressure->some_s >= 0.0, "nobody waited for less than no time");
  }
  std::size_t named = 0;
  const NameFilter counted = [&](std::string_view name) {
    fuzz::require(!name.empty() && name.size() <= size, "a name stands in the text");
    ++named;
    return true;
  };
  const bool is_counted = parse_disk_totals(text, counted).has_value() ||
                          parse_network_totals(text, counted).has_value();
  fuzz::require(!is_counted || named > 0, "what counts has a name");
  return 0;
}
