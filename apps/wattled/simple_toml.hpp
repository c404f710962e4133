// A parser for a small part of TOML.
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

/// Reads tables of one level with bare names and keys. Values are one-line strings ("basic" or
/// 'literal'), whole numbers, and lists of strings, also over several lines. Comments start with
/// `#`. Throws `InvalidArgument` with the line number for other TOML (nested names, inline tables,
/// other types), for invalid text, and for a duplicate name or key. Threads: any.
[[nodiscard]] std::vector<TomlTable> parse_simple_toml(std::string_view text);

}  // namespace wattle::daemon
