// The target of a request ("/gpu/get_power?gpu_ids=0,1"): its path, its query, ids in the query.
// Answers and messages are those of zeusd.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
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

/// Why a query is refused, for an answer with status 400.
struct QueryFault {
  std::string message;   ///< safe to print
  bool is_json = false;  ///< answered as {"error": message} rather than as plain text

  bool operator==(const QueryFault&) const = default;
};

/// The parameters of a query. Threads: a value type.
class UrlQuery {
 public:
  /// Of this text; every name must be one of `known`, and none may come twice. '+' is a blank.
  [[nodiscard]] static std::variant<UrlQuery, QueryFault> parse(
      std::string_view text, std::initializer_list<std::string_view> known);

  /// The decoded value: UTF-8, to be escaped where it is printed. Absent where the query does not
  /// have it.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// `true` or `false`, and nothing else; it must be there.
[[nodiscard]] std::variant<bool, QueryFault> required_bool(const UrlQuery& query,
                                                           std::string_view name);

/// A whole number of 32 bits; it must be there.
[[nodiscard]] std::variant<std::uint32_t, QueryFault> required_number(const UrlQuery& query,
                                                                      std::string_view name);

/// What a list of ids is of; decides the words of the messages.
enum class IdKind : std::uint8_t { gpu, cpu };

/// The fault of a query without the parameter.
[[nodiscard]] QueryFault missing_field(std::string_view name);

/// The ids of a list as "0,1" (blanks around each are left out), ascending, each once. Whether
/// there are such devices is for the caller to say.
[[nodiscard]] std::variant<std::vector<std::uint64_t>, QueryFault> parse_ids(std::string_view list,
                                                                             IdKind kind);

}  // namespace wattle::daemon
