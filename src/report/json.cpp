// The JSON of a run. Keys and their order are those of docs/json.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "report/report.hpp"
#include "wattle/wattle.hpp"

namespace wattle {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::optional<Joules>& value) {
  return value ? Json(value->si()) : Json(nullptr);
}
Json or_null(const std::optional<Watts>& value) {
  return value ? Json(value->si()) : Json(nullptr);
}
Json or_null(const std::optional<Seconds>& value) {
  return value ? Json(value->count()) : Json(nullptr);
}
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json in_gigabytes(const std::optional<double>& bytes) {
  return bytes ? Json(*bytes * 1e-9) : Json(nullptr);
}

Json to_json(const Flags& flags) {
  Json names = Json::array();
  flags.each([&](std::string_view name) { names.push_back(name); });
  return names;
}

std::string device_of(const Domain& domain) {
  switch (domain.kind()) {
    case DomainKind::nvidia_gpu:
      return fmt::format("gpu:{}", domain.index());
    case DomainKind::amd_gpu:
    case DomainKind::intel_gpu:
      return fmt::format("{}:{}", domain.kind_name(), domain.index());
    case DomainKind::psys:
      return fmt::format("platform:{}", domain.index());
    case DomainKind::package:
    case DomainKind::dram:
    case DomainKind::core:
    case DomainKind::uncore:
      break;
  }
  return fmt::format("cpu:{}", domain.index());
}

Json to_json(const std::vector<AlternativeEnergy>& alternatives) {
  Json list = Json::array();
  for (const AlternativeEnergy& other : alternatives) {
    list.push_back({{"method", to_string(other.method)},
                    {"quantity", other.quantity},
                    {"energy_j", other.energy.si()},
                    {"uncertainty_j", other.uncertainty.si()},
                    {"flags", to_json(other.flags)}});
  }
  return list;
}

Json to_json(const DomainEnergy& domain) {
  const EnergyFigure& figure = domain.figure;
  return {{"name", domain.domain.name()},
          {"device", device_of(domain.domain)},
          {"energy_j", or_null(figure.energy)},
          {"uncertainty_j", figure.energy ? Json(figure.uncertainty.si()) : Json(nullptr)},
          // No RAPL sensor states its error, and none was compared with a meter here.
          {"calibration_percent", nullptr},
          {"calibration_source", nullptr},
          {"unknown_s", figure.unknown.count()},
          {"mean_w", or_null(figure.mean)},
          {"max_w", or_null(figure.max)},
          {"method", to_string(figure.method)},
          {"quantity", figure.quantity},
          {"source", domain.source},
          {"coverage", or_null(figure.coverage)},
          {"alternatives", to_json(figure.alternatives)},
          {"contained_in", domain.contained_in ? Json(domain.contained_in->name()) : Json(nullptr)},
          {"flags", to_json(figure.flags)}};
}

Json to_json(const EnergyReport& energy) {
  Json missing = Json::array();
  for (const MissingKind& kind : energy.total.missing) {
    missing.push_back({{"kind", kind.kind}, {"reason", kind.reason}});
  }
  Json domains = Json::array();
  for (const DomainEnergy& domain : energy.domains) domains.push_back(to_json(domain));
  const Total& total = energy.total;
  return {{"scope", "machine"},
          {"total_j", or_null(total.energy)},
          {"total_uncertainty_j", total.energy ? Json(total.uncertainty.si()) : Json(nullptr)},
          {"total_mean_w", or_null(total.mean)},
          {"total_unknown_s", total.energy ? Json(total.unknown.count()) : Json(nullptr)},
          {"total_covers", total.covers},
          {"total_missing", std::move(missing)},
          {"left_out", text_or_null(energy.left_out)},
          {"domains", std::move(domains)}};
}

Json to_json(const RSSValues& values) {
  return {{"total_rss", in_gigabytes(values.total_rss)},
          {"private_rss", in_gigabytes(values.private_rss)},
          {"shared_rss", in_gigabytes(values.shared_rss)}};
}

Json to_json(const ProcessingUnitPercentages& percent) {
  return {{"max_sum_percent", or_null(percent.max_sum_percent)},
          {"max_hardware_percent", or_null(percent.max_hardware_percent)},
          {"mean_sum_percent", or_null(percent.mean_sum_percent)},
          {"mean_hardware_percent", or_null(percent.mean_hardware_percent)}};
}

Json to_json(const MaxRAM& ram) {
  return {{"unit", "gigabytes"},
          {"system_capacity", in_gigabytes(ram.system_capacity)},
          {"system", in_gigabytes(ram.system)},
          {"main", to_json(ram.main)},
          {"descendants", to_json(ram.descendants)},
          {"combined", to_json(ram.combined)}};
}

