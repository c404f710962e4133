#include "stream/stream.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "cli/answer.hpp"
#include "cli/subcommand.hpp"
#include "output/output.hpp"

namespace wattle::app {

int execute(const StreamWords& options) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string program = (self.parent_path() / "wattle-stream").string();
  std::vector<std::string> words = {"wattle-stream"};
  words.insert(words.end(), options.words.begin(), options.words.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  write_to_stderr(fmt::format(
      "wattle: cannot start {}: {}; it is built and installed with wattle where libcurl "
      "and simdjson are found\n",
      program, std::generic_category().message(errno)));
  return kRunFailed;
}

namespace {

/// The other program reads them.
std::any take_words(const CommandLine& line) {
  return StreamWords{{line.words.begin() + 1, line.words.end()}};
}

}  // namespace

extern constinit const Subcommand kStreamSubcommand = {
    .name = "stream",
    .group = HelpGroup::watch,
    .summary = "Follow the power of other machines until Ctrl-C",
    .read = take_words,
    .run = execute_with<StreamWords>};

}  // namespace wattle::app
