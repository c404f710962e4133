#include "serve/unknown_words.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text/nearest.hpp"
#include "base/text/text.hpp"

namespace wattle::daemon {

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
