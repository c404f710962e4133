#include "runs/run_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/json_read.hpp"
#include "base/text/text.hpp"
#include "runs/record_text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

/// The fields that each run has, whatever could be measured.
bool is_complete_run(const Json& json) {
  return at(json, "command").is_array() && at(json, "exit").is_object() &&
         at(json, "wall_s").is_number() && at(json, "host").is_object() &&
         at(json, "energy").is_object() && at(json, "resource_usage").is_object();
}

/// True for what is no number, too.
bool is_possible_energy(const Json& json) {
  constexpr double kMostJoules = 1e15;  // of a power station, in a week
  return !json.is_number() || (json.get<double>() >= 0.0 && json.get<double>() <= kMostJoules);
}
bool has_possible_total(const Json& json) {
  return is_possible_energy(at(json, "total_j")) &&
         is_possible_energy(at(json, "total_uncertainty_j"));
}

/// Values that a run can have: sums and quotients of others would overflow.
bool is_possible_run(const Json& json) {
  const auto is_time = [](const Json& time) {
    return !time.is_number() || is_possible_time(Seconds(time.get<double>()));
  };
  const Json& energy = at(json, "energy");
  bool is_possible = is_time(at(json, "wall_s")) && has_possible_total(energy);
  for_each_object(at(energy, "domains"), [&](const Json& domain) {
    is_possible = is_possible && is_possible_energy(at(domain, "energy_j"));
  });
  for_each_object(at(at(json, "phases"), "rows"), [&](const Json& phase) {
    is_possible = is_possible && has_possible_total(phase) && is_time(at(phase, "time_s")) &&
                  is_time(at(phase, "cpu_s"));
  });
  return is_possible;
}

/// False for a number that would overflow a sum or a text; by the unit at the end of its key.
bool is_possible_number(std::string_view key, double number) {
  constexpr double kYear10000 = 253'402'300'800.0;
  constexpr double kMostSeconds = 1e9;
  constexpr double kMost = 1e15;
  if (key.ends_with("unix_s")) return number >= 0.0 && number < kYear10000;
  // A sensor may seem to be ahead of the meter.
  if (key == "lag_s") return std::abs(number) <= kMostSeconds;
  if (key.ends_with("_s")) return number >= 0.0 && number <= kMostSeconds;
  if (key.ends_with("_j") || key.ends_with("_w")) return std::abs(number) <= kMost;
  return true;
}

/// The key of a number that no run has; empty: there is none. Elements of a list have its key.
/// Units of work that no run has are left out one by one.
std::string impossible_key(const Json& record) {
  // No recursion: a record may be nested as deeply as its text is long.
  std::vector<std::pair<std::string_view, const Json*>> left{{{}, &record}};
  while (!left.empty()) {
    const auto [key, json] = left.back();
    left.pop_back();
    if (json->is_number() && !is_possible_number(key, json->get<double>())) {
      return std::string(key);
    }
    if (!json->is_structured()) continue;
    for (auto at = json->begin(); at != json->end(); ++at) {
      if (json->is_array()) {
        left.emplace_back(key, &*at);
      } else if (at.key() != "units") {
        left.emplace_back(at.key(), &*at);
      }
    }
  }
  return {};
}

}  // namespace

bool is_possible_time(Seconds time) noexcept {
  constexpr double kMostSeconds = 1e9;  // 31 years
  constexpr double kLeastSeconds = 1e-9;
  return time.count() == 0.0 || (time.count() >= kLeastSeconds && time.count() <= kMostSeconds);
}

Report run_of(RecordText record) {
  const auto& [json, name] = record;
  if (schema_of(json) != kFirstRunSchema) require_schema(json, kRunSchema, name);
  if (!is_complete_run(json)) throw incomplete(name, kRunSchema);
  if (!is_possible_run(json)) {
    throw FormatError(name, fmt::format("cannot read {}: no run has its wall_s or total_j; it is "
                                        "damaged or was edited",
                                        printable(name)));
  }
  if (const std::string key = impossible_key(json); !key.empty()) {
    throw FormatError(name, fmt::format("cannot read {}: no run has its {}; it is damaged or was "
                                        "edited",
                                        printable(name), printable(key)));
  }
  return report_of(std::move(record.json));
}

Report parse_run_record(std::string_view json, const std::string& name) {
  return run_of({parse_record(json, name), name});
}

std::vector<Report> parse_run_records(std::string_view text, const std::string& name) {
  std::vector<Report> runs;
  for (RecordText& record : parse_records(text, name)) runs.push_back(run_of(std::move(record)));
  return runs;
}

}  // namespace wattle
