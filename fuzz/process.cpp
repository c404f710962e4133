// The texts of /proc/PID/stat and /proc/PID/status.
#include "usage/process/process.hpp"

#include "check.hpp"

FUZZ_TARGET(process)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto process = parse_process_stat(text)) {
    fuzz::require(fuzz::is_clean(process->name), "a process's name is clean");
    fuzz::require(process->pid >= 0 && process->parent >= 0, "no number means a group");
  }
  if (const auto peak = parse_peak_rss(text)) {
    fuzz::require(*peak % 1024 == 0, "memory counts in KiB");
  }
  return 0;
}
