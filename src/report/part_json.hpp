// What the JSON of a run and that of its parts have in common: phases, and the time since a mark.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "base/json/json_write.hpp"
#include "report/report.hpp"
#include "usage/files/usage_json.hpp"

namespace wattle {

/// `total_unknown_s`: null where no domain is known.
[[nodiscard]] inline nlohmann::ordered_json unknown_time_json(const Total& total) {
  return total.energy ? nlohmann::ordered_json(total.unknown.count())
                      : nlohmann::ordered_json(nullptr);
}

/// `domains` of a part of a run.
[[nodiscard]] inline nlohmann::ordered_json part_domains_json(
    const std::vector<DomainFigure>& domains) {
  auto list = nlohmann::ordered_json::array();
  for (const DomainFigure& domain : domains) {
    const EnergyFigure& figure = domain.figure;
    list.push_back({{"name", domain.domain.name()},
                    {"energy_j", or_null(figure.energy)},
                    {"uncertainty_j", uncertainty_or_null(figure.energy, figure.uncertainty)},
                    {"common_j", uncertainty_or_null(figure.energy, figure.common)},
                    {"unknown_s", whole_nanoseconds(figure.unknown)},
                    {"flags", json_of(figure.flags)}});
  }
  return list;
}

}  // namespace wattle
