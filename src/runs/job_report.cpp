#include "runs/job_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "base/numbers/known_sum.hpp"
#include "base/text/text.hpp"
#include "runs/node_errors.hpp"

namespace wattle {
namespace {

/// Two runs of one machine whose windows overlap by less than this follow each other: the second
/// started while the first ended.
constexpr double kOverlapS = 0.005;
constexpr double kShortestS = 1e-9;
/// The part of all reports of runs that start at any time which may say `in_step`.
constexpr double kMostFalse = 0.01;

bool is_measured(const Report& record) { return record.energy.total.energy.has_value(); }

/// "run-3.json" of "/long/path/run-3.json".
std::string short_name(const std::string& name) {
  return printable(name.substr(name.rfind('/') + 1));
}

bool is_same_run(const Report& a, const Report& b) {
  return a.host.name == b.host.name && a.started_unix_s == b.started_unix_s &&
         a.ended_unix_s == b.ended_unix_s && a.command == b.command &&
         (a.mpi ? a.mpi->rank : std::nullopt) == (b.mpi ? b.mpi->rank : std::nullopt);
}

/// The runs which together cover the longest time without overlapping (weighted interval
/// scheduling: Kleinberg and Tardos, Algorithm Design, 6.1). `runs`: of one machine, measured.
std::vector<const NamedRecord*> without_overlap(std::vector<const NamedRecord*> runs) {
  std::ranges::sort(runs, {}, [](const NamedRecord* run) { return run->record.ended_unix_s; });
  const auto begin = [](const NamedRecord* run) { return run->record.started_unix_s + kOverlapS; };
  std::vector<double> best(runs.size() + 1, 0.0);  // of the first i runs
  std::vector<std::size_t> before(runs.size(), 0);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto earlier = std::ranges::upper_bound(
        runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(i), begin(runs[i]), {},
        [](const NamedRecord* run) { return run->record.ended_unix_s; });
    before[i] = static_cast<std::size_t>(earlier - runs.begin());
    // One that took no time has an energy too.
    const double length = std::max(runs[i]->record.wall.count(), kShortestS);
    best[i + 1] = std::max(best[i], best[before[i]] + length);
  }
  std::vector<const NamedRecord*> chosen;
  for (std::size_t i = runs.size(); i > 0;) {
    if (best[i] > best[i - 1]) {
      chosen.push_back(runs[i - 1]);
      i = before[i - 1];
    } else {
      --i;
    }
  }
  std::ranges::reverse(chosen);
  return chosen;
}

/// The time in which at least one of the runs went on.
double union_s(std::vector<const NamedRecord*> runs) {
  std::ranges::sort(runs, {}, [](const NamedRecord* run) { return run->record.started_unix_s; });
  double sum = 0.0;
  double end = -std::numeric_limits<double>::infinity();
  for (const NamedRecord* run : runs) {
    const double begin = std::max(end, run->record.started_unix_s);
    sum += std::max(0.0, run->record.ended_unix_s - begin);
    end = std::max(end, run->record.ended_unix_s);
  }
  return sum;
}

void add_energy(NodeReport& node, const Report& record) {
  const Total& total = record.energy.total;
  node.energy = node.energy.value_or(Joules(0.0)) + *total.energy;
  node.measured += record.wall;
  node.unknown += total.unknown;
  node.flags |= total.flags;
  for (const std::string& kind : total.covers) {
    if (std::ranges::count(node.covers, kind) == 0) node.covers.push_back(kind);
  }
  for (const Refusal& kind : total.missing) {
    const bool is_known = std::ranges::any_of(node.missing, [&](const Refusal& known) {
      return known.subject == kind.subject && known.reason == kind.reason;
    });
    if (!is_known) node.missing.push_back(kind);
  }
}

/// Why no run of a machine has an energy.
std::string why_none(const std::vector<const NamedRecord*>& runs) {
  for (const NamedRecord* run : runs) {
    if (!run->record.energy.left_out.empty()) continue;
    const auto& missing = run->record.energy.total.missing;
    return missing.empty() ? "no sensor" : missing.front().reason;
  }
  return "the record of the rank that measured it is missing";
}

NodeReport node_of(const std::string& name, const std::vector<const NamedRecord*>& runs,
                   double most_false, std::set<const NamedRecord*>& counted,
                   std::vector<std::string>& notes) {
  NodeReport node{.name = name, .runs = runs.size()};
  std::vector<const NamedRecord*> measured;
  std::ranges::copy_if(runs, std::back_inserter(measured),
                       [](const NamedRecord* run) { return is_measured(run->record); });
  const std::vector<const NamedRecord*> chosen = without_overlap(measured);
  for (const NamedRecord* run : chosen) {
    add_energy(node, run->record);
    counted.insert(run);
  }
  set_errors(node, chosen, most_false, notes);
  set_observed(node, chosen, notes);
  if (chosen.empty()) node.no_energy = why_none(runs);
  if (chosen.size() < measured.size()) {
    notes.push_back(fmt::format(
        "{}: {} runs overlap in time; the energy of this machine is counted once, from {}{}",
        printable(name), measured.size(), short_name(chosen.front()->name),
        chosen.size() > 1 ? fmt::format(" and {} others", chosen.size() - 1) : ""));
  }
  const double missed = union_s(runs) - union_s(chosen);
  if (missed > kOverlapS) node.unmeasured = Seconds(missed);
  return node;
}

/// A mean over several runs: the value, and how far its bounds are from it, each times what it is a
/// mean over.
class JoinedMean {
 public:
  void add(const std::optional<EnergyInterval>& mean, Joules sum, double over) noexcept {
    if (!(over > 0.0)) return;
    is_known_ = is_known_ && mean;
    if (!mean) return;
    sum_ += sum;
    over_ += over;
    below_ += (mean->value - mean->low) * over;
    above_ += (mean->high - mean->value) * over;
  }
  [[nodiscard]] std::optional<EnergyInterval> found() const noexcept {
    if (!is_known_ || !(over_ > 0.0)) return std::nullopt;
    const Joules value = sum_ / over_;
    return EnergyInterval{value, value - below_ / over_, value + above_ / over_};
  }

