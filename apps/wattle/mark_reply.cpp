#include "mark_reply.hpp"

#include "base/json_write.hpp"

namespace wattle::app {

std::string mark_reply(bool since_mark, Seconds time, const std::vector<DomainFigure>& domains) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const DomainFigure& domain : domains) {
    const EnergyFigure& figure = domain.figure;
    Json flags = Json::array();
    figure.flags.each([&](std::string_view name) { flags.push_back(name); });
    list.push_back({{"name", domain.domain.name()},
                    {"energy_j", or_null(figure.energy)},
                    {"uncertainty_j", uncertainty_or_null(figure.energy, figure.uncertainty)},
                    {"unknown_s", whole_nanoseconds(figure.unknown)},
                    {"flags", std::move(flags)}});
  }
  const Total total = total_of(domains, {});
  return dumped({{"schema", "wattle.mark/1"},
                 {"since", since_mark ? "mark" : "start"},
                 {"time_s", whole_nanoseconds(time)},
                 {"total_j", or_null(total.energy)},
                 {"total_uncertainty_j", uncertainty_or_null(total.energy, total.uncertainty)},
                 {"total_unknown_s", total.energy ? Json(total.unknown.count()) : Json(nullptr)},
                 {"domains", std::move(list)}});
}

}  // namespace wattle::app
