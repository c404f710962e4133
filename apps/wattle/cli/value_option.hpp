// Options that take a value.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace wattle::app {

/// An option whose value goes to `into`, which holds the default: empty, there is none. `type`: the
/// value's name in --help.
inline CLI::Option* add_value(CLI::App& command, const char* name, std::string& into,
                              const char* type, const char* help) {
  CLI::Option* option = command.add_option(name, into, help)->type_name(type);
  return into.empty() ? option : option->capture_default_str();
}

}  // namespace wattle::app
