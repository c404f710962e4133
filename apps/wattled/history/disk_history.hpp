// Keeps what the daemon reads on disk, and gives it what earlier runs read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/worker.hpp"
#include "devices/energy_history.hpp"
#include "history/chunk_folder.hpp"
#include "history/chunk_writer.hpp"
#include "history/value_collector.hpp"
#include "http/loop.hpp"
#include "http/pace.hpp"

namespace wattle::daemon {

struct DiskHistoryOptions {
  ChunkLimits limits{};
  std::uint64_t machine = 0;  ///< from its machine-id; 0: unknown
};

/// Two threads of its own read and write the files: a disk that hangs delays neither readings nor
/// answers. What is read is on its way to the disk within `kPeriod`. Threads: the loop's.
class DiskHistory {
 public:
  static constexpr std::chrono::milliseconds kPeriod{500};

  /// `history` and `loop` outlive it. Reads the chunks that are there, and gives them to `history`
  /// when that is done.
  DiskHistory(EnergyHistory& history, Loop& loop, std::shared_ptr<const ChunkFolder> folder,
              const DiskHistoryOptions& options);
  DiskHistory(const DiskHistory&) = delete;
  DiskHistory& operator=(const DiskHistory&) = delete;
  /// Writes the rest; waits for a disk, but not for long.
  ~DiskHistory();

 private:
  void load(const DiskHistoryOptions& options);
  void write();
  /// Logs that the wall clock was set back since the last call. `stored`: now.
  void note_set_back(TimePoint stored);

  EnergyHistory& history_;
  Loop& loop_;
  std::shared_ptr<const ChunkFolder> folder_;
  std::uint64_t session_;
  TimePoint started_;    ///< steady
  TimePoint written_{};  ///< the stored time of the last call of `write`
  std::shared_ptr<ChunkWriter> writer_;
  ValueCollector collector_;
  std::string unwritten_channels_;  ///< frames, of batches that were dropped
  bool drops_ = false;
  std::shared_ptr<const bool> lives_ = std::make_shared<const bool>(true);
  Worker reads_;
  Worker writes_;
  Pace pace_;
};

/// A number for the machine from `/etc/machine-id`, from which that cannot be found; 0: unknown.
[[nodiscard]] std::uint64_t machine_number();

}  // namespace wattle::daemon
