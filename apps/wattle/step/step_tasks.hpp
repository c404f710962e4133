// Reports of Slurm's step daemon about the tasks of a step, line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"
#include "run/supervisor.hpp"

namespace wattle::app {

/// The lines that the plugin of Slurm writes (fleet/slurm/spank_wattle.cpp):
///
///   launcher RSS_KB                  memory of the process that the tasks were forked from
///   gpus NUMBER                      that the job has on this machine
///   restarts NUMBER                  how often the job was requeued
///   start RANK
///   exit RANK STATUS USER_US SYSTEM_US RSS_KB MINOR MAJOR VOLUNTARY INVOLUNTARY
///   end                              no task is left
///
/// STATUS is that of wait(2); RSS_KB may be "-": not known. Other lines, and those longer than
/// `kMostLineBytes`, are ignored and counted. Threads: one at a time.
class StepTasks {
 public:
  /// No machine has more tasks in a step: lines of further ranks are ignored.
  static constexpr std::size_t kMostTasks = 65'536;
  static constexpr std::size_t kMostLineBytes = 256;

  /// A part of the stream, which came at `now_unix_s`.
  void take(std::string_view bytes, double now_unix_s);

  [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }
  /// By rank.
  [[nodiscard]] const std::vector<SlurmTask>& tasks() const noexcept { return tasks_; }

  /// All tasks as one command. Its status is the signal of the first task that was killed, else the
  /// largest code; unknown where a task has none, or there is no task.
  [[nodiscard]] Exit exit() const;
  /// The use of the tasks together, without those that have no status.
  [[nodiscard]] const CollectedUsage& usage() const noexcept { return usage_; }
  /// Absent: there was no such line.
  [[nodiscard]] std::optional<unsigned> gpus() const noexcept { return gpus_; }
  [[nodiscard]] std::optional<unsigned> restarts() const noexcept { return restarts_; }
  [[nodiscard]] std::uint64_t launcher_rss_bytes() const noexcept { return launcher_rss_bytes_; }

 private:
  void take_line(std::string_view line, double now_unix_s);
  [[nodiscard]] bool take_exit(std::string_view rest, double now_unix_s);
  [[nodiscard]] SlurmTask* task_of(unsigned rank);

  std::string open_line_{};
  bool is_too_long_ = false;
  bool has_ended_ = false;
  std::uint64_t ignored_ = 0;
  std::uint64_t launcher_rss_bytes_ = 0;
  std::optional<unsigned> gpus_{};
  std::optional<unsigned> restarts_{};
  std::vector<SlurmTask> tasks_{};
  CollectedUsage usage_{};
};

}  // namespace wattle::app
