#include "runs/compared_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text/text.hpp"
#include "runs/job_report.hpp"
#include "runs/job_report_text.hpp"

namespace wattle {
namespace {

using Records = std::vector<const Report*>;

/// True if these are what several ranks of one job recorded, not runs of one rank one after the
/// other.
bool are_ranks(const Records& records) {
  std::set<unsigned> ranks;
  std::set<std::string> hosts;
  for (const Report* record : records) {
    hosts.insert(record->host.name);
    if (record->mpi && record->mpi->rank) ranks.insert(*record->mpi->rank);
  }
  return ranks.size() > 1 || (ranks.empty() && hosts.size() > 1);
}

/// Without a job ID: ranks whose times overlap are those of one start.
std::vector<Records> by_overlap(Records ranks) {
  std::ranges::stable_sort(ranks, {}, &Report::started_unix_s);
  std::vector<Records> jobs;
  double end = 0.0;
  for (const Report* rank : ranks) {
    if (jobs.empty() || rank->started_unix_s > end) jobs.emplace_back();
    end = jobs.back().empty() ? rank->ended_unix_s : std::max(end, rank->ended_unix_s);
    jobs.back().push_back(rank);
  }
  return jobs;
}

ComparedRun single_run(const Report& record) {
  return {.command = shell_line(record.command), .host = record.host, .cost = cost_of(record)};
}

/// The sum of the nodes' mean powers; absent where one is unknown.
std::optional<Watts> mean_power_of(const JobReport& job) {
  std::optional<Watts> sum = Watts(0.0);
  for (const NodeReport& node : job.nodes) {
    if (!node.energy || node.measured <= Seconds(0)) return std::nullopt;
    sum = *sum + *node.energy / node.measured;
  }
  return sum;
}

/// Domains that are in the energy; those of a node by its place among the job's nodes, since the
/// same job may get other nodes.
std::vector<std::string> domains_of(const JobReport& job, const Records& records) {
  std::set<std::string> domains;
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    if (!job.nodes[i].energy) continue;
    for (const Report* record : records) {
      if (record->host.name != job.nodes[i].name || !record->energy.total.energy) continue;
      for (const std::string& domain : cost_of(*record).energy_domains) {
        domains.insert(job.nodes.size() == 1 ? domain
                                             : fmt::format("{} of node {}", domain, i + 1));
      }
    }
  }
  return {domains.begin(), domains.end()};
}

RunCost job_cost(const JobReport& job, const Records& records) {
  RunCost cost{.round = 0,
               .started_unix_s = job.started_unix_s,
               .wall = Seconds(job.ended_unix_s - job.started_unix_s),
               .energy = job.energy,
               .energy_domains = domains_of(job, records),
               .mean_power = mean_power_of(job),
               .cpu_user = job.cpu_user,
               .cpu_system = job.cpu_system,
               .peak_rss_bytes = job.peak_rss_bytes,
               .rank_count = job.size,
               .missing_ranks = job.missing_ranks.size(),
               .code = 0};
  if (job.energy) {
    cost.uncertainty = job.uncertainty;
    cost.common = job.common;
  }
  for (const NodeReport& node : job.nodes) {
    // A node without any energy is in no sum.
    if (!node.energy) continue;
    cost.energy_unknown = std::max(cost.energy_unknown, node.unknown + node.unmeasured);
  }
  for (const Report* record : records) {
    if (record->mpi && record->mpi->rank) cost.ranks.push_back(*record->mpi->rank);
    if (record->exit.code != 0) cost.failed_ranks.push_back(record->exit);
  }
  if (!cost.failed_ranks.empty()) {
    cost.code = cost.failed_ranks.front().code;
    cost.signal = cost.failed_ranks.front().signal;
  }
  return cost;
}

Host machines_of(const Records& records) {
  std::map<std::string, const Host*> nodes;
  for (const Report* record : records) nodes.emplace(record->host.name, &record->host);
  Host all;
  std::vector<GpuUsage>& gpus = all.gpus.emplace();
  std::vector<std::string> names;
  std::vector<std::string> cpus;
  for (const auto& [name, host] : nodes) {
    names.push_back(name);
    cpus.push_back(host->cpu);
    if (host->gpus) gpus.insert(gpus.end(), host->gpus->begin(), host->gpus->end());
  }
  // Nodes stand in any order.
  std::ranges::sort(cpus);
  std::ranges::sort(gpus, {}, [](const GpuUsage& gpu) { return gpu.info.model; });
  all.name = joined(names, ", ");
  all.cpu = joined(cpus, ", ");
  return all;
}

ComparedRun job_run(const Records& records, const std::string& name) {
  std::vector<NamedRecord> named;
  std::vector<std::string> commands;
  for (const Report* record : records) {
    named.push_back({fmt::format("{}, record {}", name, named.size() + 1), *record});
    const std::string command = shell_line(record->command);
    if (std::ranges::count(commands, command) == 0) commands.push_back(command);
  }
  const JobReport job = job_reports(named).front();
  ComparedRun run{.command = joined(commands, "; "),
                  .host = machines_of(records),
                  .cost = job_cost(job, records),
                  .is_job = true};
  const std::string of = job.job.empty() ? "the job" : "job " + printable(job.job);
  for (const std::string& remark : remarks_on(job)) {
    run.notes.push_back(fmt::format("{}: {}", of, remark));
  }
  return run;
}

std::vector<std::string> gpu_models(const Host& host) {
  std::vector<std::string> models;
  if (!host.gpus) return models;
  for (const GpuUsage& gpu : *host.gpus) models.push_back(gpu.info.model);
  return models;
}

}  // namespace

bool has_same_models(const Host& a, const Host& b) {
  return a.cpu == b.cpu && gpu_models(a) == gpu_models(b);
}

bool is_same_machine(const Host& a, const Host& b) {
  return a.name == b.name && has_same_models(a, b);
}

std::vector<ComparedRun> compared_runs_of(const std::vector<Report>& records,
                                          const std::string& name) {
  std::map<std::string, Records> by_job;
  Records ranks_without_job;
  for (const Report& record : records) {
    if (record.slurm && !record.slurm->job_id.empty()) {
      by_job[record.slurm->job_id].push_back(&record);
    } else if (record.mpi && record.mpi->size.value_or(1) > 1) {
      ranks_without_job.push_back(&record);
    }
  }
  std::vector<Records> jobs = by_overlap(std::move(ranks_without_job));
  std::erase_if(jobs, [](const Records& job) { return !are_ranks(job); });
  for (auto& [id, of_job] : by_job) {
    if (are_ranks(of_job)) jobs.push_back(std::move(of_job));
  }
  std::map<const Report*, const Records*> job_of;
  for (const Records& job : jobs) {
    for (const Report* record : job) job_of.emplace(record, &job);
  }
  std::vector<ComparedRun> runs;
  for (const Report& record : records) {
    const auto job = job_of.find(&record);
    if (job == job_of.end()) {
      runs.push_back(single_run(record));
    } else if (job->second->front() == &record) {
      runs.push_back(job_run(*job->second, name));
    }
  }
  return runs;
}

}  // namespace wattle
