// The units that usage can be reported in. All are decimal.
#pragma once

#include <string_view>

namespace wattle {

/// Bytes in one "gigabytes". A number of bytes is divided by it: multiplied by its inverse it would
/// get digits that it does not have. Throws `InvalidArgument`, which lists the units; `what`:
/// "RAM", "GPU RAM".
[[nodiscard]] double bytes_in(std::string_view unit, std::string_view what);
/// Seconds in one "hours". Throws likewise.
[[nodiscard]] double seconds_in(std::string_view unit);

}  // namespace wattle