Json to_json(const MaxGPURAM& ram) {
  return {{"unit", "gigabytes"},
          {"system_capacity", in_gigabytes(ram.system_capacity)},
          {"system", in_gigabytes(ram.system)},
          {"main", in_gigabytes(ram.main)},
          {"descendants", in_gigabytes(ram.descendants)},
          {"combined", in_gigabytes(ram.combined)}};
}

Json to_json(const CPUUtilization& cpu) {
  return {{"system_core_count", or_null(cpu.system_core_count)},
          {"n_expected_cores", or_null(cpu.n_expected_cores)},
          {"system", to_json(cpu.system)},
          {"main", to_json(cpu.main)},
          {"descendants", to_json(cpu.descendants)},
          {"combined", to_json(cpu.combined)},
          {"main_n_threads", or_null(cpu.main_n_threads)},
          {"descendants_n_threads", or_null(cpu.descendants_n_threads)},
          {"combined_n_threads", or_null(cpu.combined_n_threads)}};
}

Json to_json(const GPUUtilization& gpu) {
  return {{"system_gpu_count", or_null(gpu.system_gpu_count)},
          {"n_expected_gpus", or_null(gpu.n_expected_gpus)},
          {"gpu_percentages", to_json(gpu.gpu_percentages)}};
}

Json still_running(const std::optional<std::vector<LiveProcess>>& processes) {
  if (!processes) return nullptr;
  Json list = Json::array();
  for (const LiveProcess& process : *processes) {
    list.push_back({{"pid", process.pid},
                    {"name", process.name},
                    {"cpu_s", (process.cpu_user + process.cpu_system).count()}});
  }
  return list;
}

Json to_json(const ResourceUsage& usage) {
  Json unknown = Json::array();
  for (const UnknownUsage& group : usage.unknown) {
    unknown.push_back({{"keys", group.keys}, {"reason", group.reason}});
  }
  std::optional<Seconds> cpu;
  if (usage.cpu_user && usage.cpu_system) cpu = *usage.cpu_user + *usage.cpu_system;
  return {{"max_ram", to_json(usage.max_ram)},
          {"max_gpu_ram", to_json(usage.max_gpu_ram)},
          {"cpu_utilization", to_json(usage.cpu_utilization)},
          {"gpu_utilization", to_json(usage.gpu_utilization)},
          {"compute_time", {{"unit", "seconds"}, {"time", usage.compute_time.count()}}},
          {"cpu_user_s", or_null(usage.cpu_user)},
          {"cpu_system_s", or_null(usage.cpu_system)},
          {"cpu_s", or_null(cpu)},
          {"peak_rss_bytes", or_null(usage.peak_rss_bytes)},
          {"peak_pss_bytes", or_null(usage.peak_pss_bytes)},
          {"still_running", still_running(usage.still_running)},
          {"processes", or_null(usage.processes)},
          {"unknown", std::move(unknown)}};
}

Json to_json(const std::optional<SlurmJob>& job) {
  if (!job) return nullptr;
  return {{"job_id", text_or_null(job->job_id)},
          {"step_id", text_or_null(job->step_id)},
          {"rank", text_or_null(job->rank)},
          {"local_rank", text_or_null(job->local_rank)}};
}

Json to_json(const std::vector<Refusal>& refused) {
  Json list = Json::array();
  for (const Refusal& refusal : refused) {
    list.push_back({{"source", refusal.source},
                    {"subject", refusal.subject},
                    {"reason", refusal.reason},
                    {"hint", text_or_null(refusal.remedy)}});
  }
  return list;
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

}  // namespace

std::string to_json(const Report& report) {
  const Json json = {{"schema", "wattle.run/1"},
                     {"wattle_version", version()},
                     {"command", report.command},
                     {"exit",
                      {{"started", report.exit.started},
                       {"code", or_null(report.exit.code)},
                       {"signal", or_null(report.exit.signal)},
                       {"core_dumped", report.exit.core_dumped},
                       {"error", text_or_null(report.exit.error)}}},
                     {"started_unix_s", report.started_unix_s},
                     {"ended_unix_s", report.ended_unix_s},
                     {"wall_s", report.wall.count()},
                     {"interval_s", report.interval.count()},
                     {"host",
                      {{"name", report.host.name},
                       {"boot_id", text_or_null(report.host.boot_id)},
                       {"cpu", text_or_null(report.host.cpu)},
                       {"gpus", to_json(report.host.gpus)}}},
                     {"slurm", to_json(report.slurm)},
                     {"energy", to_json(report.energy)},
                     {"resource_usage", to_json(report.usage)},
                     {"refused", to_json(report.refused)},
                     {"overhead",
                      {{"cpu_s", report.overhead.cpu.count()},
                       {"samples", report.overhead.samples},
                       {"late", report.overhead.late}}}};
  // Arguments and names may hold bytes that are not UTF-8: they become U+FFFD.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wattle
