#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text/option_words.hpp"
#include "base/version.hpp"
#include "cli/unexpected.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kWattleFooter = R"(
wattle help COMMAND lists the options of a command.
)";

/// CLI11 does not know that a command follows.
class HelpText : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string /*name*/) const override {
    const std::string& name = app->get_name();
    const Subcommand* const subcommand = find_subcommand(name);
    if (subcommand == nullptr) return "usage: wattle COMMAND [options]\n";
    return fmt::format("usage: wattle {} [options]{}\n", name, subcommand->arguments);
  }
};

const char* title_of(HelpGroup group) {
  switch (group) {
    case HelpGroup::measure:
      return "Measure";
    case HelpGroup::compare:
      return "Compare";
    case HelpGroup::watch:
      return "Watch";
    case HelpGroup::set_up:
      break;
  }
  return "Set up";
}

/// "wattle help run" is "wattle run --help".
CommandLine read_command_line(int argc, const char* const* argv) {
  CommandLine line{.words = {argv + std::min(argc, 1), argv + argc}};
  auto& words = line.words;
  if (line.name() == "help") {
    words.resize(std::min<std::size_t>(words.size(), 2));
    std::ranges::rotate(words, words.begin() + 1);
    words.back() = "--help";
  }
  const Subcommand* const named = find_subcommand(line.name());
  if (named == nullptr || !named->takes_command) return line;
  const auto mark = std::ranges::find(words, "--");
  line.has_mark = mark != words.end();
  if (line.has_mark) line.after.assign(mark + 1, words.end());
  words.erase(mark, words.end());
  return line;
}

/// An empty value is a variable of a script that is not set, not a wish for the default. A command
/// to be run beside others may be empty, as hyperfine has it.
void refuse_empty_values(CLI::App& command) {
  for (CLI::Option* const option : command.get_options([](const CLI::Option* it) {
         const bool is_value = it->nonpositional() || it->get_expected_max() == 1;
         const bool may_be_empty = it->get_type_name() == "CMD" && !it->check_lname("reference");
         return is_value && it->get_type_size() == 1 && !may_be_empty;
       })) {
    const std::string type = option->nonpositional() ? option->get_type_name() : option->get_name();
    const bool is_path = type == "FILE" || type == "DIR" || type == "PATH";
    option->check([is_path](const std::string& value) {
      return value.empty() ? fmt::format("takes a {}, not nothing", is_path ? "path" : "value")
                           : std::string();
    });
  }
}

/// Makes a sub-command known to CLI11.
OptionCheck add(CLI::App& app, const Subcommand& subcommand) {
  CLI::App* const command =
      app.add_subcommand(std::string(subcommand.name), std::string(subcommand.summary));
  command->group(title_of(subcommand.group));
  OptionCheck check = subcommand.add == nullptr ? nullptr : subcommand.add(*command);
  refuse_empty_values(*command);
  return check;
}

/// `named`: the sub-command of the line, with its check; null if there is none.
ParsedLine parse_options(CLI::App& app, const Subcommand* named, const OptionCheck& check,
                         const CommandLine& line) {
  const std::string context = named == nullptr ? "" : line.name();
  const CLI::App& command = named == nullptr ? app : *app.get_subcommand(line.name());
  try {
    std::vector<std::string> words = line.words;
    std::ranges::reverse(words);  // as CLI11 wants them
    app.parse(std::move(words));
    if (named != nullptr) return Chosen{named, check(line)};
    return usage_error("", unexpected(app, line.name()));
  } catch (const CLI::CallForHelp&) {
    return Answer{.text = command.help()};
  } catch (const CLI::CallForVersion&) {
    return Answer{.text = "wattle " + version_text() + "\n"};
  } catch (const CLI::ExtrasError&) {
    return usage_error(context, unexpected(command, app));
  } catch (const CLI::RequiredError& wrong) {
    return usage_error(
        context, named == nullptr ? unexpected(app, line.name()) : option_message(wrong.what()));
  } catch (const CLI::ParseError& wrong) {
    return usage_error(context, option_message(wrong.what()));
  } catch (const Error& wrong) {
    return usage_error(context, wrong.what());
  }
}

/// Only the sub-command of the line is added, if there is one: that takes a tenth of the time.
ParsedLine parse_with_cli11(const Subcommand* named, const CommandLine& line) {
  CLI::App app("Measure the energy, CPU time and memory of a command.", "wattle");
  app.set_version_flag("-V,--version", "wattle " + version_text());
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpText>());
  app.footer(kWattleFooter);
  OptionCheck check;
  for (const Subcommand* const each : subcommands()) {
    if (named == nullptr || each == named) check = add(app, *each);
  }
  if (line.words.empty()) return Answer{.text = app.help()};
  if (named == nullptr && !line.name().starts_with('-')) {
    return usage_error("", unknown_command(app, line.words));
  }
  return parse_options(app, named, check, line);
}

}  // namespace

#define WATTLE_SUBCOMMAND(name) extern const Subcommand k##name##Subcommand;
#include "cli/subcommands.def"
#undef WATTLE_SUBCOMMAND

namespace {

constexpr std::array kSubcommands = {
#define WATTLE_SUBCOMMAND(name) &k##name##Subcommand,
#include "cli/subcommands.def"
#undef WATTLE_SUBCOMMAND
};

}  // namespace

std::span<const Subcommand* const> subcommands() noexcept { return kSubcommands; }

const Subcommand* find_subcommand(std::string_view name) noexcept {
  const auto* const found = std::ranges::find(kSubcommands, name, &Subcommand::name);
  return found == kSubcommands.end() ? nullptr : *found;
}

ParsedLine parse_command_line(int argc, const char* const* argv) {
  const CommandLine line = read_command_line(argc, argv);
  const Subcommand* const named = find_subcommand(line.name());
  if (named == nullptr || named->read == nullptr) return parse_with_cli11(named, line);
  try {
    if (std::any options = named->read(line); options.has_value()) {
      return Chosen{named, std::move(options)};
    }
  } catch (const Error& wrong) {
    return usage_error(line.name(), wrong.what());
  }
  return parse_with_cli11(named, line);
}

}  // namespace wattle::app
