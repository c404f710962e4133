// `wattle mark`: a phase of a run starts or ends.
#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/marks.hpp"
#include "commands.hpp"
#include "output.hpp"

namespace wattle::app {

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
      fmt::format("wattle mark: the run does not take the mark: {}\n",
                  error == ECONNREFUSED ? "it has ended" : std::generic_category().message(error)));
  return kNotTaken;
}

}  // namespace wattle::app
