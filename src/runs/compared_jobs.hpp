// The runs that are compared: a job of several ranks is one of them.
#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"
#include "runs/run_cost.hpp"

namespace wattle {

/// True for CPUs and GPUs of the same models.
[[nodiscard]] bool has_same_models(const Host& a, const Host& b);
/// True for the same machine, restarted or not: name and models agree.
[[nodiscard]] bool is_same_machine(const Host& a, const Host& b);

/// One run of a command: of one record, or of a job that several ranks recorded.
struct ComparedRun {
  std::string command;  ///< as a shell line; of a job: each of its command lines once
  Host host;            ///< of a job: all its nodes
  RunCost cost;
  bool is_job = false;
  std::vector<std::string> notes{};  ///< what a job's figures lack: sentences
};

/// Records that belong to one job of several ranks are one run, whose costs are those that `wattle
/// report` shows for them: records with the same Slurm job ID, and records of other MPI jobs that
/// overlap in time. All other records are runs of their own, also the runs of one rank alone. In
/// the order of the records. `name`: where they are from, for the notes.
[[nodiscard]] std::vector<ComparedRun> compared_runs_of(const std::vector<Report>& records,
                                                        const std::string& name);

}  // namespace wattle
