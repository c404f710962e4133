#include "target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/parse.hpp"
#include "base/text.hpp"

namespace wattle::daemon {
namespace {

/// Of foreign text in a message.
constexpr std::size_t kShownBytes = 64;

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(static_cast<unsigned char>(c) | 0x20U);
  if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a') + 10U;
  return std::nullopt;
}

/// The byte that a text beginning with '%' stands for.
std::optional<char> encoded_byte(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto high = hex_digit(text[1]);
  const auto low = hex_digit(text[2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high << 4U | *low);
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

/// A name or a value of a query.
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

QueryFault query_fault(const std::string& what) {
  return {.message = "Query deserialize error: " + what};
}

QueryFault list_fault(std::string message) {
  return {.message = std::move(message), .is_json = true};
}

std::string quoted(std::string_view name) { return '`' + printable(name, kShownBytes) + '`'; }

/// "`a`", "`a` or `b`", "one of `a`, `b`, `c`".
std::string alternatives(std::span<const std::string_view> names) {
  if (names.size() == 2) return quoted(names[0]) + " or " + quoted(names[1]);
  std::string text = names.size() > 2 ? "one of " : "";
  for (const std::string_view name : names) {
    text += (name == names.front() ? "" : ", ") + quoted(name);
  }
  return text;
}

std::string_view trimmed_item(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Takes what stands before the first `separator` off `text`, and returns it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return taken;
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

std::variant<UrlQuery, QueryFault> UrlQuery::parse(std::string_view text,
                                                   std::initializer_list<std::string_view> known) {
  UrlQuery query;
  while (!text.empty()) {
    std::string_view value_text = take_until(text, '&');
    if (value_text.empty()) continue;
    const std::string_view name_text = take_until(value_text, '=');
    auto name = decoded_word(name_text);
    auto value = decoded_word(value_text);
    if (!name || !value) {
      return query_fault("a '%' in " + quoted(name_text) +
                         " is not followed by two hexadecimal digits");
    }
    if (std::ranges::find(known, *name) == known.end()) {
      return query_fault("unknown field " + quoted(*name) + ", expected " +
                         alternatives({known.begin(), known.size()}));
    }
    if (query.find(*name)) return query_fault("duplicate field " + quoted(*name));
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

std::variant<bool, QueryFault> required_bool(const UrlQuery& query, std::string_view name) {
  const auto value = query.find(name);
  if (!value) return missing_field(name);
  if (*value == "true") return true;
  if (*value == "false") return false;
  return query_fault("provided string was not `true` or `false`");
}

std::variant<std::uint32_t, QueryFault> required_number(const UrlQuery& query,
                                                        std::string_view name) {
  const auto value = query.find(name);
  if (!value) return missing_field(name);
  const auto number = parse_unsigned<std::uint32_t>(*value);
  if (number) return *number;
  return query_fault(quoted(*value) + " in " + quoted(name) + " is no whole number of 32 bits");
}

QueryFault missing_field(std::string_view name) {
  return query_fault("missing field " + quoted(name));
}

std::variant<std::vector<std::uint64_t>, QueryFault> parse_ids(std::string_view list, IdKind kind) {
  const std::string_view field = kind == IdKind::gpu ? "gpu_ids" : "cpu_ids";
  const std::string_view device = kind == IdKind::gpu ? "GPU" : "CPU";
  if (trimmed_item(list).empty()) {
    return list_fault(fmt::format("{} must contain at least one {} index", field, device));
  }
  std::vector<std::uint64_t> ids;
  for (std::size_t left = 1 + static_cast<std::size_t>(std::ranges::count(list, ',')); left > 0;
       --left) {
    const std::string_view item = trimmed_item(take_until(list, ','));
    if (item.empty())
      return list_fault(fmt::format("{} contains an empty {} index", field, device));
    // zeusd's parser of numbers takes a plus.
    const auto id = parse_unsigned<std::uint64_t>(item.substr(item.starts_with('+') ? 1 : 0));
    if (!id) {
      return list_fault(fmt::format("Invalid {} index: {}", device, printable(item, kShownBytes)));
    }
    ids.push_back(*id);
  }
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  return ids;
}

}  // namespace wattle::daemon
