#include "run_monitor/tables/cpu_table.hpp"

#include <algorithm>

#include "base/text/split.hpp"
#include "run_monitor/tables/any_time.hpp"
#include "run_monitor/tables/time_text.hpp"

namespace wattle {

void CpuTable::take(std::string_view line) {
  if (trimmed(line) == "timestamp,usr_pct,idle_pct") {
    has_header_ = true;
    return;
  }
  const bool is_first = rows() + bad_rows() == 0;
  has_other_header_ = has_other_header_ || (is_first && !line.empty() && is_letter(line.front()));
  count_row(take_row(line));
}

bool CpuTable::take_row(std::string_view line) {
  const bool begins_with_time = !line.empty() && is_digit(line[0]);
  if (!begins_with_time || std::ranges::count(line, ',') < 2) {
    note_bad([] { return "expected: timestamp,usr_pct,idle_pct"; });
    return false;
  }
  const std::string_view time = trimmed(take_until(line, ','));
  std::optional<std::int64_t> time_ms = parse_utc_ms(time);
  if (!time_ms) time_ms = parse_any_time_ms(time);
  const Cell usr = parse_cell(take_until(line, ','));
  const Cell idle = parse_cell(line);
  if (!is_share(usr) || !is_share(idle)) {
    note_bad([] { return "a share is no number from 0 to 100"; });
    return false;
  }
  constexpr double kMostOfWhole = 101.0;  // each share is rounded
  if (time_ms && usr.value() + idle.value() <= kMostOfWhole) ++rows_of_shares_;
  // Without times all rows count the same.
  const std::optional<double> weight = time_ms ? gaps_.next(*time_ms).weight() : 1.0;
  usr_.add(usr, weight);
  idle_.add(idle, weight);
  return true;
}

}  // namespace wattle
