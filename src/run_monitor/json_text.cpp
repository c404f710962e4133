#include "run_monitor/json_text.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/python_repr.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

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
  constexpr int kOnOneLine = -1;
  constexpr bool kAsciiAlone = true;
  out += nlohmann::json(valid_utf8(text)).dump(kOnOneLine, ' ', kAsciiAlone);
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
