// `wattle mark`: a phase of a run, or a unit of work in it, starts or ends.
#include <cerrno>
#include <string>
#include <system_error>

#include "base/marks.hpp"
#include "cli/commands.hpp"
#include "output/output.hpp"

namespace wattle::app {

namespace {

std::string cause_of(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "it has ended";
    case EAGAIN:
      return "it does not read its marks; it may be stopped";
    case EACCES:
      return "it belongs to another user";
    default:
      return std::generic_category().message(error);
  }
}

}  // namespace

int execute(const MarkOptions& options) {
  const Mark& mark = options.mark;
  const int error =
      mark.id.empty() ? send_mark(mark.kind, mark.name) : send_mark_text(unit_mark_text(mark));
  if (error == 0) return 0;
  if (error == ENOENT) {
    if (!options.quiet) {
      print_message("mark", "not in a wattle run (WATTLE_RUN names no socket); ignored");
    }
    return 0;
  }
  constexpr int kNotTaken = 1;
  print_message("mark", "the run does not take the mark", cause_of(error));
  return kNotTaken;
}

}  // namespace wattle::app