 private:
  bool is_known_ = true;
  double over_ = 0.0;
  Joules sum_;
  Joules below_;
  Joules above_;
};

/// In all runs that are counted, in the order of `runs`.
std::vector<ReportedUnits> joined_units(const std::vector<const NamedRecord*>& runs,
                                        const std::set<const NamedRecord*>& counted) {
  struct JoinedUnits {
    ReportedUnits units;
    JoinedMean mean;
    JoinedMean per_work;
  };
  std::vector<JoinedUnits> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const NamedRecord* run : runs) {
    if (!run->record.units || !counted.contains(run)) continue;
    for (const UnitTag& tag : run->record.units->tags) {
      const auto [place, is_new] = places.try_emplace({tag.tag, tag.phase}, rows.size());
      if (is_new) rows.push_back({.units = {.tag = tag.tag, .phase = tag.phase}});
      JoinedUnits& row = rows[place->second];
      row.units.count += tag.count;
      row.units.unknown += tag.unknown;
      row.units.sum += tag.sum;
      row.units.work += tag.work;
      row.mean.add(tag.mean, tag.sum, static_cast<double>(tag.count));
      row.per_work.add(tag.per_work, tag.sum, tag.work);
    }
  }
  std::vector<ReportedUnits> found;
  for (JoinedUnits& row : rows) {
    row.units.mean = row.mean.found();
    row.units.per_work = row.per_work.found();
    found.push_back(std::move(row.units));
  }
  return found;
}

/// The error of the sensors themselves; absent where one is unknown.
std::optional<Joules> calibration_of(const std::set<const NamedRecord*>& counted) {
  std::map<std::tuple<std::string, std::string>, double> by_model;
  for (const NamedRecord* run : counted) {
    for (const DomainFigure& domain : run->record.energy.domains) {
      if (!counts_in_total(domain.domain.kind()) || !domain.figure.energy) continue;
      if (!domain.calibration) return std::nullopt;
      by_model[{domain.source, run->record.host.cpu}] +=
          domain.figure.energy->si() * domain.calibration->percent / 100.0;
    }
  }
  if (by_model.empty()) return std::nullopt;
  double squares = 0.0;
  for (const auto& [model, error] : by_model) squares += error * error;
  return Joules(std::sqrt(squares));
}

/// GPUs of a machine times the time in which a run of the job went on there; 0: no record has any.
Seconds gpu_time_on(const std::vector<const NamedRecord*>& runs) {
  // No machine has more: a damaged record must not make up GPU-years.
  constexpr unsigned kMostGpus = 1024;
  unsigned gpus = 0;
  for (const NamedRecord* run : runs) {
    if (run->record.slurm) gpus = std::max(gpus, run->record.slurm->gpus.value_or(0));
  }
  return gpus <= kMostGpus ? Seconds(gpus * union_s(runs)) : Seconds(0);
}

/// No job has more: a damaged record must not take minutes, and all memory.
constexpr unsigned kMostRanks = 20'000'000;

