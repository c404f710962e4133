// The values of the daemon's options, from the words that were given.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace wattle::daemon {

/// The range of --history-size, in MiB.
inline constexpr std::uint32_t kLeastHistoryMib = 16;
inline constexpr std::uint32_t kMostHistoryMib = std::uint32_t{1} << 20U;

/// Throws `InvalidArgument`: "OPTION takes ..., not 'given'".
[[noreturn]] void refuse_value(std::string_view option, std::string_view takes,
                               std::string_view given);

/// These throw `InvalidArgument` for a value that the option does not take.
[[nodiscard]] mode_t permissions_of(const std::string& text);
[[nodiscard]] std::chrono::milliseconds public_period_of(const std::string& text);
/// The length of the history; 0: none. Two days by default if it is on disk: so yesterday is in it.
[[nodiscard]] std::chrono::seconds history_length(std::uint32_t seconds, bool is_given,
                                                  bool is_on_disk);

}  // namespace wattle::daemon
