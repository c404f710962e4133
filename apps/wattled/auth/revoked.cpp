#include "auth/revoked.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "auth/token.hpp"
#include "base/files/file.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::daemon {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBlanks = " \t\r";

}  // namespace

Revoked Revoked::parse(std::string_view text) {
  Revoked revoked;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view whole = take_line(text);
    const std::string_view line = trimmed(whole.substr(0, whole.find('#')), kBlanks);
    if (line.empty()) continue;
    std::string_view name = line;
    const std::string_view kind = take_word(name);
    name = trimmed(name, kBlanks);
    if (kind == "user" && !name.empty()) {
      revoked.users_.emplace(name);
    } else if (kind == "id" && name.size() == kIdDigits &&
               name.find_first_not_of(kHexDigits) == std::string_view::npos) {
      revoked.ids_.emplace(name);
    } else if (name.empty() && std::ranges::count(line, '.') == 2) {
      revoked.ids_.insert(token_id(line));
    } else {
      throw InvalidArgument("line " + std::to_string(number) +
                            " names no token: write a token, 'id ID' or 'user NAME'");
    }
  }
  return revoked;
}

Revoked read_revoked(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return InvalidArgument("cannot use the revoked tokens in " + shell_quoted(path) + ": " + why);
  };
  const auto text = read_file(path);
  if (!text) throw refuse(std::generic_category().message(errno));
  if (text->size() == kMaxFileBytes) throw refuse("the file is larger than 4 MiB");
  try {
    return Revoked::parse(*text);
  } catch (const InvalidArgument& error) {
    throw refuse(error.what());
  }
}

}  // namespace wattle::daemon
