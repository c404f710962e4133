// Text from outside (a file, a socket, a driver, another program), made safe where it comes in and
// where it goes out.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace wattle {

/// Text that was made `printable`, in full: nothing else gets into it. What was read from a record
/// or a history is kept in it, so that code that shows it need not know where it is from. Reading
/// members of `std::string` alone are used of it. Threads: a value type.
class PrintableText : public std::string {
 public:
  PrintableText() = default;
  // NOLINTBEGIN(google-explicit-constructor): every text may become one
  PrintableText(std::string_view foreign);
  PrintableText(const std::string& foreign) : PrintableText(std::string_view(foreign)) {}
  PrintableText(const char* foreign) : PrintableText(std::string_view(foreign)) {}
  // NOLINTEND(google-explicit-constructor)
};

// As those of base/json_read.hpp.
void take(const nlohmann::ordered_json& json, PrintableText& into);
void take(const nlohmann::ordered_json& json, std::vector<PrintableText>& into);

/// Makes all texts in `json` printable, but for the keys of objects: who reads them then need not
/// know where they are from.
void make_printable(nlohmann::ordered_json& json);

/// Contents allowed besides characters: nothing, or the escape sequences of `colored`.
enum class Colors : std::uint8_t { none, own };

/// The last gate of all output: `text` as it may go to a terminal or a file. Line ends and tabs
/// stay. Other control characters, marks of writing direction and bytes that are not UTF-8 are
/// written as by `printable`; in JSON ("{" or "[" comes first) they become \uHHHH, which is the
/// same value.
[[nodiscard]] std::string safe_output(std::string_view text, Colors colors);
/// The same of a JSON value that is no text.
[[nodiscard]] std::string safe_json(std::string text);
/// True if `safe_output` changes nothing.
[[nodiscard]] bool is_safe_output(std::string_view text, Colors colors) noexcept;

}  // namespace wattle
