// The outputs that grow while a command runs: the tables of --series and --units, and the lines of
// --status.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/fd.hpp"
#include "base/numbers/known_sum.hpp"
#include "sampling/measured_window.hpp"
#include "usage/machine.hpp"
#include "usage/tree/tree_state.hpp"
#include "wattle/clock.hpp"
#include "wattle/units.hpp"
#include "wattle/work_units.hpp"

namespace wattle::app {

/// Rows are written with one system call: a run that is killed leaves whole rows. So does a pipe
/// whose reader is slow: what it does not take within 0.1 s ends the rows. After one that could not
/// be written it does nothing. Threads: one at a time.
class CsvFile {
 public:
  /// Puts a new file with the header in the place of the old one, or with `append` opens the old
  /// one, which gets no second header; throws `WriteError`. `header`: with its line end.
  CsvFile(const std::string& path, std::string_view header, bool append);

  /// Whole rows, with their line ends.
  void add(std::string_view rows);
  [[nodiscard]] bool has_failed() const noexcept { return error_ != 0; }
  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const;
  /// It had rows before, under the header of their writer.
  [[nodiscard]] bool is_continued() const noexcept { return is_continued_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  [[nodiscard]] static Fd open(const std::string& path, std::string_view header, bool append);
  void write_whole(std::string_view rows);

  std::string path_;
  Fd fd_;
  bool is_special_ = false;  ///< no regular file: a pipe, a terminal
  bool is_continued_ = false;
  int error_ = 0;
};

/// One row for each domain and interval, written when the interval ends. What is not known is an
/// empty cell. Threads: one at a time.
class SeriesFile {
 public:
  /// See `CsvFile`.
  SeriesFile(const std::string& path, bool append);

  /// The rows of the interval, or the rest of one, that ended at `now`, `elapsed` after the start.
  void add(const MeasuredWindow& window, const MachineMonitor& machine, TimePoint now,
           Seconds elapsed);

  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const { return file_.failure(); }

 private:
  CsvFile file_;
  bool has_uncertainty_ = true;  ///< false: a file of an older version goes on
};

/// A unit with the ID that its marks gave it, as a row with its line end. What is unknown is an
/// empty cell.
[[nodiscard]] std::string unit_row(const UnitEnergy& unit, const std::string& id);

/// Threads: one at a time.
class UnitRows {
 public:
  /// See `CsvFile`.
  UnitRows(const std::string& path, bool append);

  /// A unit whose energy is final.
  void add(const UnitEnergy& unit, const std::string& id);
  /// Writes what was added.
  void write();

  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const { return file_.failure(); }

 private:
  CsvFile file_;
  std::string rows_;  ///< that are not written yet
};

/// Collects what intervals show until a line is due. Threads: one at a time.
class RunStatus {
 public:
  /// `period`: between two lines, above 0.
  RunStatus(std::chrono::nanoseconds period, TimePoint begin);

  /// At the end of each interval; intervals are equally long. `power`: mean over it, absent where
  /// it is unknown. `tree`: the command's processes, null where they cannot be read. Returns a line
  /// without its end where one is due: "12.00 s: 175.0 W ±0.4 W, gap, 6.88 CPU cores in use, 345.7
  /// MB memory". Power and CPU are means since the line before. `energy`: of the interval; without
  /// it there is no ±.
  [[nodiscard]] std::optional<std::string> add(TimePoint now, std::optional<Watts> power,
                                               const TreeState* tree,
                                               const MeasuredEnergy& energy = {});

 private:
  [[nodiscard]] std::string line(TimePoint now, const TreeState* tree) const;

  std::chrono::nanoseconds period_;
  TimePoint begin_;
  TimePoint next_;
  TimePoint last_;
  std::chrono::nanoseconds last_cpu_{0};
  KnownSum<Watts> sum_;  ///< of the intervals' means
  UncertaintySum errors_;
  Flags flags_;
  bool has_errors_ = true;  ///< of all intervals
  int intervals_ = 0;
};

}  // namespace wattle::app
