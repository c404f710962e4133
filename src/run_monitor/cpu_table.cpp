#include "run_monitor/cpu_table.hpp"

#include <array>

#include "base/split.hpp"
#include "run_monitor/time_text.hpp"

namespace wattle {

void CpuTable::take(std::string_view line) {
  if (trimmed(line) == "timestamp,usr_pct,idle_pct") return;
  const std::size_t first = line.find(',');
  const std::size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
  const bool begins_with_time = !line.empty() && is_digit(line[0]);
  if (!begins_with_time || second == std::string_view::npos) {
    count_row(false);
    return;
  }
  const Cell usr = parse_cell(line.substr(first + 1, second - first - 1));
  const Cell idle = parse_cell(line.substr(second + 1));
  // No processor is busy or idle for more than all of the time.
  if (usr.is_bad() || idle.is_bad() || usr.value > 100.0 || idle.value > 100.0) {
    count_row(false);
    return;
  }
  count_row(true);
  // Without times all rows count the same.
  const std::optional<std::int64_t> time_ms = parse_utc_ms(trimmed(line.substr(0, first)));
  const std::optional<double> weight = time_ms ? gaps_.next(*time_ms).weight() : 1.0;
  usr_.add(usr, weight);
  idle_.add(idle, weight);
}

}  // namespace wattle
