#include "cli/answer.hpp"

#include <fmt/format.h>

#include "output/output.hpp"

namespace wattle::app {

int print_answer(const Answer& answer) {
  if (answer.is_error) {
    write_to_stderr(answer.text);
  } else {
    Output::open("-", false).write(answer.text);
  }
  return answer.exit_status;
}

Answer usage_error(std::string_view command, std::string_view message) {
  const std::string name = command.empty() ? "wattle" : fmt::format("wattle {}", command);
  return {.text = fmt::format("{0}: {1}\nTry: {0} --help\n", name, message),
          .is_error = true,
          .exit_status = command == "run" ? kRunFailed : kUsageError};
}

}  // namespace wattle::app
