// The JSON of a run: written and read by the lists of report_fields.hpp.
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text/printable_text.hpp"
#include "report/report.hpp"
#include "report/report_fields.hpp"
#include "wattle/wattle.hpp"

namespace wattle {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<PhaseSpan>& spans) {
  return json_list(spans, [](const PhaseSpan& span) {
    return Json::array({whole_nanoseconds(span.begin), whole_nanoseconds(span.end)});
  });
}

void take(const Json& json, std::vector<PhaseSpan>& into) {
  if (!json.is_array()) return;
  for (const Json& pair : json) {
    if (!pair.is_array() || pair.size() != 2) continue;
    PhaseSpan span;
    take(pair[0], span.begin);
    take(pair[1], span.end);
    if (span.begin >= Seconds(0) && span.end > span.begin) into.push_back(span);
  }
}

std::vector<GpuUsage> gpus_of(const Json& list) {
  std::vector<GpuUsage> gpus;
  for_each_object(list, [&](const Json& object) {
    if (gpus.size() == kMostDomainsInJson) return;
    std::optional<Domain> domain;
    take(at(object, "domain"), domain);
    // Records of benchmarks name models alone.
    if (!domain) domain = Domain::custom("gpu", std::to_string(gpus.size()));
    gpus.push_back({.domain = *domain});
    take_fields(object, gpus.back(), kGpuUsageItems);
  });
  return gpus;
}

std::vector<PhaseReport> phases_of(const Json& list) {
  std::vector<PhaseReport> phases;
  for_each_object(list, [&](const Json& row) {
    if (phases.size() == PhasesReport::kMostRows) return;
    PhaseReport phase;
    take(row, phase);
    // Parents stand before their children.
    if (phase.parent && *phase.parent >= phases.size()) phase.parent.reset();
    if (phase.parent) phase.depth = phases[*phase.parent].depth + 1;
    phases.push_back(std::move(phase));
  });
  return phases;
}

std::string to_json(const Report& report) {
  // Arguments and names may hold bytes that are not UTF-8: they become U+FFFD.
  return dumped(json_of(report)) + "\n";
}

std::string version_of(const Report& report) {
  return report.wattle_version.empty() ? std::string(version()) : report.wattle_version;
}

Report report_of(Json json) {
  Report report;
  take(at(json, "command"), report.command);
  make_printable(json);
  std::vector<std::string> command = std::move(report.command);
  take_fields(json, report, kFields<Report>);
  report.command = std::move(command);
  return report;
}

}  // namespace wattle
