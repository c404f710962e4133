// All processes in a procfs, and all threads of one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "usage/process.hpp"
#include "usage/procfs.hpp"

namespace wattle {

/// Empty where they cannot be listed.
[[nodiscard]] std::vector<pid_t> processes_of(const Procfs& procfs);
[[nodiscard]] std::vector<pid_t> threads_of(const Procfs& procfs, pid_t pid);

/// Absent if `stat` cannot be read; `errno` is ESRCH or ENOENT if the process is gone.
[[nodiscard]] std::optional<ProcessStat> read_stat(const Procfs& procfs, pid_t pid);

}  // namespace wattle
