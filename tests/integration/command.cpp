#include "command.hpp"

#include <algorithm>
#include <utility>

#include "base/files/file.hpp"

namespace wattle::integration {

std::string wattle_program() { return WATTLE_TEST_COMMAND; }
std::string child_program() { return WATTLE_TEST_CHILD; }
std::string player_program() { return WATTLE_TEST_PLAYER; }
std::string measuring_program() { return WATTLE_TEST_MEASURING_PROGRAM; }

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Start wattle(const Words& words) { return {.command = Words{wattle_program()} + words}; }

Start wattle_run(const Words& options, const Words& command) {
  return wattle(Words{"run"} + options + Words{"--"} + command);
}

Words child(const Words& actions) { return Words{child_program()} + actions; }

std::string content_of(const std::filesystem::path& path) {
  const auto content = read_file(path.string());
  if (!content) ADD_FAILURE() << "cannot read " << path;
  return content.value_or("");
}

Json parse_json(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  ADD_FAILURE() << "no JSON: " << text;
  return nullptr;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

bool has_report(const std::string& text) {
  return text.find("\ncommand       ") != std::string::npos &&
         text.find("\nmemory        ") != std::string::npos;
}

Measured CommandTest::measure(const Words& options, const Words& command) const {
  return measure_in({}, options, command);
}

Measured CommandTest::measure_in(Start surroundings, const Words& options,
                                 const Words& command) const {
  const std::string file = path("measured.json").string();
  std::filesystem::remove(file);
  // The surroundings may be those of a rank, whose file only --append lets be another's too.
  const Words words = Words{"--quiet", "--append", "--json", file} + options;
  surroundings.command = wattle_run(words, command).command;
  Outcome outcome = run(surroundings);
  Json json = parse_json(content_of(file));
  return {std::move(outcome), std::move(json)};
}

Start CommandTest::wattle_track(pid_t target, const Words& options) const {
  return wattle(
      Words{"track", "--pid", std::to_string(target)} + options +
      Words{"--sysfs", path("none").string(), "--nvml-library", path("none.so").string()});
}

}  // namespace wattle::integration
