// Options that take a value.
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wattle::app {

/// An option whose value goes to `into`, which holds the default: empty, there is none. `type`: the
/// value's name in --help.
inline CLI::Option* add_value(CLI::App& command, const char* name, std::string& into,
                              const char* type, const char* help) {
  CLI::Option* option = command.add_option(name, into, help)->type_name(type);
  return into.empty() ? option : option->capture_default_str();
}

/// Options whose values are more than text. They are read after CLI11 has accepted the line: --help
/// and unknown options come first.
class ParsedOptions {
 public:
  /// As `add_value`, with the default as `text`. `parse(text, "--name")` or `parse(text)` gives the
  /// value, or throws `InvalidArgument`. `into` outlives the parsing; without a text it stays as it
  /// is.
  template <class Value, class Parse>
  CLI::Option* add(CLI::App& command, const char* name, Value& into, const char* type,
                   const char* help, Parse parse, std::string text = {}) {
    std::string& given = texts_.emplace_back(std::move(text));
    const std::string_view names(name);  // "-w,--warmup"
    reads_.push_back([&into, &given, parse, option = names.substr(names.rfind(',') + 1)] {
      if (given.empty()) return;
      if constexpr (std::invocable<Parse, std::string, std::string_view>) {
        into = parse(given, option);
      } else {
        into = parse(given);
      }
    });
    return add_value(command, name, given, type, help);
  }

  void read() const {
    for (const auto& read : reads_) read();
  }

 private:
  std::list<std::string> texts_;  // CLI11 has their addresses
  std::vector<std::function<void()>> reads_;
};

}  // namespace wattle::app
