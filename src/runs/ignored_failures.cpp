#include "runs/ignored_failures.hpp"

#include <fmt/format.h>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {

bool IgnoredFailures::accept(std::optional<int> code, std::optional<int> signal) const {
  if (code == 0 || all) return true;
  constexpr int kSignalled = 128;
  const std::optional<int> status = signal ? std::optional(kSignalled + *signal) : code;
  return status && codes.contains(*status);
}

IgnoredFailures parse_ignored_failures(std::string_view text) {
  IgnoredFailures ignored{.all = text == "true" || text == "all-non-zero"};
  const std::string_view list = ignored.all ? std::string_view() : text;
  for (std::string_view rest = list; !rest.empty();) {
    constexpr int kMost = 255;
    const auto code = parse_unsigned<unsigned>(trimmed(take_until(rest, ',')));
    if (!code || *code == 0 || *code > kMost) {
      throw InvalidArgument(
          fmt::format("--ignore-failure takes exit statuses from 1 to {} with commas between them, "
                      "or all-non-zero, not '{}'",
                      kMost, printable(list)));
    }
    ignored.codes.insert(static_cast<int>(*code));
  }
  return ignored;
}

}  // namespace wattle
