// The environment of a batch job, NAME=VALUE on each line, and the paths of outputs: the first
// line.
#include "run/job.hpp"

#include <map>
#include <string>
#include <string_view>

#include "base/text/split.hpp"
#include "check.hpp"
#include "wattle/error.hpp"

namespace {

using namespace wattle;  // NOLINT(google-build-using-namespace): the program's own

void check_path(std::string_view path) {
  try {
    const std::string expanded =
        app::expand_path(path, {.host = "h", .rank = "r", .pid = "p", .job = "j"});
    fuzz::require(expanded.size() <= path.size(), "a placeholder is not shorter than its value");
  } catch (const InvalidArgument& error) {
    fuzz::require(fuzz::is_clean(error.what()), "an error is clean");
  }
}

}  // namespace

FUZZ_TARGET(job)(const unsigned char* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  check_path(take_line(text));
  std::map<std::string, std::string, std::less<>> variables;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  const app::Job job = app::read_job([&](const char* name) -> const char* {
    const auto found = variables.find(std::string_view(name));
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
  if (job.slurm) fuzz::require(!job.slurm->job_id.empty(), "a job of Slurm has a number");
  if (job.slurm) fuzz::require(!job.id.empty(), "which is the job's");
  return 0;
}
