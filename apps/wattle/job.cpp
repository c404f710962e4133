#include "job.hpp"

#include <fmt/format.h>

#include <array>
#include <initializer_list>

#include "base/parse.hpp"
#include "base/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

std::string value_of(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value != nullptr ? value : "";
}

std::optional<unsigned> first_number(const Environment& environment,
                                     std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto number = parse_unsigned<unsigned>(value_of(environment, name));
    if (number) return number;
  }
  return std::nullopt;
}

}  // namespace

Job read_job(const Environment& environment) {
  Job job;
  // Open MPI, MVAPICH2, Cray PALS, Intel MPI and MPICH (Hydra), then Slurm's own srun.
  job.rank = first_number(environment, {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK",
                                        "PALS_RANKID", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  job.local_rank =
      first_number(environment, {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                 "PALS_LOCAL_RANKID", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (job.id.empty()) job.id = value_of(environment, name);
  }
  if (!value_of(environment, "SLURM_JOB_ID").empty()) {
    job.slurm = SlurmJob{.job_id = value_of(environment, "SLURM_JOB_ID"),
                         .step_id = value_of(environment, "SLURM_STEP_ID"),
                         .rank = value_of(environment, "SLURM_PROCID"),
                         .local_rank = value_of(environment, "SLURM_LOCALID")};
  }
  return job;
}

std::string expand_path(std::string_view path, const PathValues& values) {
  std::string expanded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      expanded += path[i];
      continue;
    }
    const char key = ++i < path.size() ? path[i] : '\0';
    switch (key) {
      case 'h':
        expanded += values.host;
        break;
      case 'r':
        expanded += values.rank;
        break;
      case 'p':
        expanded += values.pid;
        break;
      case 'j':
        expanded += values.job;
        break;
      case '%':
        expanded += '%';
        break;
      default:
        throw InvalidArgument(
            fmt::format("in the path {}: after % comes h, r, p, j or another %", printable(path)));
    }
  }
  return expanded;
}

}  // namespace wattle::app
