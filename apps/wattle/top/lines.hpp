// `wattle top --json`: one line for each period.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "top/group_rows.hpp"
#include "top/observation.hpp"

namespace wattle::app {

/// An entry of `devices`.
[[nodiscard]] nlohmann::ordered_json device_json(const TopDevice& device);
[[nodiscard]] nlohmann::ordered_json machine_json(const TopMachine& machine);

/// With the line end. `groups`: of `seen`, by `key`.
[[nodiscard]] std::string json_line(const TopObservation& seen, const GroupTable& groups,
                                    TopKey key);

}  // namespace wattle::app
