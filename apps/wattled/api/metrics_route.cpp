#include "api/metrics_route.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/compat_metrics.hpp"
#include "api/metrics.hpp"
#include "api/metrics_text.hpp"
#include "api/share_routes.hpp"
#include "api/unit_routes.hpp"
#include "base/text/split.hpp"
#include "wattle/wattle.hpp"

namespace wattle::daemon {
void metrics(Service& service, const Request& request,
             const std::shared_ptr<HttpExchange>& exchange) {
  const MetricsFormat format = metrics_format(request.head.accept.value_or(""));
  const bool has_units = may_see_units(service, request);
  const SharedEnergy* shares = service.shares();
  if (shares != nullptr && !may_see_shares(*shares, request)) shares = nullptr;
  const MetricsCache::Kind kind{.format = format,
                                .is_coarse = request.is_coarse,
                                .has_units = has_units,
                                .has_shares = shares != nullptr};
  const std::string_view type = content_type_of(format);
  const auto oldest = service.loop().now() - accepted_age(request.target.query);
  if (const std::string* const known = service.metrics_cache().find(kind, oldest)) {
    return exchange->answer({.body = *known, .content_type = type});
  }
  service.scrape().gather(service.view(request), [&service, exchange, kind, type,
                                                  shares](std::vector<DomainMetrics> domains) {
    DaemonMetrics all{.version = std::string(version()),
                      .started_unix_s = service.scrape().started_unix_s(),
                      .own = own_cost(),
                      .domains = std::move(domains),
                      .refused = {},
                      .dropped = {{"slow_reader", service.dropped()}}};
    if (kind.has_units) all.units = unit_metrics(service);
    for (const TurnedAway reason : kTurnedAway) {
      all.turned_away.push_back({std::string(name_of(reason)), service.turned_away()[reason]});
    }
    for (const SensorRefusal& refusal : service.refused()) {
      if (!refusal.absent) {
        all.refused.push_back({refusal.source, refusal.subject, refusal.reason});
      }
    }
    std::vector<MetricFamily> families = families_of(all);
    for (const Exporter exporter : service.options().compat_metrics) {
      std::ranges::move(compat_families(exporter, all.domains, service.options().host),
                        std::back_inserter(families));
    }
    if (shares != nullptr) add_share_families(*shares, families);
    std::string text = metrics_text(families, kind.format);
    service.metrics_cache().keep(kind, service.loop().now(), text);
    exchange->answer({.body = std::move(text), .content_type = type});
  });
}

}  // namespace wattle::daemon
