#include "run_monitor/json_text.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

#include "base/python_repr.hpp"
#include "base/text.hpp"

namespace wattle {
namespace {

void append_code_unit(std::string& out, unsigned unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += kDigits[(unit >> shift) & 0xFU];
}

void append_code_point(std::string& out, std::uint32_t code) {
  if (code < 0x10000) {
    append_code_unit(out, code);
    return;
  }
  code -= 0x10000;
  append_code_unit(out, 0xD800U + (code >> 10U));
  append_code_unit(out, 0xDC00U + (code & 0x3FFU));
}

/// Takes the first code point off `text`, which is well-formed.
std::uint32_t take_code_point(std::string_view& text) noexcept {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  constexpr std::array<std::uint32_t, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = lead & kLeadBits.at(length);
  for (std::size_t i = 1; i < length; ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(length);
  return code;
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      if (c >= ' ' && c <= '~') {
        out += c;
      } else {
        append_code_unit(out, static_cast<unsigned char>(c));
      }
  }
}

// NOLINTBEGIN(misc-no-recursion): as deep as the caller has nested his values
struct Append {
  std::string& out;

  void operator()(std::nullptr_t) const { out += "null"; }
  void operator()(bool truth) const { out += truth ? "true" : "false"; }
  void operator()(std::int64_t number) const { append_python_repr(out, number); }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_python_repr(out, number);
    } else {
      out += "null";
    }
  }
  void operator()(const std::string& text) const { append_json(out, std::string_view(text)); }
  void operator()(const std::shared_ptr<const Value::Array>& list) const {
    out += '[';
    bool first = true;
    for (const Value& value : *list) {
      if (!first) out += ", ";
      first = false;
      append_json(out, value);
    }
    out += ']';
  }
  void operator()(const std::shared_ptr<const Value::Object>& members) const {
    out += '{';
    bool first = true;
    for (const auto& [name, value] : *members) {
      if (!first) out += ", ";
      first = false;
      append_json_member(out, name, value);
    }
    out += '}';
  }
};
// NOLINTEND(misc-no-recursion)

}  // namespace

void append_json(std::string& out, std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string_view rest = valid;
  out += '"';
  while (!rest.empty()) {
    const std::uint32_t code = take_code_point(rest);
    if (code < 0x80) {
      append_ascii(out, static_cast<char>(code));
    } else {
      append_code_point(out, code);
    }
  }
  out += '"';
}

// NOLINTBEGIN(misc-no-recursion): likewise
void append_json(std::string& out, const Value& value) { std::visit(Append{out}, value.content()); }

void append_json_member(std::string& out, std::string_view name, const Value& value) {
  append_json(out, name);
  out += ": ";
  append_json(out, value);
}
// NOLINTEND(misc-no-recursion)

}  // namespace wattle
