// The target of a request ("/gpu/get_power?gpu_ids=0,1"): its path, its query, ids in the query.
// Answers and messages are those of zeusd.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wattle::daemon {

struct Target {
  /// Decoded once, beginning with '/'. Nothing is normalized: routes are compared with it whole,
  /// and "//", "/./", "/../", another case or an encoded slash (left as it is) match none. Holds
  /// no control characters; bytes that are not UTF-8 are U+FFFD.
  std::string path;
  /// What follows the '?', not decoded; empty where nothing does. A part of the text parsed.
  std::string_view query;
};

/// Absent, which is for the caller to answer with 400, where `target` does not begin with '/',
/// holds a blank, a control character, a byte past ASCII or a '#', or where a '%' in its path
/// begins no pair of hexadecimal digits or stands for a control character. Threads: any.
[[nodiscard]] std::optional<Target> parse_target(std::string_view target);

/// Why a query is refused, in words that are safe to print: `Service` answers with status 400.
struct QueryFault : std::runtime_error {
  enum class Form : std::uint8_t { text, json };
  explicit QueryFault(const std::string& message, Form form = Form::text)
      : std::runtime_error(message), form(form) {}
  Form form;  ///< plain text, or {"error": message}
};

/// The parameters of a query. Threads: a value type.
class UrlQuery {
 public:
  /// Of this text; '+' is a blank. Throws `QueryFault` where a name is none of `known`, or comes
  /// twice.
  [[nodiscard]] static UrlQuery parse(std::string_view text,
                                      std::initializer_list<std::string_view> known);

  /// The decoded value: UTF-8, to be escaped where it is printed. Absent where the query does not
  /// have it.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// Throws `QueryFault` where the query does not have it, or where the value is another one.
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::uint32_t number(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// What a list of ids is of; decides the words of the messages.
enum class IdKind : std::uint8_t { gpu, cpu };

/// The ids of a list as "0,1" (blanks around each are left out), ascending, each once. Throws
/// `QueryFault`. Whether there are such devices is for the caller to say.
[[nodiscard]] std::vector<std::uint64_t> parse_ids(std::string_view list, IdKind kind);

}  // namespace wattle::daemon
