#include "runs/comparison_json.hpp"

namespace wattle {

using Json = nlohmann::ordered_json;

Json comparison_json(const Comparison& comparison, const std::string& reference,
                     const std::string& command) {
  const LogRatio& ratio = *comparison.ratio;
  const auto percent = [](double log_ratio) { return 100.0 * change_of(log_ratio); };
  const auto resolution = resolution_of(ratio);
  return {{"reference", reference},
          {"command", command},
          {"quantity", key_of(comparison.cost)},
          {"change_percent", percent(ratio.estimate)},
          {"low_percent", ratio.interval ? Json(percent(ratio.interval->low)) : Json()},
          {"high_percent", ratio.interval ? Json(percent(ratio.interval->high)) : Json()},
          {"is_shown", ratio.is_shown()},
          {"doubt", comparison.doubt.empty() ? Json() : Json(comparison.doubt)},
          {"is_paired", comparison.is_paired},
          {"runs", ratio.runs},
          {"outliers", ratio.outliers},
          {"outliers_of", ratio.outliers_of},
          {"is_by_sampling", ratio.is_by_sampling},
          {"more_runs", resolution ? Json(resolution->more_runs) : Json()},
          {"more_runs_show_percent", resolution ? Json(100.0 * resolution->change) : Json()}};
}

}  // namespace wattle
