#include "otlp/otlp_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"
#include "wattle/wattle.hpp"

namespace wattle::otlp {
namespace {

constexpr std::size_t kMostUrlBytes = 2048;
constexpr std::size_t kMostPairs = 128;
constexpr std::size_t kMostValueBytes = 8192;

int hex_digit(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char small = static_cast<char>(c | 0x20);
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/// "%20" becomes a blank; what is no such code stays.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(16 * high + low);
    i += 2;
  }
  return decoded;
}

using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// Absent: this is no such list.
std::optional<TextPairs> pairs_in(const char* list) {
  TextPairs pairs;
  if (list == nullptr) return pairs;
  for (const std::string& item : items_of(list)) {
    std::string_view value = item;
    const std::string_view key = trimmed(take_until(value, '='));
    const bool has_value = item.find('=') != std::string::npos;
    if (key.empty() || !has_value || item.size() > kMostValueBytes || pairs.size() == kMostPairs) {
      return std::nullopt;
    }
    pairs.emplace_back(percent_decoded(key), percent_decoded(trimmed(value)));
  }
  return pairs;
}

/// A name or a value of a header may hold it.
bool is_header_text(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_header_name(std::string_view name) noexcept {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || is_digit(c) || kOthers.find(c) != std::string_view::npos;
  });
}

std::vector<std::string> headers_in(const char* list) {
  const auto pairs = pairs_in(list);
  std::vector<std::string> lines;
  const bool is_good = pairs && std::ranges::all_of(*pairs, [](const auto& pair) {
                         return is_header_name(pair.first) && is_header_text(pair.second);
                       });
  if (!is_good) {
    throw InvalidArgument(
        "OTEL_EXPORTER_OTLP_HEADERS is no list of headers: write NAME=VALUE,NAME=VALUE");
  }
  lines.reserve(pairs->size());
  for (const auto& [name, value] : *pairs) lines.push_back(fmt::format("{}: {}", name, value));
  return lines;
}

[[noreturn]] void refuse_url(std::string_view url, std::string_view why) {
  throw InvalidArgument(fmt::format("--otlp {}: {}", shell_quoted(url), why));
}

void set(OtlpAttributes& attributes, const std::string& key, const std::string& value) {
  const auto found = std::ranges::find(attributes, key, &OtlpAttribute::key);
  if (found != attributes.end()) {
    found->value = value;
  } else {
    attributes.push_back({key, value});
  }
}

}  // namespace

std::string url_of(const OtlpTarget& target, OtlpSignal signal) {
  return target.url + (signal == OtlpSignal::metrics ? "/v1/metrics" : "/v1/traces");
}

OtlpTarget make_target(std::string_view url, const Environment& environment) {
  std::string_view rest = url;
  if (!take_prefix(rest, "http://") && !take_prefix(rest, "https://")) {
    refuse_url(url, "must start with http:// or https://");
  }
  const std::string_view host = rest.substr(0, rest.find('/'));
  if (host.empty() || host.front() == ':') refuse_url(url, "names no host");
  if (host.find('@') != std::string_view::npos) {
    throw InvalidArgument(
        "--otlp: all users see a password in a URL; set OTEL_EXPORTER_OTLP_HEADERS instead");
  }
  const bool is_plain = std::ranges::all_of(rest, [](char c) { return c > ' ' && c <= '~'; });
  if (!is_plain || rest.find_first_of("?#") != std::string_view::npos ||
      url.size() > kMostUrlBytes) {
    refuse_url(url, "must be http://HOST:PORT or http://HOST:PORT/PATH");
  }
  while (url.ends_with('/')) url.remove_suffix(1);
  OtlpTarget target{.url = std::string(url),
                    .header_lines = headers_in(environment("OTEL_EXPORTER_OTLP_HEADERS")),
                    .ca_file = {}};
  if (const char* const file = environment("OTEL_EXPORTER_OTLP_CERTIFICATE")) {
    target.ca_file = file;
  }
  return target;
}

OtlpAttributes make_resource(std::string_view service, std::string_view host,
                             const Environment& environment) {
  OtlpAttributes resource;
  if (!host.empty()) set(resource, "host.name", std::string(host));
  set(resource, "service.name", std::string(service));
  set(resource, "service.version", std::string(version()));
  for (const auto& [key, value] :
       pairs_in(environment("OTEL_RESOURCE_ATTRIBUTES")).value_or(TextPairs())) {
    set(resource, key, value);
  }
  const char* const name = environment("OTEL_SERVICE_NAME");
  if (name != nullptr && *name != '\0') set(resource, "service.name", name);
  return resource;
}

}  // namespace wattle::otlp
