#include "runs/run_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files/file.hpp"
#include "base/numbers/known_sum.hpp"
#include "base/text/text.hpp"
#include "report/report_fields.hpp"
#include "runs/record_text.hpp"
#include "sensors/domain_traits.hpp"
#include "units/units_json.hpp"
#include "wattle/error.hpp"

namespace wattle {

template <>
inline constexpr auto kFields<RecordedDomain> = std::tuple(
    Field("name", &RecordedDomain::name), Field("device", &RecordedDomain::device),
    Field("contained_in", &RecordedDomain::contained_in), Field("source", &RecordedDomain::source),
    Field("method", &RecordedDomain::method), Field("quantity", &RecordedDomain::quantity),
    Field("energy_j", &RecordedDomain::energy),
    Field("uncertainty_j", &RecordedDomain::uncertainty),
    Field("calibration_percent", &RecordedDomain::calibration_percent),
    Field("mean_w", &RecordedDomain::mean), Field("max_w", &RecordedDomain::max),
    Field("unknown_s", &RecordedDomain::unknown), Field("flags", &RecordedDomain::flags));

namespace {

using Json = nlohmann::ordered_json;

RecordedEnergy recorded_energy(const Json& json) {
  RecordedEnergy energy;
  take_member(json, "total_j", energy.total);
  take_member(json, "total_uncertainty_j", energy.uncertainty);
  take_member(json, "total_common_j", energy.common);
  take_member(json, "total_mean_w", energy.mean);
  take_member(json, "total_flags", energy.flags);
  take_member(json, "total_unknown_s", energy.unknown);
  energy.covers = printable_words(at(json, "total_covers"));
  take_member(json, "left_out", energy.left_out);
  for_each_object(at(json, "total_missing"), [&](const Json& missing) {
    PrintableText kind;
    PrintableText reason;
    take_member(missing, "kind", kind);
    take_member(missing, "reason", reason);
    energy.missing.push_back({.subject = kind, .reason = reason});
  });
  take_member(json, "domains", energy.domains);
  return energy;
}

std::vector<RecordedPhase> recorded_phases(const Json& rows) {
  std::vector<RecordedPhase> phases;
  for (const Json& row : rows) {
    if (!at(row, "parent").is_null()) continue;
    for (const Json& span : at(row, "spans")) {
      if (!span.is_array() || span.size() != 2) continue;
      RecordedPhase phase;
      take_member(row, "name", phase.name);
      take(span[0], phase.span.begin);
      take(span[1], phase.span.end);
      if (phase.span.begin >= Seconds(0) && phase.span.end > phase.span.begin) {
        phases.push_back(std::move(phase));
      }
    }
  }
  std::ranges::sort(phases, {}, [](const RecordedPhase& phase) { return phase.span.begin; });
  return phases;
}

/// What each run has, whatever could be measured.
bool is_complete_run(const Json& json) {
  return at(json, "command").is_array() && at(json, "exit").is_object() &&
         at(json, "wall_s").is_number() && at(json, "host").is_object() &&
         at(json, "energy").is_object() && at(json, "resource_usage").is_object();
}

/// True for what is no number, too.
bool is_possible_energy(const Json& json) {
  constexpr double kMostJoules = 1e15;  // of a power station, in a week
  return !json.is_number() || (json.get<double>() >= 0.0 && json.get<double>() <= kMostJoules);
}

/// Values that a run can have: sums and quotients of others would overflow.
bool is_possible_run(const Json& json) {
  const Json& energy = at(json, "energy");
  bool is_possible = is_possible_time(Seconds(at(json, "wall_s").get<double>())) &&
                     is_possible_energy(at(energy, "total_j")) &&
                     is_possible_energy(at(energy, "total_uncertainty_j"));
  for_each_object(at(energy, "domains"), [&](const Json& domain) {
    is_possible = is_possible && is_possible_energy(at(domain, "energy_j"));
  });
  return is_possible;
}

RunRecord record_of(const Json& json, const std::string& name) {
  if (schema_of(json) != kFirstRunSchema) require_schema(json, kRunSchema, name);
  if (!is_complete_run(json)) throw incomplete(name, kRunSchema);
  if (!is_possible_run(json)) {
    throw FormatError(name, fmt::format("cannot read {}: no run has its wall_s or total_j; it is "
                                        "damaged or was edited",
                                        printable(name)));
  }
  RunRecord record;
  take_member(json, "wattle_version", record.wattle_version);
  take_member(json, "command", record.command);
  take_member(json, "exit", record.exit);
  take_member(json, "started_unix_s", record.started_unix_s);
  take_member(json, "ended_unix_s", record.ended_unix_s);
  take_member(json, "wall_s", record.wall);
  take_member(json, "interval_s", record.interval);
  record.host = recorded_host(at(json, "host"));
  take_member(json, "slurm", record.slurm);
  if (record.slurm) {
    for (std::string SlurmJob::*text :
         {&SlurmJob::job_id, &SlurmJob::step_id, &SlurmJob::rank, &SlurmJob::local_rank}) {
      (*record.slurm).*text = PrintableText((*record.slurm).*text);
    }
  }
  take_member(json, "mpi", record.mpi);
  record.energy = recorded_energy(at(json, "energy"));
  const Json& usage = at(json, "resource_usage");
  take_member(usage, "cpu_user_s", record.cpu_user);
  take_member(usage, "cpu_system_s", record.cpu_system);
  take_member(usage, "peak_rss_bytes", record.peak_rss_bytes);
  record.phases = recorded_phases(at(at(json, "phases"), "rows"));
  record.units = units_of(at(json, "units"));
  return record;
}

}  // namespace

bool RecordedDomain::counts_in_total() const {
  return std::ranges::any_of(all_domain_traits(), [&](const DomainTraits& kind) {
    return !kind.in_total.empty() && name.starts_with(std::string(kind.name) + "_");
  });
}

bool RecordedEnergy::is_lower_bound() const {
  return total && (unknown.value_or(Seconds(0)) > Seconds(0) || lacks_a_part(covers, missing));
}

bool RecordedHost::is_same_machine(const RecordedHost& other) const {
  return name == other.name && cpu == other.cpu && gpus == other.gpus;
}

std::optional<Seconds> RunRecord::cpu() const noexcept { return known_sum(cpu_user, cpu_system); }

bool is_possible_time(Seconds time) noexcept {
  constexpr double kMostSeconds = 1e9;  // 31 years
  constexpr double kLeastSeconds = 1e-9;
  return time.count() == 0.0 || (time.count() >= kLeastSeconds && time.count() <= kMostSeconds);
}

RunRecord parse_run_record(std::string_view json, const std::string& name) {
  return record_of(parse_record(json, name), name);
}

std::vector<RunRecord> parse_run_records(std::string_view text, const std::string& name) {
  std::vector<RunRecord> records;
  for (const RecordText& record : parse_records(text, name)) {
    records.push_back(record_of(record.json, record.name));
  }
  return records;
}

}  // namespace wattle
