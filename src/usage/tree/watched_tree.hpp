// The processes of a tree: a root and its descendants, also if their parents have ended.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "usage/process/watched_process.hpp"
#include "usage/tree/process_tree.hpp"
#include "usage/tree/tree_state.hpp"

namespace wattle {

/// Finds the processes and keeps them. Never contains this process. Not thread-safe.
class WatchedTree {
 public:
  /// Throws `InvalidArgument` if there is no such process, or it has ended.
  WatchedTree(const System& system, pid_t root, const TreeOptions& options);
  WatchedTree(const WatchedTree&) = delete;
  WatchedTree& operator=(const WatchedTree&) = delete;
  ~WatchedTree() = default;

  /// Adds new descendants. Allocates only for them, and to list threads or all processes.
  void find_new();
  /// Removes the processes that are gone, except the root.
  void remove_gone();

  /// The root first, parents before their children. Valid until one is added or removed.
  [[nodiscard]] std::span<WatchedProcess> processes() noexcept { return processes_; }
  [[nodiscard]] std::span<const WatchedProcess> processes() const noexcept { return processes_; }
  [[nodiscard]] const ProcessState& root() const noexcept { return processes_.front().state(); }
  /// Null if there is none of this number.
  [[nodiscard]] WatchedProcess* find(pid_t pid) noexcept;
  /// Reads files of processes that are not in the tree.
  [[nodiscard]] Kinship kinship_of(pid_t pid) const;

  /// False: CPU times come from `stat`.
  [[nodiscard]] bool has_cpu_clocks() const noexcept { return sources_.procfs.is_own(); }
  /// How processes are found, for reports.
  [[nodiscard]] std::string mechanism() const;

 private:
  void add(const ProcessStat& stat, Origin origin);
  void add_descendant(const ProcessStat& stat);
  template <class Read>
  void add_listed(Read read);
  void add_children_of_threads(pid_t pid);
  void scan();
  [[nodiscard]] bool is_new(pid_t pid) const noexcept;

  ProcessSources sources_;
  std::optional<pid_t> adopter_;
  std::set<pid_t> strangers_;
  KeptFile adopted_;
  std::vector<char> text_;                    ///< buffer for a list of children
  std::uint64_t watched_since_ = UINT64_MAX;  ///< in the unit of `ProcessStat::start_time`
  std::vector<WatchedProcess> processes_;
  std::unordered_map<pid_t, std::size_t> places_;  ///< in `processes_`
};

}  // namespace wattle
