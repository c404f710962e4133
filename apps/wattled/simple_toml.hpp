// The part of TOML that files of settings are written in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace wattle::daemon {

/// A string, a whole number, or a list of strings.
using TomlValue = std::variant<std::string, std::uint64_t, std::vector<std::string>>;

/// `[name]` and the lines `key = value` below it, in the order of the file. Threads: a value type.
struct TomlTable {
  std::string name;
  std::vector<std::pair<std::string, TomlValue>> values;
};

/// Reads tables of one level with bare names and keys; values are strings of one line ("basic" or
/// 'literal'), whole numbers, and lists of strings, over several lines too. Comments begin with
/// `#`. Throws `InvalidArgument`, which names the line, for any other TOML (nested names, inline
/// tables, other types), for what is none, and for a name or a key that is there twice. Threads:
/// any.
[[nodiscard]] std::vector<TomlTable> parse_simple_toml(std::string_view text);

}  // namespace wattle::daemon
