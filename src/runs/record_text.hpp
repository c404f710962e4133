// Files of records: one JSON value, or one per line; and what is wrong with them, in one sentence.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "wattle/error.hpp"

namespace wattle {

/// A record as JSON, and where it is: "runs.jsonl", "runs.jsonl, line 3".
struct RecordText {
  nlohmann::ordered_json json;
  std::string name;
};

/// One JSON value. Throws `FormatError` where the text is empty, cut off, or no JSON.
[[nodiscard]] nlohmann::ordered_json parse_record(std::string_view text, const std::string& name);

/// One JSON value over any number of lines, or one on each line; at least one. Empty lines are
/// skipped. Throws as `parse_record`.
[[nodiscard]] std::vector<RecordText> parse_records(std::string_view text, const std::string& name);

/// The schema that the record names; empty where it names none.
[[nodiscard]] std::string schema_of(const nlohmann::ordered_json& json);

/// Throws `FormatError` unless the record is of this schema ("wattle.run/2").
void require_schema(const nlohmann::ordered_json& json, std::string_view schema,
                    const std::string& name);

/// The error for a record that lacks what all of its schema have.
[[nodiscard]] FormatError incomplete(const std::string& name, std::string_view schema);

}  // namespace wattle
