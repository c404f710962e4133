// The batch job and the MPI rank that this process is part of, by its environment.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "report/report.hpp"

namespace wattle::app {

struct Job {
  std::string id;                      ///< of Slurm, PBS or LSF; empty: none
  std::optional<unsigned> rank;        ///< among all processes of the job step
  std::optional<unsigned> local_rank;  ///< among those on this machine
  std::optional<unsigned> size;        ///< how many there are in the job step
  std::optional<unsigned> local_size;  ///< and on this machine
  std::optional<SlurmJob> slurm;
};

/// MPI launchers are asked before Slurm: an mpirun inside a Slurm script inherits the script's
/// own SLURM_PROCID, 0.
[[nodiscard]] Job read_job(const Environment& environment);

/// Values for the placeholders in output paths.
struct PathValues {
  std::string host;
  std::string rank;
  std::string pid;
  std::string job;
};

/// Those of this process, whose command has the number `pid`.
[[nodiscard]] PathValues path_values(const Job& job, const std::string& host, int pid);
[[nodiscard]] std::string host_name();

/// Replaces %h %r %p %j and %%; throws `InvalidArgument` at any other.
[[nodiscard]] std::string expand_path(std::string_view path, const PathValues& values);

}  // namespace wattle::app
