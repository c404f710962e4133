#include "runs/record_text.hpp"

#include <fmt/format.h>

#include "base/json/json_read.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEmptyText = " \t\r\n";

bool is_empty_text(std::string_view text) {
  return text.find_first_not_of(kEmptyText) == std::string_view::npos;
}

FormatError unreadable_record(std::string_view text, const std::string& name) {
  const std::string place = printable(name);
  if (is_empty_text(text)) return {name, fmt::format("cannot read {}: it is empty", place)};
  const char first = text[text.find_first_not_of(kEmptyText)];
  // A text that starts as a record but does not end was not written completely.
  if (first == '{') {
    return {name, fmt::format("cannot read {}: its JSON is cut off or damaged", place)};
  }
  constexpr std::size_t kShown = 40;
  return {name, fmt::format("cannot read {}: it is not JSON; it starts with \"{}\"", place,
                            printable(text.substr(0, kShown)))};
}

/// "wattle.run" of "wattle.run/2".
std::string_view kind_of_schema(std::string_view schema) {
  return schema.substr(0, schema.find('/'));
}

}  // namespace

Json parse_record(std::string_view text, const std::string& name) {
  Json json = parse_json(text);
  if (json.is_discarded()) throw unreadable_record(text, name);
  return json;
}

std::vector<RecordText> parse_records(std::string_view text, const std::string& name) {
  std::vector<RecordText> records;
  const std::string_view whole = text;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (is_empty_text(line)) continue;
    Json json = parse_json(line);
    // A value that goes over several lines shows at the first of them.
    if (json.is_discarded() && records.empty()) {
      records.push_back({parse_record(whole, name), name});
      return records;
    }
    const std::string place = fmt::format("{}, line {}", name, number);
    if (json.is_discarded()) throw unreadable_record(line, place);
    records.push_back({std::move(json), place});
  }
  if (records.empty()) throw unreadable_record(whole, name);
  if (records.size() == 1) records.front().name = name;
  return records;
}

std::string schema_of(const Json& json) {
  std::string schema;
  take_member(json, "schema", schema);
  return schema;
}

void require_schema(const Json& json, std::string_view schema, const std::string& name) {
  const std::string found = schema_of(json);
  if (found == schema) return;
  const std::string place = printable(name);
  if (found.empty()) {
    throw FormatError(
        name, fmt::format("cannot read {}: it names no schema; expected {}", place, schema));
  }
  if (kind_of_schema(found) == kind_of_schema(schema)) {
    throw FormatError(
        name, fmt::format("cannot read {}: it has the schema {}, and this wattle reads {}; use the "
                          "wattle that wrote it, or a newer one",
                          place, printable(found), schema));
  }
  throw FormatError(name, fmt::format("cannot read {}: it has the schema {}; expected {}", place,
                                      printable(found), schema));
}

FormatError incomplete(const std::string& name, std::string_view schema) {
  return {name, fmt::format("cannot read {}: it lacks keys that each {} has; it is damaged or was "
                            "edited",
                            printable(name), schema)};
}

}  // namespace wattle
