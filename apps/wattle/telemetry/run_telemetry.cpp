#include "telemetry/run_telemetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <thread>
#include <utility>

#include "base/schedule.hpp"
#include "base/text/text.hpp"
#include "otlp/otlp_answer.hpp"
#include "otlp/otlp_values.hpp"
#include "sensors/domain_traits.hpp"

namespace wattle::app {
namespace {

using otlp::OtlpAttributes;
using otlp::OtlpKind;
using otlp::OtlpMetric;
using otlp::OtlpSpan;
using otlp::unix_ns;
using std::chrono::steady_clock;

/// In one request.
constexpr std::size_t kSpansAtOnce = 2000;

std::string program_of(const Report& report) {
  const std::string path = report.command.empty() ? "" : report.command.front();
  const std::string name = std::filesystem::path(path).filename().string();
  return printable(name.empty() ? "run" : name);
}

OtlpMetric uncertainty_gauge(std::string name, std::string description) {
  return {.name = std::move(name), .description = std::move(description), .unit = "J"};
}

OtlpMetric energy_counter(std::string name, std::string description) {
  return {.name = std::move(name),
          .description = std::move(description),
          .unit = "J",
          .kind = OtlpKind::counter};
}

/// The flags of an energy are beside the attributes that name it.
OtlpAttributes flagged(OtlpAttributes attributes, Flags flags) {
  otlp::add_flags(attributes, flags);
  return attributes;
}

void add_point(OtlpMetric& metric, const Report& report, OtlpAttributes attributes, double value) {
  metric.points.push_back(
      {.attributes = std::move(attributes), .value = value, .at = unix_ns(report.ended_unix_s)});
  if (metric.kind != OtlpKind::gauge) metric.points.back().since = unix_ns(report.started_unix_s);
}

OtlpAttributes attributes_of(const DomainFigure& figure) {
  return {{"hw.id", figure.domain.name()},
          {"wattle.source", printable(figure.source)},
          {"wattle.additive", counts_in_total(figure.domain.kind())}};
}

MeasuredEnergy measured(const Total& total) {
  return {.energy = total.energy,
          .uncertainty = total.uncertainty,
          .unknown = total.unknown,
          .flags = total.flags};
}

std::string failure_of(const Exit& exit) {
  if (exit.signal) return fmt::format("signal {}", *exit.signal);
  if (exit.code && *exit.code != 0) return fmt::format("exit status {}", *exit.code);
  return printable(exit.error);
}

/// The sent items that were not accepted.
struct SendLoss {
  std::uint64_t items = 0;
  std::string reason;
};

/// Until the collector accepts or refuses it, or `deadline` has passed.
SendLoss send_batch(otlp::OtlpPost& post, const otlp::OtlpBatch& batch,
                    steady_clock::time_point deadline) {
  RetryDelay backoff(std::chrono::milliseconds(100), std::chrono::seconds(1));
  SendLoss loss{.items = batch.items, .reason = "no time was left"};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return loss;
    const otlp::OtlpAnswer answer =
        post.post(batch, left, [deadline] { return steady_clock::now() >= deadline; });
    const otlp::OtlpOutcome outcome = otlp::outcome_of(answer, batch.signal, batch.items);
    if (outcome.verdict != otlp::OtlpVerdict::retry) {
      return {.items = outcome.rejected, .reason = outcome.reason};
    }
    loss.reason = outcome.reason;
    constexpr double kMiddle = 0.5;
    const RetryDelay::Delay wait = std::max<RetryDelay::Delay>(
        backoff.next(kMiddle), outcome.wait.value_or(std::chrono::seconds(0)));
    if (steady_clock::now() + wait >= deadline) return loss;
    std::this_thread::sleep_for(wait);
  }
}

}  // namespace

RunTrace make_run_trace(const Environment& environment) {
  const char* const given = environment("TRACEPARENT");
  const auto outer = parse_traceparent(given != nullptr ? given : "");
  RunTrace trace{.own = {.trace = outer ? outer->trace : make_trace_id(),
                         .parent = make_span_id(),
                         .is_sampled = true}};
  if (outer) trace.parent = outer->parent;
  return trace;
}

