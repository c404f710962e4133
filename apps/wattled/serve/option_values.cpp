#include "serve/option_values.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <system_error>
#include <vector>

#include "base/text/option_words.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {

CLI::Option* add_named(CLI::App& app, const char* name, std::string& to, const char* help,
                       const char* type) {
  const auto refuse_empty = [](const std::string& given) {
    return given.empty() ? std::string("is empty") : std::string();
  };
  return app.add_option(name, to, help)
      ->type_name(type)
      ->check(CLI::Validator(refuse_empty, "", ""));
}

[[noreturn]] void refuse_value(std::string_view option, std::string_view takes,
                               std::string_view given) {
  throw InvalidArgument(fmt::format("{} takes {}, not '{}'", option, takes, printable(given)));
}

mode_t permissions_of(const std::string& text) {
  constexpr unsigned kAll = 0777;
  unsigned mode = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, mode, 8);
  if (error != std::errc{} || stopped != end || mode > kAll) {
    refuse_value("--socket-permissions", "a file mode in octal, such as 660", text);
  }
  return static_cast<mode_t>(mode);
}

std::chrono::milliseconds public_period_of(const std::string& text) {
  constexpr double kShortestS = 0.01;
  constexpr double kLongestS = 3600.0;
  const auto seconds = parse_double(text);
  const bool is_period = seconds && *seconds >= kShortestS && *seconds <= kLongestS;
  if (!is_period && seconds != 0.0) {
    refuse_value("--public-cpu-period", "a number of seconds from 0.01 to 3600, or 0 for no limit",
                 text);
  }
  return std::chrono::milliseconds(std::llround(*seconds * 1000.0));
}

std::chrono::seconds history_length(std::uint32_t seconds, bool is_given, bool is_on_disk) {
  constexpr std::chrono::seconds kOnDisk = std::chrono::hours(48);
  if (is_on_disk && !is_given) return kOnDisk;
  if (is_on_disk && seconds == 0) {
    throw InvalidArgument("--history-dir keeps nothing with --history 0");
  }
  return std::chrono::seconds(seconds);
}

std::pair<const CLI::App*, std::string> innermost_command(const CLI::App& app) {
  std::pair<const CLI::App*, std::string> found{&app, app.get_name()};
  while (!found.first->get_subcommands().empty()) {
    found.first = found.first->get_subcommands().front();
    found.second += ' ' + found.first->get_name();
  }
  return found;
}

std::string unknown_word_error(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> known;
  for (const CLI::App* sub : command.get_subcommands({})) known.push_back(sub->get_name());
  const std::string commands = joined(known, " or ");
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string> words = app.remaining(true);
  if (words.empty()) return "no command given: " + commands;
  const std::string name = words.front().substr(0, words.front().find('='));
  const char* const what = name.starts_with('-') ? "unknown option"
                           : commands.empty()    ? "unexpected argument"
                                                 : "unknown command";
  return fmt::format("{} {}{}", what, shell_quoted(name), did_you_mean(name, known));
}

}  // namespace wattle::daemon
