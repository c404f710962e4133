#include "lab/json_file.hpp"

#include <nlohmann/json.hpp>

namespace wattle::lab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const WayResult& way) {
  Json json = {{"way", way.way}, {"found", way.found}, {"errors", nullptr}, {"claims", nullptr}};
  if (way.found > 0.0) {
    json["errors"] = {{"bias", way.errors.bias},
                      {"rms", way.errors.rms},
                      {"p95", way.errors.p95},
                      {"most", way.errors.most}};
  }
  if (way.claims) {
    json["claims"] = {{"median_half_width", way.claims->median_half_width},
                      {"coverage", way.claims->coverage},
                      {"disagrees", way.claims->disagrees},
                      {"partial_coverage", way.claims->partial_coverage},
                      {"coverage_unknown", way.claims->coverage_unknown},
                      {"gap", way.claims->gap},
                      {"most_beside", way.claims->most_beside},
                      {"far_off_beside", way.claims->far_off_beside},
                      {"noticed_beside", way.claims->noticed_beside}};
  }
  return json;
}

Json json_of(const Cell& cell, const CellResult& result) {
  Json json = {{"mode", cell.mode},
               {"sensor", cell.machine.name},
               {"load", cell.load.name},
               {"window_s", cell.window_s},
               {"hidden", cell.is_hidden()},
               {"exempt_from_width", nullptr},
               {"true_mean_j", result.true_mean_j},
               {"wattle", nullptr},
               {"common", Json::array()}};
  if (!cell.exempt_from_width.empty()) json["exempt_from_width"] = cell.exempt_from_width;
  if (result.wattle) json["wattle"] = json_of(*result.wattle);
  for (const WayResult& way : result.common) json["common"].push_back(json_of(way));
  return json;
}

}  // namespace

std::string json_of(const Results& results) {
  Json json = {{"schema", "wattle.lab/1"},
               {"trials", results.options.trials},
               {"seed", results.options.seed},
               {"targets", Json::array()},
               {"cells", Json::array()}};
  for (const Verdict& verdict : judge(results)) {
    json["targets"].push_back({{"target", verdict.target},
                               {"met", verdict.is_met ? Json(*verdict.is_met) : Json()},
                               {"value", verdict.value}});
  }
  for (const Entry& entry : results.cells) {
    json["cells"].push_back(json_of(entry.cell, entry.result));
  }
  return json.dump(1) + "\n";
}

}  // namespace wattle::lab
