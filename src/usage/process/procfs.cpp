#include "usage/process/procfs.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/files/file.hpp"
#include "base/json/enum_table.hpp"

namespace wattle {
namespace {

constexpr std::size_t kMostKept = 4096;

std::size_t half_of_all_descriptors() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return static_cast<std::size_t>(std::min<rlim_t>(limit.rlim_cur / 2, kMostKept));
}

/// The name of each `ProcessFile`.
constexpr std::array<const char*, 6> kNames = {"stat",         "statm", "status",
                                               "smaps_rollup", "io",    "children"};

Fd open_at(int root, const char* path) noexcept {
  return Fd(::openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

/// Longest: two process numbers and words of procfs.
using Path = std::array<char, 64>;

}  // namespace

bool is_own_procfs(const System& system) {
  return (system.procfs / "").lexically_normal() == "/proc/";
}

Procfs::Procfs(const System& system) : Procfs(system, half_of_all_descriptors()) {}

Procfs::Procfs(const System& system, std::size_t most_kept)
    : root_(::open(system.procfs.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
      is_own_(is_own_procfs(system)),
      left_(most_kept) {}

std::vector<pid_t> Procfs::processes() const { return numeric_entries(root_.get(), "."); }

std::vector<pid_t> Procfs::threads_of(pid_t pid) const {
  Path path;
  (void)std::snprintf(path.data(), path.size(), "%d/task", pid);
  return numeric_entries(root_.get(), path.data());
}

std::optional<ProcessStat> Procfs::read_stat(pid_t pid) const {
  errno = 0;
  std::array<char, 1024> text;  // it is shorter
  auto stat = parse_process_stat(text_at_start(open(pid, ProcessFile::stat), text));
  return stat && stat->pid == pid ? stat : std::nullopt;
}

Fd Procfs::open(pid_t pid, ProcessFile file) const noexcept {
  if (file == ProcessFile::children) return open_children(pid, pid);
  Path path;
  (void)std::snprintf(path.data(), path.size(), "%d/%s", pid, entry_of(kNames, file));
  return open_at(root_.get(), path.data());
}

Fd Procfs::open_children(pid_t pid, pid_t thread) const noexcept {
  Path path;
  (void)std::snprintf(path.data(), path.size(), "%d/task/%d/children", pid, thread);
  return open_at(root_.get(), path.data());
}

Fd Procfs::open_status(pid_t pid, pid_t thread) const noexcept {
  Path path;
  (void)std::snprintf(path.data(), path.size(), "%d/task/%d/status", pid, thread);
  return open_at(root_.get(), path.data());
}

KeptFile::KeptFile(Procfs& procfs, pid_t pid, ProcessFile file) noexcept
    : procfs_(&procfs), pid_(pid), file_(file) {
  if (procfs.left_ == 0) return;
  fd_ = procfs.open(pid, file);
  if (fd_) --procfs.left_;
}

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  std::swap(procfs_, other.procfs_);
  std::swap(pid_, other.pid_);
  std::swap(file_, other.file_);
  std::swap(fd_, other.fd_);
  return *this;
}

KeptFile::~KeptFile() {
  if (fd_) ++procfs_->left_;
}

ssize_t KeptFile::read(std::span<char> buffer) const noexcept {
  const Fd once = fd_ ? Fd() : procfs_->open(pid_, file_);
  const int fd = fd_ ? fd_.get() : once.get();
  if (fd < 0) return -1;
  return file_ == ProcessFile::children ? read_pieces(fd, buffer) : read_at_start(fd, buffer);
}

}  // namespace wattle
