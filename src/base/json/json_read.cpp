#include "base/json/json_read.hpp"

namespace wattle {

using Json = nlohmann::ordered_json;

Json parse_json(std::string_view text) {
  // Wattle writes nothing as deep; a file that is not its own can be.
  constexpr int kDeepest = 16;
  const auto is_shallow = [](int depth, Json::parse_event_t, const Json&) {
    return depth < kDeepest;
  };
  return Json::parse(text, is_shallow, false);
}

const Json& at(const Json& json, const char* key) {
  static const Json none;
  if (!json.is_object()) return none;
  const auto found = json.find(key);
  return found != json.end() ? *found : none;
}

void take(const Json& json, std::string& into) {
  if (json.is_string()) into = json.get<std::string>();
}

void take(const Json& json, double& into) {
  if (json.is_number()) into = json.get<double>();
}

void take(const Json& json, bool& into) {
  if (json.is_boolean()) into = json.get<bool>();
}

void take(const Json& json, Seconds& into) {
  if (json.is_number()) into = Seconds(json.get<double>());
}

void take(const Json& json, std::vector<std::string>& into) {
  if (!json.is_array()) return;
  for (const Json& word : json) {
    if (word.is_string()) into.push_back(word.get<std::string>());
  }
}

}  // namespace wattle
