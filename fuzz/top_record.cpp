// Lines of recordings of `wattle top`, and the screens that they make.
#include <cmath>

#include "base/text/split.hpp"
#include "check.hpp"
#include "top/frame.hpp"
#include "top/sources/record.hpp"

FUZZ_TARGET(top_record)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  using namespace wattle::app;
  std::string_view text = fuzz::text_of(data, size);
  while (!text.empty()) {
    const auto seen = parse_record_line(take_line(text));
    if (!seen) continue;
    fuzz::require(fuzz::is_clean(seen->host), "names are clean");
    const GroupTable groups = group_rows(*seen, TopKey::user);
    double sum = 0.0;
    for (const GroupRow& row : groups.groups) sum += row.share.value_or(0.0);
    for (const GroupRow& row : groups.others) sum += row.share.value_or(0.0);
    fuzz::require(sum == 0.0 || std::abs(sum - 100.0) < 1e-6, "shares add up to 100");
    PowerTrails trails;
    trails.add(*seen);
    const ScreenSize screen{.columns = 50, .lines = 14};
    const TopFrame frame =
        frame_of(*seen, groups, trails, TopView{}, screen, {.width = 50, .unicode = false});
    fuzz::require(frame.lines.size() == screen.lines, "a screen is full");
    for (const std::string& line : frame.lines) {
      fuzz::require(fuzz::is_clean(line) && columns_of(line) <= screen.columns, "lines fit");
    }
    const auto again = parse_record_line(to_record_line(*seen));
    fuzz::require(again && to_record_line(*again) == to_record_line(*seen),
                  "what was read is written as it is");
  }
  return 0;
}
