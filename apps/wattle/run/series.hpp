// --series: power and use over time, as a table of comma-separated values.
#pragma once

#include <string>

#include "run/csv_file.hpp"
#include "sampling/measured_window.hpp"
#include "usage/machine.hpp"

namespace wattle::app {

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

}  // namespace wattle::app
