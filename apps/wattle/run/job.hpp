// The batch job and the MPI rank that this process is part of, by its environment; and the files of
// ranks, each of which needs a name of its own.
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

/// True if another rank of the job writes to the file that `path` (with its placeholders) names.
/// `on_every_machine`: the file's folder is the same one on all machines of the job.
[[nodiscard]] bool is_shared_by_ranks(std::string_view path, const Job& job,
                                      bool on_every_machine) noexcept;

/// Throws `InvalidArgument`, which names the placeholder to use, where several ranks would write to
/// one regular file. `what`: "--json". `expanded`: the path after `expand_path`.
void require_own_file(std::string_view what, std::string_view path, const std::string& expanded,
                      const Job& job);

/// The same for a folder whose files each rank needs for itself. `what`: "DIR".
void require_own_folder(std::string_view what, std::string_view path, const std::string& expanded,
                        const Job& job);

}  // namespace wattle::app
