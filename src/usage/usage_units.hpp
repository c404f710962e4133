// The units that usage can be told in. All are decimal.
#pragma once

#include <string_view>

namespace wattle {

/// What a number of bytes is multiplied by. Throws `InvalidArgument`, which lists the units;
/// `what`: "RAM", "GPU RAM".
[[nodiscard]] double memory_factor(std::string_view unit, std::string_view what);
/// What a number of seconds is multiplied by. Throws likewise.
[[nodiscard]] double time_factor(std::string_view unit);

}  // namespace wattle
