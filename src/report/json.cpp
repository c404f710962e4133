// The JSON of a run. Keys and their order are those of docs/json.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "report/estimate_words.hpp"
#include "report/part_json.hpp"
#include "report/report.hpp"
#include "report/report_fields.hpp"
#include "units/units_json.hpp"
#include "usage/files/usage_json.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

std::string device_of(const Domain& domain) {
  const std::string_view device = traits_of(domain).device;
  return device.empty() ? domain.name() : fmt::format("{}:{}", device, domain.index());
}

Json to_json(const DomainFigure& domain) {
  const EnergyFigure& figure = domain.figure;
  return {
      {"name", domain.domain.name()},
      {"device", device_of(domain.domain)},
      {"energy_j", or_null(figure.energy)},
      {"uncertainty_j", uncertainty_or_null(figure.energy, figure.uncertainty)},
      {"common_j", uncertainty_or_null(figure.energy, figure.common)},
      // No RAPL sensor states its error: it is known where it was compared with a meter.
      {"calibration_percent",
       domain.calibration ? Json(domain.calibration->percent) : Json(nullptr)},
      {"calibration_source", domain.calibration ? Json(domain.calibration->source) : Json(nullptr)},
      {"unknown_s", whole_nanoseconds(figure.unknown)},
      {"mean_w", or_null(figure.mean)},
      {"max_w", or_null(figure.max)},
      {"method", to_string(figure.method)},
      {"quantity", figure.quantity},
      {"source", domain.source},
      {"coverage", or_null(figure.coverage)},
      {"alternatives", json_of(figure.alternatives)},
      {"contained_in", domain.contained_in ? Json(domain.contained_in->name()) : Json(nullptr)},
      {"flags", json_of(figure.flags)}};
}

Json to_json(const EnergyReport& energy) {
  Json domains = Json::array();
  for (const DomainFigure& domain : energy.domains) domains.push_back(to_json(domain));
  const Total& total = energy.total;
  return {{"scope", "machine"},
          {"total_j", or_null(total.energy)},
          {"total_uncertainty_j", uncertainty_or_null(total.energy, total.uncertainty)},
          {"total_common_j", uncertainty_or_null(total.energy, total.common)},
          {"total_mean_w", or_null(total.mean)},
          {"total_unknown_s", unknown_time_json(total)},
          {"total_flags", json_of(total.flags)},
          {"total_covers", total.covers},
          {"total_missing", missing_kinds_json(total.missing)},
          {"left_out", text_or_null(energy.left_out)},
          {"domains", std::move(domains)}};
}

Json to_json(const std::optional<std::vector<GpuUsage>>& gpus) {
  if (!gpus) return nullptr;
  Json list = Json::array();
  for (const GpuUsage& gpu : *gpus) {
    list.push_back({{"domain", gpu.domain.name()},
                    {"model", text_or_null(gpu.info.model)},
                    {"uuid", text_or_null(gpu.info.id)},
                    {"pci_address", text_or_null(gpu.info.pci_address)},
                    {"driver", text_or_null(gpu.info.driver)},
                    {"memory_total_bytes", or_null(gpu.memory_total_bytes)},
                    {"peak_memory_used_bytes", or_null(gpu.peak_memory_used_bytes)},
                    {"mean_utilization_percent", or_null(gpu.mean_utilization_percent)},
                    {"max_utilization_percent", or_null(gpu.max_utilization_percent)},
                    {"max_temperature_celsius", or_null(gpu.max_temperature_celsius)},
                    {"used_by_command", or_null(gpu.used_by_command)},
                    {"used_by_command_unknown", text_or_null(gpu.used_by_command_unknown)},
                    {"unknown", text_or_null(gpu.unknown)}});
  }
  return list;
}

Json to_json(const std::vector<PhaseReport>& phases) {
  Json list = Json::array();
  for (const PhaseReport& phase : phases) {
    Json spans = Json::array();
    for (const PhaseSpan& span : phase.spans) {
      spans.push_back({whole_nanoseconds(span.begin), whole_nanoseconds(span.end)});
    }
    const Total& total = phase.total;
    list.push_back({{"name", phase.name},
                    {"parent", or_null(phase.parent)},
                    {"time_s", whole_nanoseconds(phase.time)},
                    {"total_j", or_null(total.energy)},
                    {"total_uncertainty_j", uncertainty_or_null(total.energy, total.uncertainty)},
                    {"total_common_j", uncertainty_or_null(total.energy, total.common)},
                    {"total_mean_w", or_null(total.mean)},
                    {"total_unknown_s", unknown_time_json(total)},
                    {"total_flags", json_of(total.flags)},
                    {"domains", part_domains_json(phase.domains)},
                    {"cpu_s", or_null(phase.cpu)},
                    {"peak_memory_bytes", or_null(phase.peak_memory_bytes)},
                    {"unknown", text_or_null(phase.unknown)},
                    {"spans", std::move(spans)}});
  }
  return list;
}

Json to_json(const PhasesReport& phases) {
  return {{"rows", to_json(phases.rows)},
          {"marks", phases.marks},
          {"ignored_marks", phases.ignored},
          {"dropped", phases.dropped},
          {"unavailable", text_or_null(phases.unavailable)}};
}

}  // namespace

std::string to_json(const Report& report) {
  const Json json = {{"schema", "wattle.run/2"},
                     {"wattle_version", version()},
                     {"command", report.command},
                     {"exit", json_of(report.exit)},
                     {"started_unix_s", report.started_unix_s},
                     {"ended_unix_s", report.ended_unix_s},
                     {"wall_s", report.wall.count()},
                     {"interval_s", report.interval.count()},
                     {"host",
                      {{"name", report.host.name},
                       {"boot_id", text_or_null(report.host.boot_id)},
                       {"cpu", text_or_null(report.host.cpu)},
                       {"gpus", to_json(report.host.gpus)}}},
                     {"slurm", json_of(report.slurm)},
                     {"mpi", json_of(report.mpi)},
                     {"energy", to_json(report.energy)},
                     {"estimate", json_of(report.estimate)},
                     {"share", json_of(report.share)},
                     {"resource_usage", usage_json(report.usage)},
                     {"phases", to_json(report.phases)},
                     {"units", report.units ? units_json(*report.units) : Json(nullptr)},
                     {"refused", refused_json(report.refused)},
                     {"overhead",
                      {{"cpu_s", whole_nanoseconds(report.overhead.cpu)},
                       {"samples", report.overhead.samples},
                       {"late", report.overhead.late}}}};
  // Arguments and names may hold bytes that are not UTF-8: they become U+FFFD.
  return dumped(json) + "\n";
}

}  // namespace wattle
