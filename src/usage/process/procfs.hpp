// The files of processes in procfs, kept open where there is room.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/files/fd.hpp"
#include "usage/process/process.hpp"
#include "wattle/system.hpp"

namespace wattle {

/// The files read of a process.
enum class ProcessFile : std::uint8_t { stat, statm, status, smaps_rollup, io, children };

/// True if its process numbers are those of this process's own system calls: /proc.
[[nodiscard]] bool is_own_procfs(const System& system);

/// A mounted procfs, and how many of its files may stay open. Threads: one at a time.
class Procfs {
 public:
  /// Half of the descriptors that this process may have, 4096 at most, stay open.
  explicit Procfs(const System& system);
  Procfs(const System& system, std::size_t most_kept);

  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(root_); }
  /// `is_own_procfs`: only then a process has a CPU clock.
  [[nodiscard]] bool is_own() const noexcept { return is_own_; }

  /// All processes, and all threads of one; empty where they cannot be listed.
  [[nodiscard]] std::vector<pid_t> processes() const;
  [[nodiscard]] std::vector<pid_t> threads_of(pid_t pid) const;
  /// Absent if `stat` cannot be read; `errno` is ESRCH or ENOENT if the process is gone.
  [[nodiscard]] std::optional<ProcessStat> read_stat(pid_t pid) const;

  /// An empty `Fd` with `errno` set where that fails. Allocates nothing.
  [[nodiscard]] Fd open(pid_t pid, ProcessFile file) const noexcept;
  /// The `status` of one thread.
  [[nodiscard]] Fd open_status(pid_t pid, pid_t thread) const noexcept;
  /// The list of children that one thread of a process has made.
  [[nodiscard]] Fd open_children(pid_t pid, pid_t thread) const noexcept;

 private:
  friend class KeptFile;
  Fd root_;
  bool is_own_;
  std::size_t left_;  ///< files that may still be kept open
};

/// One file of one process, for reading it again and again. It stays open as long as `procfs` has
/// room for it, and then never shows another process that got the same number; else it is opened
/// for each reading. (First come, first kept: files are read in turns, and of files in turns the
/// one that was not used for longest is the one that is needed next.) Threads: one at a time.
class KeptFile {
 public:
  KeptFile() noexcept = default;
  /// `procfs` outlives it.
  KeptFile(Procfs& procfs, pid_t pid, ProcessFile file) noexcept;
  KeptFile(KeptFile&& other) noexcept { *this = std::move(other); }
  KeptFile& operator=(KeptFile&& other) noexcept;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  ~KeptFile();

  /// As much as fits; -1 with `errno` set, ESRCH or ENOENT where the process is gone.
  [[nodiscard]] ssize_t read(std::span<char> buffer) const noexcept;

  [[nodiscard]] bool is_kept() const noexcept { return static_cast<bool>(fd_); }

 private:
  Procfs* procfs_ = nullptr;
  pid_t pid_ = 0;
  ProcessFile file_ = ProcessFile::stat;
  Fd fd_;
};

}  // namespace wattle
