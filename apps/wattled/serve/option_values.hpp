// The words of the daemon's command line: values of its options, and errors for words that CLI11
// rejected.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/cli11.hpp"

namespace wattle::daemon {

/// The range of --history-size, in MiB.
inline constexpr std::uint32_t kLeastHistoryMib = 16;
inline constexpr std::uint32_t kMostHistoryMib = std::uint32_t{1} << 20U;

/// An option that takes a path or a name. An empty value (of an unset variable) is an error: it
/// would disable what the option requests.
CLI::Option* add_named(CLI::App& app, const char* name, std::string& to, const char* help,
                       const char* type = "FILE");

/// Throws `InvalidArgument`: "OPTION takes ..., not 'given'".
[[noreturn]] void refuse_value(std::string_view option, std::string_view takes,
                               std::string_view given);

/// These throw `InvalidArgument` for a value that the option does not take.
[[nodiscard]] mode_t permissions_of(const std::string& text);
[[nodiscard]] std::chrono::milliseconds public_period_of(const std::string& text);
/// The length of the history; 0: none. Two days by default if it is on disk: so yesterday is in it.
[[nodiscard]] std::chrono::seconds history_length(std::uint32_t seconds, bool is_given,
                                                  bool is_on_disk);

/// The innermost sub-command, and its full name: "wattled token issue".
[[nodiscard]] std::pair<const CLI::App*, std::string> innermost_command(const CLI::App& app);

/// The error for the first unknown word, with a suggestion, or for a missing command.
[[nodiscard]] std::string unknown_word_error(const CLI::App& app, const CLI::App& command);

}  // namespace wattle::daemon
