// The file of --gpu-command-overrides: its tables, commands, placeholders and patterns.
#include "control/command_overrides.hpp"

#include <algorithm>
#include <string>

#include "check.hpp"
#include "wattle/error.hpp"

namespace {

using namespace wattle;
using daemon::CommandOverride;
using daemon::CommandOverrides;
using daemon::ControlOperation;

/// The C library's patterns take memory without a bound for repeats of repeats, "a{999}{999}". Only
/// the administrator writes patterns.
bool repeats_repeats(std::string_view text) {
  return std::ranges::count(text, '{') > 1 && text.find("}{") != std::string_view::npos;
}

void check_override(const CommandOverride& made, ControlOperation operation) {
  fuzz::require(!made.commands.empty(), "an operation has commands");
  fuzz::require(made.timeout >= std::chrono::seconds(1) && made.timeout <= std::chrono::hours(1),
                "a time limit is 1 to 3600 s");
  for (const auto& words : made.commands) {
    const auto filled = daemon::fill_in(words, {operation, {1, 2}}, 3);
    fuzz::require(!words.empty() && filled.size() == words.size(), "values make no new words");
  }
  if (made.error_pattern) (void)made.error_pattern->matches("GPU 3: error 5\n");
}

}  // namespace

FUZZ_TARGET(command_overrides)(const unsigned char* data, std::size_t size) {
  constexpr std::size_t kMaxInput = 4096;
  const std::string_view text = fuzz::text_of(data, size);
  if (size > kMaxInput || repeats_repeats(text)) return 0;
  try {
    const CommandOverrides all = CommandOverrides::parse(text);
    for (std::size_t i = 0; i < daemon::kControlOperations; ++i) {
      const auto operation = static_cast<ControlOperation>(i);
      if (const CommandOverride* made = all.find(operation)) check_override(*made, operation);
    }
  } catch (const InvalidArgument& error) {
    fuzz::require(!std::string_view(error.what()).empty(), "a refusal says why");
  }
  return 0;
}
