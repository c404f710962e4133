#include "markup.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <vector>

namespace wattle::testing_support {
namespace {

constexpr std::array<std::string_view, 2> kVoid = {"meta", "br"};

std::string fault_in_text(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7F) return "a control character";
  }
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
    const std::string_view rest = text.substr(at);
    const auto is = [&](std::string_view entity) { return rest.starts_with(entity); };
    if (!is("&amp;") && !is("&lt;") && !is("&gt;") && !is("&quot;") && !is("&#39;")) {
      return "a bare &: " + std::string(rest.substr(0, 20));
    }
  }
  return {};
}

}  // namespace

std::string markup_fault(std::string_view html) {
  static const std::regex kTag(R"(<(/?)([a-zA-Z][a-zA-Z0-9]*)((?: [a-zA-Z:-]+="[^"<>]*")*)(/?)>)");
  if (!html.starts_with("<!DOCTYPE html>")) return "no doctype";
  html.remove_prefix(std::string_view("<!DOCTYPE html>").size());
  std::vector<std::string> open;
  while (!html.empty()) {
    const std::size_t tag_at = std::min(html.find('<'), html.size());
    if (std::string fault = fault_in_text(html.substr(0, tag_at)); !fault.empty()) return fault;
    html.remove_prefix(tag_at);
    if (html.empty()) break;
    std::cmatch tag;
    const std::size_t end = html.find('>');
    if (end == std::string_view::npos) return "a < without >";
    const char* const first = html.data();
    if (!std::regex_match(first, first + end + 1, tag, kTag)) {
      return "not a tag: " + std::string(html.substr(0, std::min<std::size_t>(end + 1, 100)));
    }
    if (std::string fault = fault_in_text(html.substr(0, end)); !fault.empty()) return fault;
    const std::string name = tag[2];
    html.remove_prefix(end + 1);
    if (tag[1].length() > 0) {
      if (open.empty() || open.back() != name) return "closes nothing: </" + name + ">";
      open.pop_back();
    } else if (tag[4].length() == 0 && std::ranges::find(kVoid, name) == kVoid.end()) {
      open.push_back(name);
      if (name == "style" || name == "script") {
        html.remove_prefix(std::min(html.find("</" + name + ">"), html.size()));
      }
    }
  }
  return open.empty() ? "" : "not closed: <" + open.back() + ">";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

}  // namespace wattle::testing_support
