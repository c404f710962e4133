#include "usage/process_list.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <array>
#include <cstdio>
#include <memory>

#include "usage/process.hpp"

namespace wattle {
namespace {

std::vector<pid_t> numbers_in(int root, const char* folder) {
  std::vector<pid_t> numbers;
  Fd fd(::openat(root, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(fd.get()), &::closedir);
  if (!listing) return numbers;
  (void)fd.release();
  // NOLINTNEXTLINE(concurrency-mt-unsafe): safe for listings that no two threads share
  while (const dirent* const entry = ::readdir(listing.get())) {
    if (const auto number = parse_pid(entry->d_name)) numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::vector<pid_t> processes_of(const Procfs& procfs) { return numbers_in(procfs.root(), "."); }

std::vector<pid_t> threads_of(const Procfs& procfs, pid_t pid) {
  std::array<char, 32> folder;
  (void)std::snprintf(folder.data(), folder.size(), "%d/task", pid);
  return numbers_in(procfs.root(), folder.data());
}

}  // namespace wattle
