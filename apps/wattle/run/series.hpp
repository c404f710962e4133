// --series: power and use over time, as a table of comma-separated values.
#pragma once

#include <string>

#include "base/files/fd.hpp"
#include "sampling/measured_window.hpp"
#include "usage/machine.hpp"

namespace wattle::app {

/// One row for each domain and interval, written with one system call when the interval ends: a run
/// that is killed leaves whole rows. What is not known is an empty cell.
/// Threads: one at a time.
class Series {
 public:
  /// Puts a new file with the header in the place of the old one, or with `append` opens the old
  /// one, which gets no second header; throws `WriteError`.
  Series(const std::string& path, bool append);

  /// The rows of the interval, or the rest of one, that ended at `now`, `elapsed` after the start.
  /// After a row that could not be written it does nothing.
  void add(const MeasuredWindow& window, const MachineMonitor& machine, TimePoint now,
           Seconds elapsed);

  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const;

 private:
  [[nodiscard]] static Fd open(const std::string& path, bool append);
  void write(const std::string& text);

  std::string path_;
  Fd fd_;
  bool has_uncertainty_ = true;  ///< false: a file of an older version goes on
  int error_ = 0;
};

}  // namespace wattle::app
