// Parses the target of a request ("/gpu/get_power?gpu_ids=0,1"): path, query, and ids. Errors have
// zeusd's texts.
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
  /// Decoded once; starts with '/'. Not normalized: "//", "/./", "/../", another case or an encoded
  /// slash (which stays encoded) match no route. Has no control characters; invalid UTF-8 is
  /// U+FFFD.
  std::string path;
  /// The text after the '?', not decoded; may be empty. Refers to the parsed text.
  std::string_view query;
};

/// Absent (answer 400) if `target` does not start with '/'; has a blank, a control character, a
/// non-ASCII byte or a '#'; or has a '%' in its path without two hexadecimal digits, or for a
/// control character. Threads: any.
[[nodiscard]] std::optional<Target> parse_target(std::string_view target);

/// Why a query is refused, safe to print. `Service` answers 400.
struct QueryFault : std::runtime_error {
  enum class Form : std::uint8_t { text, json };
  explicit QueryFault(const std::string& message, Form of = Form::text)
      : std::runtime_error(message), form(of) {}
  Form form;  ///< plain text, or {"error": message}
};

/// The parameters of a query. Threads: a value type.
class UrlQuery {
 public:
  /// Parses `text`; '+' is a blank. Throws `QueryFault` for a name that is not in `known`, or is
  /// there twice.
  [[nodiscard]] static UrlQuery parse(std::string_view text,
                                      std::initializer_list<std::string_view> known);

  /// The decoded value: UTF-8, escape it to print it. Absent: the query does not have it.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// These throw `QueryFault` if the query does not have the name, or the value has another type.
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] bool boolean(std::string_view name) const;
  [[nodiscard]] std::uint32_t number(std::string_view name) const;
  /// A number that the query may have; absent: it does not. Throws `QueryFault` (JSON) if the value
  /// is no number, or not from `least` to `most`.
  [[nodiscard]] std::optional<double> number_from(std::string_view name, double least,
                                                  double most) const;
  [[nodiscard]] std::optional<std::uint32_t> whole_number_from(std::string_view name,
                                                               std::uint32_t least,
                                                               std::uint32_t most) const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// The kind of device that a list of ids names; for the texts of errors.
enum class IdKind : std::uint8_t { gpu, cpu };

struct IdWords {
  std::string_view parameter;
  std::string_view device;
};
[[nodiscard]] constexpr IdWords words_of(IdKind kind) noexcept {
  return kind == IdKind::gpu ? IdWords{"gpu_ids", "GPU"} : IdWords{"cpu_ids", "CPU"};
}

/// The ids of a list such as "0,1" (blanks are ignored), ascending, each once. Throws `QueryFault`.
/// Does not check that the devices exist.
[[nodiscard]] std::vector<std::uint64_t> parse_ids(std::string_view list, IdKind kind);

}  // namespace wattle::daemon
