#include "telemetry/telemetry.hpp"

#include <fmt/format.h>

#include <utility>

#include "api/unit_routes.hpp"
#include "base/clock.hpp"
#include "otlp/otlp_values.hpp"
#include "serve/log.hpp"
#include "wattle/clock.hpp"
#include "wattle/wattle.hpp"

namespace wattle::daemon {
namespace {

/// Without a folder. The daemon is to stay small.
constexpr std::uint64_t kMostInMemory = std::uint64_t{4} << 20U;

otlp::OtlpExporterOptions exporter_options(const TelemetryOptions& options) {
  const std::uint64_t spool_bytes = std::uint64_t{options.spool_mib} << 20U;
  return {.name = options.target.url,
          .spool = options.spool,
          .most_bytes = options.spool.empty() ? kMostInMemory : spool_bytes,
          .say = [](std::string_view line) { log_warning(line); }};
}

}  // namespace

Telemetry::Telemetry(Service& service, TelemetryOptions options)
    : service_(service),
      options_(std::move(options)),
      exporter_(exporter_options(options_), otlp::make_post(options_.target), machine_clock()),
      pace_(service.loop(), options_.interval, [this] { tick(); }) {
  if (ServedUnits* const units = service_.units()) {
    units->on_done([this](const UnitEnergy& unit, const std::string& id) { add_span(unit, id); });
  }
  pace_.start();
}

Telemetry::~Telemetry() {
  pace_.stop();
  send_spans();
  constexpr std::chrono::seconds kPatience{1};
  if (!exporter_.finish(kPatience)) log_warning("telemetry: the collector's connection hangs");
}

void Telemetry::add_span(const UnitEnergy& unit, const std::string& id) {
  if (!otlp::is_recorded(unit)) return;
  if (spans_.size() >= kMostSpans) {
    ++dropped_spans_;
    return;
  }
  spans_.push_back(otlp::span_of(unit, id));
}

void Telemetry::send_spans() {
  if (dropped_spans_ > 0) {
    log_warning(fmt::format("telemetry: {} spans dropped: more than {} units ended in one interval",
                            std::exchange(dropped_spans_, 0), kMostSpans));
  }
  if (spans_.empty()) return;
  exporter_.add(otlp::spans_batch(options_.resource, spans_));
  spans_.clear();
}

void Telemetry::tick() {
  send_spans();
  // A driver that does not answer is not asked again.
  if (*is_gathering_) return;
  *is_gathering_ = true;
  const std::weak_ptr<bool> alive = is_gathering_;
  service_.scrape().gather(service_.fine_view(), [this, alive](std::vector<DomainMetrics> domains) {
    const std::shared_ptr<bool> is_gathering = alive.lock();
    if (!is_gathering) return;
    *is_gathering = false;
    const DaemonMetrics metrics{.version = std::string(version()),
                                .started_unix_s = service_.scrape().started_unix_s(),
                                .own = own_cost(),
                                .domains = std::move(domains),
                                .units = unit_metrics(service_)};
    const otlp::UnixNs now = otlp::unix_ns(to_unix(service_.loop().now()));
    exporter_.add(otlp::metrics_batch(options_.resource, otlp_metrics_of(metrics, now, starts_)));
  });
}

}  // namespace wattle::daemon
