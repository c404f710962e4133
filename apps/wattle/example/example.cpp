// `wattle example`: what a sub-command takes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

#include "base/text/text.hpp"
#include "cli/subcommand.hpp"
#include "output/output.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

struct ExampleOptions {
  std::string name;
  bool is_quoted = false;
};

int execute(const ExampleOptions& options) {
  const std::string shown =
      options.is_quoted ? shell_quoted(options.name) : printable(options.name);
  Output::open("-", false).write(fmt::format("{}\n", shown));
  return 0;
}

/// The options as they are written.
struct RawExample {
  ExampleOptions example;

  void add(CLI::App& command) {
    command.footer("\nPrints NAME. Exit status: 0, 64 for a wrong option.\n");
    command.add_option("NAME", example.name, "What to print")->type_name("");
    command.add_flag("--quote", example.is_quoted, "Quote NAME for a shell");
  }
  [[nodiscard]] ExampleOptions checked(const CommandLine& /*line*/) const {
    if (example.name.empty()) throw InvalidArgument("a name is missing: wattle example NAME");
    return example;
  }
};

}  // namespace

extern constinit const Subcommand kExampleSubcommand = {.name = "example",
                                                        .group = HelpGroup::set_up,
                                                        .summary = "Print a name",
                                                        .arguments = " NAME",
                                                        .add = add_options<RawExample>,
                                                        .run = execute_with<ExampleOptions>};

}  // namespace wattle::app