std::vector<OtlpMetric> run_metrics(const Report& report) {
  OtlpMetric domains = energy_counter("wattle.run.energy", "Energy of each domain in the run.");
  OtlpMetric total = energy_counter("wattle.run.energy.total", "Energy of the machine in the run.");
  OtlpMetric phases = energy_counter("wattle.phase.energy", "Energy of the machine in a phase.");
  OtlpMetric uncertainty =
      uncertainty_gauge("wattle.run.energy.uncertainty", "Uncertainty (k = 2) of the total.");
  OtlpMetric of_domains = uncertainty_gauge("wattle.run.energy.domain.uncertainty",
                                            "Uncertainty (k = 2) of the energy of each domain.");
  OtlpMetric of_phases = uncertainty_gauge("wattle.phase.energy.uncertainty",
                                           "Uncertainty (k = 2) of the energy in a phase.");
  OtlpMetric duration{
      .name = "wattle.run.duration", .description = "How long the run took.", .unit = "s"};
  for (const DomainFigure& figure : report.energy.domains) {
    if (!figure.figure.energy) continue;
    const OtlpAttributes attributes = flagged(attributes_of(figure), figure.figure.flags);
    add_point(domains, report, attributes, figure.figure.energy->si());
    add_point(of_domains, report, attributes, figure.figure.uncertainty.si());
  }
  if (const auto& energy = report.energy.total.energy) {
    const OtlpAttributes attributes = flagged({}, report.energy.total.flags);
    add_point(total, report, attributes, energy->si());
    add_point(uncertainty, report, attributes, report.energy.total.uncertainty.si());
  }
  for (const PhaseReport& phase : report.phases.rows) {
    if (!phase.total.energy) continue;
    const OtlpAttributes attributes =
        flagged({{"wattle.phase", printable(phase.name)}}, phase.total.flags);
    add_point(phases, report, attributes, phase.total.energy->si());
    add_point(of_phases, report, attributes, phase.total.uncertainty.si());
  }
  add_point(duration, report, {}, report.wall.count());
  return {std::move(domains), std::move(of_domains), std::move(total),   std::move(uncertainty),
          std::move(phases),  std::move(of_phases),  std::move(duration)};
}

std::vector<OtlpSpan> run_spans(const Report& report, const RunTrace& trace) {
  OtlpSpan run{.trace = trace.own.trace,
               .id = trace.own.parent,
               .parent = trace.parent,
               .name = program_of(report),
               .begin = unix_ns(report.started_unix_s),
               .end = unix_ns(report.ended_unix_s),
               .attributes = {{"process.executable.name", program_of(report)}},
               .error = failure_of(report.exit)};
  if (report.exit.code) {
    run.attributes.push_back({"process.exit.code", std::int64_t{*report.exit.code}});
  }
  otlp::add_energy(run.attributes, measured(report.energy.total));
  std::vector<OtlpSpan> spans{std::move(run)};
  for (const PhaseReport& phase : report.phases.rows) {
    for (const PhaseSpan& part : phase.spans) {
      if (spans.size() == RunTelemetry::kMostSpans) return spans;
      OtlpSpan span{.trace = trace.own.trace,
                    .id = make_span_id(),
                    .parent = trace.own.parent,
                    .name = printable(phase.name),
                    .begin = unix_ns(report.started_unix_s + part.begin.count()),
                    .end = unix_ns(report.started_unix_s + part.end.count()),
                    .attributes = {{"wattle.phase", printable(phase.name)}}};
      // The energy of a name is that of all its times together.
      if (phase.spans.size() == 1) otlp::add_energy(span.attributes, measured(phase.total));
      spans.push_back(std::move(span));
    }
  }
  return spans;
}

RunTelemetry::RunTelemetry(otlp::OtlpTarget target, const Environment& environment)
    : target_(std::move(target)), environment_(environment), trace_(make_run_trace(environment)) {}

void RunTelemetry::add(const UnitEnergy& unit, const std::string& id) {
  if (!otlp::is_recorded(unit)) return;
  if (units_.size() >= kMostSpans) {
    ++dropped_;
    return;
  }
  units_.push_back(otlp::span_of(unit, id, trace_.own));
}

std::string RunTelemetry::send(const Report& report) {
  const std::unique_ptr<otlp::OtlpPost> post = otlp::make_post(target_);
  return send(report, *post);
}

std::string RunTelemetry::send(const Report& report, otlp::OtlpPost& post) {
  OtlpAttributes resource = otlp::make_resource("wattle", report.host.name, environment_);
  resource.push_back({"service.instance.id", hex_text(trace_.own.parent)});
  resource.push_back({"process.executable.name", program_of(report)});
  if (report.slurm) resource.push_back({"slurm.job.id", printable(report.slurm->job_id)});
  std::vector<OtlpSpan> spans = run_spans(report, trace_);
  std::ranges::move(units_, std::back_inserter(spans));
  units_.clear();
  std::vector<otlp::OtlpBatch> batches{otlp::metrics_batch(resource, run_metrics(report))};
  for (std::size_t i = 0; i < spans.size(); i += kSpansAtOnce) {
    const auto begin = spans.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = std::min(kSpansAtOnce, spans.size() - i);
    batches.push_back(
        otlp::spans_batch(resource, {begin, begin + static_cast<std::ptrdiff_t>(count)}));
  }
  SendLoss lost{.items = std::exchange(dropped_, 0), .reason = "more units of work than are kept"};
  const auto deadline = steady_clock::now() + kPatience;
  for (const otlp::OtlpBatch& batch : batches) {
    const SendLoss loss = send_batch(post, batch, deadline);
    if (loss.items == 0) continue;
    lost.items += loss.items;
    lost.reason = loss.reason;
  }
  if (lost.items == 0) return {};
  return fmt::format("{} data points and spans were not sent to {}: {}", lost.items,
                     printable(target_.url), lost.reason);
}

}  // namespace wattle::app
