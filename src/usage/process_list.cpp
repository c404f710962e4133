#include "usage/process_list.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/file.hpp"

namespace wattle {

std::vector<pid_t> processes_of(const Procfs& procfs) {
  return numeric_entries(procfs.root(), ".");
}

std::vector<pid_t> threads_of(const Procfs& procfs, pid_t pid) {
  std::array<char, 32> folder;
  (void)std::snprintf(folder.data(), folder.size(), "%d/task", pid);
  return numeric_entries(procfs.root(), folder.data());
}

std::optional<ProcessStat> read_stat(const Procfs& procfs, pid_t pid) {
  errno = 0;
  std::array<char, 1024> text;  // it is shorter
  auto stat = parse_process_stat(text_at_start(procfs.open(pid, ProcessFile::stat), text));
  return stat && stat->pid == pid ? stat : std::nullopt;
}

}  // namespace wattle
