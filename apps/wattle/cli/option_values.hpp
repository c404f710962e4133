// Values of options that several sub-commands have.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace wattle::app {

/// "0.1" seconds to nanoseconds; throws `InvalidArgument`, which names the option, unless it is a
/// number from `least` to `most`.
[[nodiscard]] std::chrono::nanoseconds parse_seconds(const std::string& text,
                                                     std::string_view option, double least,
                                                     double most);

/// "0.1" seconds to nanoseconds; throws `InvalidArgument`, which names the option, unless it is a
/// number from 0.001 to 3600.
[[nodiscard]] std::chrono::nanoseconds parse_interval(const std::string& text,
                                                      std::string_view option = "--interval");

}  // namespace wattle::app
