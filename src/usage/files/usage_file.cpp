#include "usage/files/usage_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/files/input_file.hpp"
#include "base/json/json_read.hpp"
#include "base/text/text.hpp"
#include "usage/files/usage_json.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

bool is_whole(const Json& json) {
  return json.is_object() && json.contains("schema") &&
         (json["schema"] == kTrackSchema || json["schema"] == kFirstTrackSchema) &&
         json.contains("tick") && json["tick"].is_number_unsigned() &&
         json.contains("resource_usage") && json["resource_usage"].is_object() &&
         json["resource_usage"].contains("compute_time");
}

}  // namespace

std::string usage_line(const ResourceUsage& usage, std::uint64_t tick) {
  Json json = native_json(usage);
  json["tick"] = tick;
  return dumped(json) + "\n";
}

RecoveredUsage recovered(std::string_view lines, const std::string& path) {
  const std::string_view all = lines;
  // Text after the last line end was not completed.
  while (!lines.empty()) {
    const std::size_t end = lines.rfind('\n');
    if (end == std::string_view::npos) break;
    lines = lines.substr(0, end);
    const std::size_t before = lines.rfind('\n');
    const std::string_view line =
        before == std::string_view::npos ? lines : lines.substr(before + 1);
    const Json json = parse_json(line);
    if (!is_whole(json)) continue;
    return {.usage = usage_from_native_json(json), .ticks = json["tick"].get<std::uint64_t>()};
  }
  if (all.empty()) {
    throw FormatError(path, "cannot recover from " + printable(path) +
                                ": it is empty; the tracker ended before it wrote anything");
  }
  constexpr std::size_t kShown = 60;
  throw FormatError(path, "cannot recover from " + printable(path) + ": no line of it is whole " +
                              "and of a tracker (schema wattle.track/2); it starts with \"" +
                              printable(all.substr(0, kShown)) + "\"");
}

ResourceUsage recover_usage(const std::filesystem::path& usage_file) {
  const InputFile input = open_input(usage_file.string());
  const auto lines = input.file ? read_rest(input.file, kMostBytes) : std::nullopt;
  if (!lines) {
    throw Error("cannot read the usage file " + printable(usage_file.string()) + ": " +
                (input.file ? std::generic_category().message(errno) : input.problem));
  }
  return recovered(*lines, usage_file.string()).usage;
}

}  // namespace wattle
