#include "run/mark_reply.hpp"

#include "report/part_json.hpp"

namespace wattle::app {

std::string mark_reply(bool since_mark, Seconds time, const std::vector<DomainFigure>& domains) {
  const Total total = total_of(domains, {});
  return dumped({{"schema", "wattle.mark/1"},
                 {"since", since_mark ? "mark" : "start"},
                 {"time_s", whole_nanoseconds(time)},
                 {"total_j", or_null(total.energy)},
                 {"total_uncertainty_j", uncertainty_or_null(total.energy, total.uncertainty)},
                 {"total_unknown_s", unknown_time_json(total)},
                 {"domains", part_domains_json(domains)}});
}

}  // namespace wattle::app
