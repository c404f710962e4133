// Marks that a command sends to its run.
#include "base/marks.hpp"

#include "check.hpp"

FUZZ_TARGET(marks)(const unsigned char* data, std::size_t size) {
  using namespace wattle;
  const auto mark = parse_mark(fuzz::text_of(data, size));
  if (!mark) return 0;
  fuzz::require(mark->name.size() <= kMostMarkBytes, "a name is short");
  const bool starts = mark->kind == MarkKind::start || mark->kind == MarkKind::next;
  fuzz::require(!mark->name.empty() || !starts, "a phase that starts has a name");
  const auto again = parse_mark(mark_text(mark->kind, mark->name));
  fuzz::require(again.has_value(), "what is written is read");
  fuzz::require(again->kind == mark->kind, "as the same kind");
  return 0;
}
