// Files of the ranks of an MPI or Slurm job: each needs a name of its own.
#pragma once

#include <string_view>

#include "run/job.hpp"

namespace wattle::app {

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
