// Values as JSON text, as Python's json.dumps writes it.
#pragma once

#include <string>
#include <string_view>

#include "wattle/run_log.hpp"

namespace wattle {

/// Adds `text` in quotes. All but printable ASCII becomes \n, \u00e9 and the like; beyond U+FFFF a
/// pair of surrogates; bytes that are not UTF-8 U+FFFD.
void append_json(std::string& out, std::string_view text);

/// Adds `value` with ", " and ": " between; NaN and infinities as null.
void append_json(std::string& out, const Value& value);

/// Adds `"name": value`.
void append_json_member(std::string& out, std::string_view name, const Value& value);

}  // namespace wattle
