// `wattle-stream`, which `wattle stream` becomes: a program of its own, so that no other command
// loads libcurl at each start.
#include <sys/resource.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "cli/answer.hpp"
#include "cli/ending.hpp"
#include "cli/privileges.hpp"
#include "output/output.hpp"
#include "stream/stream_follow.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// As many servers as the system lets one follow: the usual limit, of 1024 descriptors, is for
/// programs that use select(), which this one does not.
void allow_many_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int stream(std::vector<std::string> words) {
  const auto environment = [](const char* name) {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  };
  const auto asked = parse_stream_options(std::move(words), environment);
  if (const auto* text = std::get_if<Answer>(&asked)) return print_answer(*text);
  try {
    return follow(std::get<StreamOptions>(asked));
  } catch (const InvalidArgument& wrong) {
    return print_answer(usage_error("stream", wrong.what()));
  }
}

}  // namespace
}  // namespace wattle::app

int main(int argc, char** argv) {
  using namespace wattle::app;  // NOLINT(google-build-using-namespace): the program's own
  end_in_good_order();
  open_closed_standard_descriptors();
  wattle::set_log({});  // the command prints what matters
  // Before anything is read: it talks to other machines, which needs none.
  drop_privileges();
  allow_many_descriptors();
  try {
    return stream(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  } catch (const std::exception& error) {
    print_message("stream", error.what());
    return kRunFailed;
  }
}
