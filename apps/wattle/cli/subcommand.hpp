// A sub-command, as the rest of the program knows it: a row of the table in subcommands.def.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/cli11.hpp"

namespace wattle::app {

/// The words of a command line after the name of the program.
struct CommandLine {
  std::vector<std::string> words{};  ///< the sub-command first; see `Subcommand::takes_command`
  std::vector<std::string> after{};  ///< the words after "--"
  bool has_mark = false;             ///< there is a "--", which is in neither of them

  [[nodiscard]] std::string name() const { return words.empty() ? "" : words.front(); }
};

/// Where `wattle --help` lists a sub-command.
enum class HelpGroup : std::uint8_t { measure, compare, watch, set_up };

/// Called when CLI11 has read the options: checks them and returns them, in the type of the
/// sub-command. Throws `InvalidArgument`.
using OptionCheck = std::function<std::any(const CommandLine& line)>;

/// For `Subcommand::opens_counters`.
inline bool never(const std::any& /*options*/) noexcept { return false; }
inline bool always(const std::any& /*options*/) noexcept { return true; }

/// Its folder has its options, their checks, its execution and its texts.
struct Subcommand {
  std::string_view name;
  HelpGroup group = HelpGroup::measure;
  std::string_view summary;      ///< in `wattle --help`
  std::string_view arguments{};  ///< in its own help, after the options: " FILE..."
  /// The words after "--" are a command to run: they go to `CommandLine::after`.
  bool takes_command = false;
  /// Adds the options and the footer of the help.
  OptionCheck (*add)(CLI::App& command) = nullptr;
  /// Reads a line that needs no CLI11, which takes a third of the instructions of a start. Returns
  /// nothing for other lines. Throws `InvalidArgument`.
  std::any (*read)(const CommandLine& line) = nullptr;
  /// Executes it and returns the exit status of the program. May end the process itself.
  int (*run)(const std::any& options) = nullptr;
  /// True if it opens its counters `with_privileges`; else they are given up before it runs.
  bool (*opens_counters)(const std::any& options) = never;
};

/// For `Subcommand::add`. `Raw` has the options as they are written: `add` gives them to CLI11,
/// `checked` returns them as the sub-command needs them, after its `ParsedOptions values`, if it
/// has some, were read.
template <class Raw>
OptionCheck add_options(CLI::App& command) {
  const auto raw = std::make_shared<Raw>();
  raw->add(command);
  return [raw](const CommandLine& line) {
    if constexpr (requires { raw->values.read(); }) raw->values.read();
    return std::any(raw->checked(line));
  };
}

/// For `Subcommand::run`: calls `execute`.
template <class Options>
int execute_with(const std::any& options) {
  return execute(std::any_cast<const Options&>(options));
}

}  // namespace wattle::app
