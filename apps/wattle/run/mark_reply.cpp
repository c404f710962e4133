#include "run/mark_reply.hpp"

#include <nlohmann/json.hpp>

#include "report/report_fields.hpp"

namespace wattle::app {

std::string mark_reply(bool since_mark, Seconds time, const std::vector<DomainFigure>& domains) {
  const Total total = total_of(domains, {});
  nlohmann::ordered_json json = {{"schema", "wattle.mark/1"},
                                 {"since", since_mark ? "mark" : "start"},
                                 {"time_s", whole_nanoseconds(time)}};
  add_fields(json, total, std::tuple_cat(kTotalEnergy, kTotalUnknown));
  json["domains"] = list_of(domains, kPartDomainItems);
  return dumped(json);
}

}  // namespace wattle::app
