// `wattle doctor --fix`: prints, or runs, the commands that let more be measured.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "cli/answer.hpp"
#include "machine/doctor.hpp"
#include "machine/fix_facts.hpp"
#include "machine/fix_plan.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr int kNothingToDo = 1;

/// Throws `Error` unless the command ends with 0.
void run_step(const FixStep& step) {
  std::vector<std::string> words = step.command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ);
  if (failure != 0) {
    throw Error(fmt::format("cannot run {}: {}; the commands after it were not run",
                            command_line(step), std::generic_category().message(failure)));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) {
    throw Error(fmt::format("{} failed; the commands after it were not run", command_line(step)));
  }
}

void apply(const Fix& fix) {
  if (::geteuid() != 0) throw Error("--apply takes root: sudo wattle doctor --fix ... --apply");
  for (const FixStep& step : fix.steps) {
    write_to_stderr(fmt::format("+ {}\n", command_line(step)));
    run_step(step);
  }
}

}  // namespace

int fix(const DoctorOptions& options) try {
  const Fix plan = plan_fix(*options.fix, find_facts(options.system));
  if (!plan.obstacle.empty()) {
    print_message("doctor", "no command helps here", plan.obstacle);
    return kNothingToDo;
  }
  if (options.apply) {
    apply(plan);
  } else {
    Output::open("-", false).write(script_of(plan));
  }
  return 0;
} catch (const Error& failed) {
  print_message("doctor", failed.what());
  return kRunFailed;
}

}  // namespace wattle::app
