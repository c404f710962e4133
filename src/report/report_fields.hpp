// The keys of a run's JSON, which are described in docs/json.md: it is written and read by this
// list.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/json/json_fields.hpp"
#include "base/text/quantity.hpp"
#include "report/estimate_fields.hpp"
#include "report/report.hpp"
#include "sampling/energy_fields.hpp"
#include "sensors/domain_json.hpp"
#include "sensors/domain_traits.hpp"
#include "units/units_json.hpp"
#include "usage/files/usage_fields.hpp"
#include "usage/files/usage_json.hpp"

namespace wattle {

template <>
inline constexpr auto kFields<Exit> = std::tuple(
    Field("started", &Exit::started), Field("code", &Exit::code), Field("signal", &Exit::signal),
    Field("core_dumped", &Exit::core_dumped), Field("error", &Exit::error));

/// Without the domain, which comes first.
inline constexpr auto kGpuUsageItems =
    std::tuple(Flattened(&GpuUsage::info, std::tuple(Field("model", &DeviceInfo::model),
                                                     Field("uuid", &DeviceInfo::id),
                                                     Field("pci_address", &DeviceInfo::pci_address),
                                                     Field("driver", &DeviceInfo::driver))),
               Field("memory_total_bytes", &GpuUsage::memory_total_bytes),
               Field("peak_memory_used_bytes", &GpuUsage::peak_memory_used_bytes),
               Field("mean_utilization_percent", &GpuUsage::mean_utilization_percent),
               Field("max_utilization_percent", &GpuUsage::max_utilization_percent),
               Field("max_temperature_celsius", &GpuUsage::max_temperature_celsius),
               Field("used_by_command", &GpuUsage::used_by_command),
               Field("used_by_command_unknown", &GpuUsage::used_by_command_unknown),
               Field("unknown", &GpuUsage::unknown));

/// One that names no domain has the next one of "gpu_0", "gpu_1" ...
[[nodiscard]] std::vector<GpuUsage> gpus_of(const nlohmann::ordered_json& list);

template <>
inline constexpr auto kFields<Host> = std::tuple(
    Field("name", &Host::name), Field("boot_id", &Host::boot_id), Field("cpu", &Host::cpu),
    Converted(
        "gpus",
        [](const Host& host) {
          return host.gpus ? list_of(*host.gpus, std::tuple_cat(kDomainItem, kGpuUsageItems))
                           : nlohmann::ordered_json(nullptr);
        },
        [](const nlohmann::ordered_json& json, Host& into) {
          if (json.is_array()) into.gpus = gpus_of(json);
        }));

template <>
inline constexpr auto kFields<SlurmTask> =
    std::tuple(Field("rank", &SlurmTask::rank), Field("code", &SlurmTask::code),
               Field("signal", &SlurmTask::signal), Field("cpu_user_s", &SlurmTask::cpu_user),
               Field("cpu_system_s", &SlurmTask::cpu_system),
               Field("peak_rss_bytes", &SlurmTask::peak_rss_bytes),
               Field("started_unix_s", &SlurmTask::started_unix_s),
               Field("ended_unix_s", &SlurmTask::ended_unix_s));

template <>
inline constexpr auto kFields<SlurmJob> =
    std::tuple(Field("job_id", &SlurmJob::job_id), Field("step_id", &SlurmJob::step_id),
               Field("rank", &SlurmJob::rank), Field("local_rank", &SlurmJob::local_rank),
               Field("gpus", &SlurmJob::gpus), Field("tasks", &SlurmJob::tasks));

template <>
inline constexpr auto kFields<Rank> =
    std::tuple(Field("rank", &Rank::rank), Field("local_rank", &Rank::local_rank),
               Field("size", &Rank::size), Field("local_size", &Rank::local_size));

// The fields of a domain's energy, in three parts: others stand between them.
inline constexpr auto kFigureEnergy =
    std::tuple(Field("energy_j", &EnergyFigure::energy),
               UncertaintyField<EnergyFigure>{"uncertainty_j", &EnergyFigure::energy,
                                              &EnergyFigure::uncertainty},
               // Records of old versions do not have it: all of the uncertainty may come back.
               UncertaintyField<EnergyFigure>{"common_j", &EnergyFigure::energy,
                                              &EnergyFigure::common, &EnergyFigure::uncertainty});
inline constexpr auto kFigurePower =
    std::tuple(Field("unknown_s", &EnergyFigure::unknown), Field("mean_w", &EnergyFigure::mean),
               Field("max_w", &EnergyFigure::max),
               Converted(
                   "max_uncertainty_w",
                   [](const EnergyFigure& figure) {
                     const auto error = figure.max_uncertainty;
                     return or_null(error ? std::optional(with_two_digits(Joules(error->si())).si())
                                          : std::nullopt);
                   },
                   [](const nlohmann::ordered_json& json, EnergyFigure& into) {
                     take(json, into.max_uncertainty);
                   }),
               Field("method", &EnergyFigure::method), kQuantityField);
inline constexpr auto kFigureSource =
    std::tuple(Field("coverage", &EnergyFigure::coverage), Field("update_s", &EnergyFigure::update),
               Field("update_is_observed", &EnergyFigure::update_is_observed),
               Field("ends_are_seen", &EnergyFigure::ends_are_seen),
               Field("alternatives", &EnergyFigure::alternatives));

inline constexpr auto kDomainName =
    Derived("name", [](const DomainFigure& domain) { return domain.domain.name(); });

/// "cpu:0", or the name of the domain where it is no part of a device.
[[nodiscard]] inline std::string device_of(const Domain& domain) {
  const std::string device(traits_of(domain).device);
  return device.empty() ? domain.name() : device + ":" + std::to_string(domain.index());
}

/// The fields of a domain of a run.
inline constexpr auto kDomainItems = std::tuple(
    kDomainName,
    Derived("device", [](const DomainFigure& domain) { return device_of(domain.domain); }),
    Flattened(&DomainFigure::figure, kFigureEnergy),
    // No RAPL sensor states its error: it is known where it was compared with a meter.
    Converted(
        "calibration_percent",
        [](const DomainFigure& domain) {
          return or_null(domain.calibration ? std::optional(domain.calibration->percent)
                                            : std::nullopt);
        },
        [](const nlohmann::ordered_json& json, DomainFigure& into) {
          if (json.is_number()) take(json, into.calibration.emplace().percent);
        }),
    Converted(
        "calibration_source",
        [](const DomainFigure& domain) {
          return domain.calibration ? json_of(domain.calibration->source)
                                    : nlohmann::ordered_json(nullptr);
        },
        [](const nlohmann::ordered_json& json, DomainFigure& into) {
          if (into.calibration) take(json, into.calibration->source);
        }),
    Flattened(&DomainFigure::figure, kFigurePower), Field("source", &DomainFigure::source),
    Flattened(&DomainFigure::figure, kFigureSource),
    Field("contained_in", &DomainFigure::contained_in),
    Flattened(&DomainFigure::figure, std::tuple(Field("flags", &EnergyFigure::flags))));

/// The fields of a domain in a part of a run: a phase, or the time since a mark.
inline constexpr auto kPartDomainItems = std::tuple(
    kDomainName, Flattened(&DomainFigure::figure, kFigureEnergy),
    Flattened(&DomainFigure::figure, std::tuple(Field("unknown_s", &EnergyFigure::unknown),
                                                Field("flags", &EnergyFigure::flags))));

inline constexpr auto kTotalEnergy =
    std::tuple(Field("total_j", &Total::energy),
               UncertaintyField<Total>{"total_uncertainty_j", &Total::energy, &Total::uncertainty});
inline constexpr auto kTotalUnknown = std::tuple(Converted(
    "total_unknown_s",
    [](const Total& total) {
      return or_null(total.energy ? std::optional(total.unknown) : std::nullopt);
    },
    [](const nlohmann::ordered_json& json, Total& into) { take(json, into.unknown); }));
inline constexpr auto kTotalItems =
    std::tuple_cat(kTotalEnergy,
                   std::tuple(UncertaintyField<Total>{"total_common_j", &Total::energy,
                                                      &Total::common, &Total::uncertainty},
                              Field("total_mean_w", &Total::mean)),
                   kTotalUnknown, std::tuple(Field("total_flags", &Total::flags)));
/// Fields of the whole run only.
inline constexpr auto kTotalCoverage = std::tuple(
    Field("total_covers", &Total::covers),
    Converted(
        "total_missing", [](const Total& total) { return missing_kinds_json(total.missing); },
        [](const nlohmann::ordered_json& json, Total& into) {
          for_each_object(json, [&](const nlohmann::ordered_json& one) {
            Refusal& kind = into.missing.emplace_back();
            take_member(one, "kind", kind.subject);
            take_member(one, "reason", kind.reason);
          });
        }));

template <>
inline constexpr auto kFields<EnergyReport> = std::tuple(
    Derived("scope", [](const EnergyReport& /*energy*/) { return "machine"; }),
    Flattened(&EnergyReport::total, kTotalItems), Flattened(&EnergyReport::total, kTotalCoverage),
    Field("left_out", &EnergyReport::left_out),
    Converted(
        "domains", [](const EnergyReport& energy) { return list_of(energy.domains, kDomainItems); },
        [](const nlohmann::ordered_json& json, EnergyReport& into) {
          take_of_domains(json, "name", into.domains, kDomainItems);
        }));

[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<PhaseSpan>& spans);
/// Leaves out what is no time in a run.
void take(const nlohmann::ordered_json& json, std::vector<PhaseSpan>& into);

template <>
inline constexpr auto kFields<PhaseReport> = std::tuple(
    Field("name", &PhaseReport::name), Field("parent", &PhaseReport::parent),
    Field("time_s", &PhaseReport::time), Flattened(&PhaseReport::total, kTotalItems),
    Converted(
        "domains",
        [](const PhaseReport& phase) { return list_of(phase.domains, kPartDomainItems); },
        [](const nlohmann::ordered_json& json, PhaseReport& into) {
          take_of_domains(json, "name", into.domains, kPartDomainItems);
        }),
    Field("cpu_s", &PhaseReport::cpu), Field("peak_memory_bytes", &PhaseReport::peak_memory_bytes),
    Field("unknown", &PhaseReport::unknown), Field("spans", &PhaseReport::spans));

/// No more than a run has, each with its depth.
[[nodiscard]] std::vector<PhaseReport> phases_of(const nlohmann::ordered_json& list);

template <>
inline constexpr auto kFields<PhasesReport> = std::tuple(
    Converted(
        "rows", [](const PhasesReport& phases) { return json_of(phases.rows); },
        [](const nlohmann::ordered_json& json, PhasesReport& into) {
          into.rows = phases_of(json);
        }),
    Field("marks", &PhasesReport::marks), Field("ignored_marks", &PhasesReport::ignored),
    Field("dropped", &PhasesReport::dropped), Field("unavailable", &PhasesReport::unavailable));

template <>
inline constexpr auto kFields<Overhead> =
    std::tuple(Field("cpu_s", &Overhead::cpu), Field("samples", &Overhead::samples),
               Field("late", &Overhead::late));

template <>
inline constexpr auto kFields<Report> = std::tuple(
    Derived("schema", [](const Report& /*report*/) { return kRunSchema; }),
    Converted(
        "wattle_version", [](const Report& report) { return version_of(report); },
        [](const nlohmann::ordered_json& json, Report& into) { take(json, into.wattle_version); }),
    Field("command", &Report::command), Field("exit", &Report::exit),
    Field("started_unix_s", &Report::started_unix_s), Field("ended_unix_s", &Report::ended_unix_s),
    Field("wall_s", &Report::wall), Field("interval_s", &Report::interval),
    Field("host", &Report::host), Field("slurm", &Report::slurm), Field("mpi", &Report::mpi),
    Field("energy", &Report::energy), Field("estimate", &Report::estimate),
    Field("share", &Report::share), Field("resource_usage", &Report::usage),
    Field("phases", &Report::phases), Field("units", &Report::units),
    Converted(
        "refused", [](const Report& report) { return refused_json(report.refused); },
        [](const nlohmann::ordered_json& json, Report& into) { take_refused(json, into.refused); }),
    Field("overhead", &Report::overhead));

}  // namespace wattle
