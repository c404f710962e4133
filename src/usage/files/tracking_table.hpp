// The tracking file, gpu_tracker's columns and one row per sample (CSV or SQLite), and the contents
// of a row.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usage/files/output_file.hpp"
#include "usage/gpu/gpu_monitor.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_state.hpp"

namespace wattle {

/// A cell of numbers; an empty one where it is not known.
using TrackingCell = std::optional<double>;

/// The names of the two tables' columns, in their order.
[[nodiscard]] std::string_view header_names() noexcept;
[[nodiscard]] std::string_view row_names() noexcept;
/// "1.5,,3\n". Whole numbers have no point.
[[nodiscard]] std::string csv_line(const std::vector<TrackingCell>& cells);

/// The one row of what does not change.
struct TrackingHeader {
  std::string ram_unit;
  std::string gpu_ram_unit;
  std::string time_unit;
  std::vector<TrackingCell> capacities;  ///< as in `header_names`, after the units
};

/// The first write that fails ends the writing; the rows before it stay. Threads: one at a time.
class TrackingTable {
 public:
  TrackingTable(const std::filesystem::path& path, bool overwrite)
      : file_(path, overwrite, "tracking file") {}
  TrackingTable(const TrackingTable&) = delete;
  TrackingTable& operator=(const TrackingTable&) = delete;
  virtual ~TrackingTable() = default;

  /// A file that was made goes with this object unless it is kept.
  [[nodiscard]] OutputFile& file() noexcept { return file_; }

  /// Throws away what the file held, and writes what can be written before anything is known.
  /// Throws `WriteError`.
  virtual void clear() = 0;
  // 0, or the `errno` of a failure.
  [[nodiscard]] virtual int begin(const TrackingHeader& header) = 0;
  [[nodiscard]] virtual int add(const std::vector<TrackingCell>& row) = 0;

 private:
  OutputFile file_;
};

/// SQLite where `path` ends in ".sqlite", else CSV. Throws `InvalidArgument` where the file exists
/// and `overwrite` is false, `WriteError`, and `Error` where there is no library for SQLite.
[[nodiscard]] std::unique_ptr<TrackingTable> open_tracking_table(const std::filesystem::path& path,
                                                                 bool overwrite);

struct TrackingUnits {
  std::string ram = "gigabytes";
  std::string gpu_ram = "gigabytes";
  std::string time = "seconds";
};

/// The values that do not change from row to row.
struct TrackingMachine {
  std::optional<unsigned> expected_cores{};  ///< absent: all of the machine
  std::optional<double> gpu_memory_bytes{};
  std::optional<unsigned> gpus{};
  unsigned counted_gpus = 0;
};

[[nodiscard]] TrackingHeader tracking_header(const TrackingUnits& units,
                                             const MachineUsage& machine,
                                             const TrackingMachine& known);

/// A sample, and the one before it.
struct TrackingSample {
  const TreeState& before;
  const TreeState& state;
  const MachineMonitor& machine;
  const GpuMonitor::Now& gpus;
};
[[nodiscard]] std::vector<TrackingCell> tracking_row(const TrackingUnits& units,
                                                     const TrackingMachine& known,
                                                     const TrackingSample& sample);

}  // namespace wattle
