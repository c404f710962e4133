// Exit statuses of the program, and the answer to a command line that has nothing to run.
#pragma once

#include <string>
#include <string_view>

namespace wattle::app {

/// A wrong option of `wattle run`, or Wattle's own failure there: as env(1), timeout(1), nohup(1).
inline constexpr int kRunFailed = 125;
/// A wrong command line elsewhere: EX_USAGE of sysexits.h.
inline constexpr int kUsageError = 64;

/// A text that was asked for, or a message about a wrong command line.
struct Answer {
  std::string text;
  bool is_error = false;
  int exit_status = 0;
};

/// Prints the text, and returns the exit status.
int print_answer(const Answer& answer);
/// The answer of a sub-command, or of "" for none, to a wrong command line.
[[nodiscard]] Answer usage_error(std::string_view command, std::string_view message);

}  // namespace wattle::app
