// What wattle-stream needs of options.hpp too.
#include <fmt/format.h>

#include <cmath>

#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/options.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {

int execute(const Answer& answer) {
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

std::chrono::nanoseconds parse_seconds(const std::string& text, std::string_view option,
                                       double least, double most) {
  const auto seconds = parse_double(text);
  if (!seconds || *seconds < least || *seconds > most) {
    throw InvalidArgument(fmt::format("{} takes a number of seconds from {} to {}, not '{}'",
                                      option, least, most, printable(text)));
  }
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

std::chrono::nanoseconds parse_interval(const std::string& text, std::string_view option) {
  constexpr double kShortestS = 0.001;
  constexpr double kLongestS = 3600.0;
  return parse_seconds(text, option, kShortestS, kLongestS);
}

}  // namespace wattle::app
