// `wattle mark`: a phase of a run starts or ends.
#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/marks.hpp"
#include "commands.hpp"
#include "output.hpp"

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

int mark(const MarkOptions& options) {
  const int error = send_mark(options.kind, options.name);
  if (error == 0) return 0;
  if (error == ENOENT) {
    if (!options.quiet) {
      write_to_stderr("wattle mark: not in a wattle run (WATTLE_RUN names no socket); ignored\n");
    }
    return 0;
  }
  constexpr int kNotTaken = 1;
  write_to_stderr(
      fmt::format("wattle mark: the run does not take the mark: {}\n", cause_of(error)));
  return kNotTaken;
}

}  // namespace wattle::app
