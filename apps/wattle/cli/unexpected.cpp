#include "cli/unexpected.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <sstream>

#include "base/text/option_words.hpp"
#include "base/text/text.hpp"

namespace wattle::app {
namespace {

bool is_program(const std::string& path) {
  struct stat file {};
  return ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

/// True if execvp would find it.
bool can_be_run(const std::string& word) {
  if (word.find('/') != std::string::npos) return is_program(word);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing changes the environment
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (is_program(folder.append("/").append(word))) return true;
  }
  return false;
}

/// The start of a long line says enough.
std::string beginning(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 4;
  if (words.size() <= kMost) return shell_line(words);
  return shell_line({words.begin(), words.begin() + kMost}) + " ...";
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

}  // namespace

std::string unexpected_argument(std::string_view word) {
  return fmt::format("unexpected argument {}", shell_quoted(word));
}

std::string unexpected(const CLI::App& command, std::string_view word) {
  if (!word.starts_with('-')) return unexpected_argument(word);
  const std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  return fmt::format("unknown option {}{}", printable(name), did_you_mean(name, names));
}

std::string unexpected(const CLI::App& command, const CLI::App& parsed) {
  std::vector<std::string> words = parsed.remaining(true);
  std::erase(words, "--");
  return unexpected(command, words.empty() ? std::string_view("--") : words.front());
}

std::string unknown_command(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string unknown = fmt::format("unknown command {}", shell_quoted(words.front()));
  if (can_be_run(words.front())) {
    return fmt::format("{}; did you mean wattle run -- {}?", unknown, beginning(words));
  }
  return unknown + did_you_mean(words.front(), commands_of(app));
}

}  // namespace wattle::app
