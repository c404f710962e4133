// Marks that a command sends to its run.
#include "base/marks.hpp"

#include <cmath>

#include "check.hpp"

FUZZ_TARGET(marks)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const auto mark = parse_mark(fuzz::text_of(data, size));
  if (!mark) return 0;
  fuzz::require(mark->name.size() <= kMostMarkBytes, "a name is short");
  const bool starts = mark->kind == MarkKind::start || mark->kind == MarkKind::next;
  fuzz::require(!mark->name.empty() || !starts, "a phase that starts has a name");
  const bool is_unit = mark->kind == MarkKind::unit || mark->kind == MarkKind::unit_end;
  fuzz::require(!is_unit || (!mark->id.empty() && mark->id.size() <= kMostUnitIdBytes),
                "a unit has an ID");
  fuzz::require(std::isfinite(mark->number), "a number is one");
  const auto again =
      parse_mark(is_unit ? unit_mark_text(*mark) : mark_text(mark->kind, mark->name));
  fuzz::require(again.has_value(), "what is written is read");
  fuzz::require(again->kind == mark->kind, "as the same kind");
  fuzz::require(again->id == mark->id && again->number == mark->number, "with the same number");
  return 0;
}
