#include "http/target.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle::daemon {
namespace {

/// Most bytes of foreign text in a message.
constexpr std::size_t kShownBytes = 64;

/// The byte that "%XX" encodes.
std::optional<char> encoded_byte(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  unsigned char byte = 0;
  const char* const end = text.data() + 3;
  const auto [stopped, error] = std::from_chars(text.data() + 1, end, byte, 16);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return static_cast<char>(byte);
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

bool may_be_in_target(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7F && c != '#';
}

std::optional<std::string> decoded_path(std::string_view path) {
  std::string decoded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      decoded += path[i];
      continue;
    }
    const auto byte = encoded_byte(path.substr(i));
    if (!byte || is_control(*byte)) return std::nullopt;
    if (*byte == '/') {
      decoded += path.substr(i, 3);  // not a separator, or it would not have been encoded
    } else {
      decoded += *byte;
    }
    i += 2;
  }
  return valid_utf8(decoded);
}

/// Decodes a name or a value of a query.
std::optional<std::string> decoded_word(std::string_view word) {
  std::string decoded;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      decoded += word[i] == '+' ? ' ' : word[i];
      continue;
    }
    const auto byte = encoded_byte(word.substr(i));
    if (!byte) return std::nullopt;
    decoded += *byte;
    i += 2;
  }
  return valid_utf8(decoded);
}

[[noreturn]] void refuse(const std::string& what) {
  throw QueryFault("Query deserialize error: " + what);
}

std::string in_quotes(std::string_view name) { return '`' + printable(name, kShownBytes) + '`'; }

/// "`a`", "`a` or `b`", "one of `a`, `b`, `c`".
std::string alternatives(std::initializer_list<std::string_view> names) {
  return fmt::format("{}`{}`", names.size() > 2 ? "one of " : "",
                     fmt::join(names, names.size() == 2 ? "` or `" : "`, `"));
}

}  // namespace

std::optional<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/') || !std::ranges::all_of(target, may_be_in_target)) {
    return std::nullopt;
  }
  std::string_view rest = target;
  auto path = decoded_path(take_until(rest, '?'));
  if (!path) return std::nullopt;
  return Target{.path = *std::move(path), .query = rest};
}

UrlQuery UrlQuery::parse(std::string_view text, std::initializer_list<std::string_view> known) {
  UrlQuery query;
  while (!text.empty()) {
    std::string_view value_text = take_until(text, '&');
    if (value_text.empty()) continue;
    const std::string_view name_text = take_until(value_text, '=');
    auto name = decoded_word(name_text);
    auto value = decoded_word(value_text);
    if (!name || !value) {
      refuse("a '%' in " + in_quotes(name_text) + " is not followed by two hexadecimal digits");
    }
    if (std::ranges::find(known, *name) == known.end()) {
      refuse("unknown field " + in_quotes(*name) + ", expected " + alternatives(known));
    }
    if (query.find(*name)) refuse("duplicate field " + in_quotes(*name));
    query.parameters_.emplace_back(*std::move(name), *std::move(value));
  }
  return query;
}

std::optional<std::string_view> UrlQuery::find(std::string_view name) const noexcept {
  for (const auto& [own, value] : parameters_) {
    if (own == name) return value;
  }
  return std::nullopt;
}

std::string_view UrlQuery::text(std::string_view name) const {
  const auto value = find(name);
  if (!value) refuse("missing field " + in_quotes(name));
  return *value;
}

bool UrlQuery::boolean(std::string_view name) const {
  const std::string_view value = text(name);
  if (value != "true" && value != "false") refuse("provided string was not `true` or `false`");
  return value == "true";
}

std::uint32_t UrlQuery::number(std::string_view name) const {
  const std::string_view value = text(name);
  const auto number = parse_unsigned<std::uint32_t>(value);
  if (!number) {
    refuse(in_quotes(value) + " in " + in_quotes(name) + " is not a whole number of 32 bits");
  }
  return *number;
}

std::optional<double> UrlQuery::number_from(std::string_view name, double least,
                                            double most) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  const auto number = parse_double(*value);
  if (number && *number >= least && *number <= most) return number;
  throw QueryFault(fmt::format("`{}` must be a number from {:g} to {:g}.", name, least, most),
                   QueryFault::Form::json);
}

std::optional<std::uint32_t> UrlQuery::whole_number_from(std::string_view name, std::uint32_t least,
                                                         std::uint32_t most) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  const auto number = parse_unsigned<std::uint32_t>(*value);
  if (number && *number >= least && *number <= most) return number;
  throw QueryFault(fmt::format("`{}` must be a whole number from {} to {}.", name, least, most),
                   QueryFault::Form::json);
}

std::vector<std::uint64_t> parse_ids(std::string_view list, IdKind kind) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const auto [field, device] = words_of(kind);
  const auto refuse_list = [](const std::string& message) {
    throw QueryFault(message, QueryFault::Form::json);
  };
  if (trimmed(list, kBlanks).empty()) {
    refuse_list(fmt::format("{} must contain at least one {} index", field, device));
  }
  std::vector<std::uint64_t> ids;
  for (auto left = 1 + std::ranges::count(list, ','); left > 0; --left) {
    const std::string_view item = trimmed(take_until(list, ','), kBlanks);
    if (item.empty()) refuse_list(fmt::format("{} contains an empty {} index", field, device));
    // zeusd accepts a plus before a number.
    const auto id = parse_unsigned<std::uint64_t>(item.substr(item.starts_with('+') ? 1 : 0));
    if (!id) {
      refuse_list(fmt::format("Invalid {} index: {}", device, printable(item, kShownBytes)));
    }
    ids.push_back(*id);
  }
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  return ids;
}

}  // namespace wattle::daemon