void find_missing_ranks(JobReport& report, const std::vector<const NamedRecord*>& runs) {
  std::set<unsigned> present;
  for (const NamedRecord* run : runs) {
    const auto& mpi = run->record.mpi;
    if (!mpi) continue;
    if (mpi->rank) present.insert(*mpi->rank);
    const bool is_plausible = mpi->size && *mpi->size <= kMostRanks;
    if (is_plausible) report.size = std::max(report.size.value_or(0), *mpi->size);
  }
  if (!report.size || present.empty()) return;
  for (unsigned rank = 0; rank < *report.size; ++rank) {
    if (!present.contains(rank)) report.missing_ranks.push_back(rank);
  }
}

ReportedRun reported(const NamedRecord& run, bool is_counted) {
  const Report& record = run.record;
  const Total& total = record.energy.total;
  ReportedRun reported{.name = run.name,
                       .host = record.host.name,
                       .rank = record.mpi ? record.mpi->rank : std::nullopt,
                       .energy = total.energy,
                       .flags = total.flags,
                       .is_counted = is_counted};
  if (total.energy) reported.uncertainty = total.uncertainty;
  if (is_counted && record.energy.course.count() > 0) {
    reported.power = record.energy.course;
    reported.phases = record.phases;
  }
  return reported;
}

JobReport report_of_job(const std::string& job, const std::vector<const NamedRecord*>& runs) {
  JobReport report{.job = job};
  report.started_unix_s = std::numeric_limits<double>::infinity();
  report.ended_unix_s = -std::numeric_limits<double>::infinity();
  std::map<std::string, std::vector<const NamedRecord*>> by_host;
  KnownSum<Seconds> user;
  KnownSum<Seconds> system;
  for (const NamedRecord* run : runs) {
    const Report& record = run->record;
    by_host[record.host.name].push_back(run);
    report.started_unix_s = std::min(report.started_unix_s, record.started_unix_s);
    report.ended_unix_s = std::max(report.ended_unix_s, record.ended_unix_s);
    user.add(record.usage.cpu_user);
    system.add(record.usage.cpu_system);
    if (const auto& peak = record.usage.peak_rss_bytes) {
      report.peak_rss_bytes = std::max(report.peak_rss_bytes.value_or(0), *peak);
    }
  }
  report.cpu_user = user.value();
  report.cpu_system = system.value();
  report.cpu = known_sum(report.cpu_user, report.cpu_system);
  std::set<const NamedRecord*> counted;
  UncertaintySum errors;  // machines of one kind are late alike
  for (const auto& [name, on_host] : by_host) {
    report.nodes.push_back(node_of(name, on_host, kMostFalse / static_cast<double>(by_host.size()),
                                   counted, report.notes));
    const NodeReport& node = report.nodes.back();
    if (const Seconds time = gpu_time_on(on_host); time > Seconds(0)) {
      report.gpu_time = report.gpu_time.value_or(Seconds(0)) + time;
    }
    if (!node.energy) continue;
    report.energy = report.energy.value_or(Joules(0.0)) + *node.energy;
    errors.add(node.uncertainty, node.common);
  }
  report.uncertainty = errors.uncertainty();
  report.common = errors.common();
  flag_unseen_ends(report);
  report.calibration = calibration_of(counted);
  report.units = joined_units(runs, counted);
  find_missing_ranks(report, runs);
  for (const NamedRecord* run : runs) report.runs.push_back(reported(*run, counted.contains(run)));
  return report;
}

}  // namespace

bool NodeReport::is_lower_bound() const {
  return !energy || unmeasured > Seconds(0) || unknown > Seconds(0) ||
         lacks_a_part(covers, missing);
}

std::vector<JobReport> job_reports(const std::vector<NamedRecord>& records) {
  std::map<std::string, std::vector<const NamedRecord*>> by_job;
  std::map<std::string, std::vector<std::string>> notes;
  for (const NamedRecord& record : records) {
    const std::string job = record.record.slurm ? record.record.slurm->job_id : std::string();
    auto& runs = by_job[job];
    const auto same = std::ranges::find_if(
        runs, [&](const NamedRecord* run) { return is_same_run(run->record, record.record); });
    if (same == runs.end()) {
      runs.push_back(&record);
    } else {
      notes[job].push_back(fmt::format("{} and {} are the same run; it is counted once",
                                       short_name((*same)->name), short_name(record.name)));
    }
  }
  std::vector<JobReport> reports;
  for (const auto& [job, runs] : by_job) {
    reports.push_back(report_of_job(job, runs));
    std::ranges::move(notes[job], std::back_inserter(reports.back().notes));
  }
  // Those without a job sort first, and go last.
  if (!reports.empty() && reports.front().job.empty()) {
    std::ranges::rotate(reports, reports.begin() + 1);
  }
  return reports;
}

}  // namespace wattle
