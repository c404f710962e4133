// The numbers of all processes in a procfs, and of all threads of one.
#pragma once

#include <sys/types.h>

#include <vector>

#include "usage/procfs.hpp"

namespace wattle {

/// Empty where they cannot be listed.
[[nodiscard]] std::vector<pid_t> processes_of(const Procfs& procfs);
[[nodiscard]] std::vector<pid_t> threads_of(const Procfs& procfs, pid_t pid);

}  // namespace wattle
