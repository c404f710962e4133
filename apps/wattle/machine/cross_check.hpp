// `wattle sensors --cross-check`: every domain that can be read in several ways, read in all of
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sampling/counters/cross_check.hpp"
#include "sensors/sensor.hpp"

namespace wattle::app {

struct CrossChecks {
  Seconds length;
  std::vector<CrossCheck> checks;
};

/// Reads everything through every interface, waits for a second, and reads it again.
[[nodiscard]] CrossChecks measure_cross_checks(std::vector<Survey> surveys);

[[nodiscard]] std::string cross_check_text(const CrossChecks& measured);
[[nodiscard]] nlohmann::ordered_json cross_check_json(const CrossChecks& measured);

}  // namespace wattle::app
