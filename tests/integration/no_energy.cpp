#include "no_energy.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <regex>
#include <sstream>
#include <vector>

#include "command.hpp"

namespace wattle::integration {
namespace {

/// Keys and columns that measurements stand in, by their units.
bool is_of_energy(const std::string& name) {
  static const std::regex energy("(.*_)?[jw]|.*(energy|power|joules|watts).*",
                                 std::regex::icase | std::regex::optimize);
  static const std::regex about(".*(source|quantity|unknown|missing|covers|scope|limit).*");
  return std::regex_match(name, energy) && !std::regex_match(name, about);
}

/// Nothing is measured here: numbers of energy stand below "estimate" alone.
void expect_no_energy(const Json& json, const std::string& key, const std::string& where) {
  if (key == "estimate" || key == "share") return;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) expect_no_energy(value, name, where);
  } else if (json.is_array()) {
    for (const Json& element : json) expect_no_energy(element, key, where);
  } else if (json.is_number()) {
    EXPECT_FALSE(is_of_energy(key)) << where << ": " << key << " is " << json;
  }
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

/// What a page shows, without its markup, scripts and styles: a line for each piece of text.
std::string text_of_page(std::string_view html) {
  std::string text;
  while (!html.empty()) {
    const std::size_t tag = std::min(html.find('<'), html.size());
    text.append(html.substr(0, tag)).append("\n");
    html.remove_prefix(tag);
    std::string_view end = ">";
    if (html.starts_with("<script")) end = "</script>";
    if (html.starts_with("<style")) end = "</style>";
    const std::size_t found = html.find(end);
    html.remove_prefix(found == std::string_view::npos ? html.size() : found + end.size());
  }
  return text;
}

}  // namespace

void expect_no_energy_in_json(const std::string& text, const std::string& where) {
  if (Json::accept(text)) return expect_no_energy(parse_json(text), "", where);
  std::istringstream lines(text);
  int found = 0;
  for (std::string line; std::getline(lines, line); ++found) {
    expect_no_energy(parse_json(line), "", where);
  }
  EXPECT_GT(found, 0) << where << " is empty";
}

void expect_no_energy_in_text(const std::string& text, const std::string& where) {
  static const std::regex quantity("[0-9] ?[kMGmµ]?[JW]([^a-zA-Z0-9]|$)", std::regex::optimize);
  bool is_in_table = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool is_marked = line.find('~') != std::string::npos;
    const bool is_explained = line.find("not measured") != std::string::npos;
    is_in_table =
        is_in_table || (!is_marked && (line.find("energy, not measured") < line.size() ||
                                       line.find("estimate, not measured") < line.size()));
    EXPECT_TRUE(is_marked || !std::regex_search(line, quantity)) << where << ": " << line;
    EXPECT_TRUE(!is_marked || is_explained || is_in_table) << where << ": " << line;
  }
}

void expect_no_energy_in_csv(const std::string& text, const std::string& where) {
  std::istringstream lines(text);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line)) << where << " is empty";
  const std::vector<std::string> names = cells_of(line);
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i) {
      if (names[i].starts_with("estimate_") || !is_of_energy(names[i])) continue;
      EXPECT_THAT(cells[i], testing::AnyOf("", "-")) << where << ": " << names[i];
    }
  }
}

void expect_no_energy_in_page(const std::string& html, const std::string& where) {
  expect_no_energy_in_text(text_of_page(html), where);
}

void expect_no_energy_in_metrics(const std::string& text, const std::string& where) {
  std::istringstream lines(text);
  int found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    ++found;
    EXPECT_FALSE(is_of_energy(line.substr(0, line.find_first_of("{ ")))) << where << ": " << line;
  }
  EXPECT_GT(found, 0) << where << " is empty";
}

std::string without_name(std::string text, const std::string& folder) {
  for (std::size_t at = 0; (at = text.find(folder, at)) != std::string::npos;) {
    text.replace(at, folder.size(), "FOLDER");
  }
  return text;
}

}  // namespace wattle::integration
