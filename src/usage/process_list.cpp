#include "usage/process_list.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/parse.hpp"

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
    const auto number = parse_unsigned<std::uint32_t>(entry->d_name);
    if (number && std::in_range<pid_t>(*number)) numbers.push_back(static_cast<pid_t>(*number));
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
