// --series: power and use over time, as a table of comma-separated values.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "sampling/sampler.hpp"
#include "usage/machine.hpp"

namespace wattle::app {

/// One row for each domain and interval, written with one system call when the interval ends: a run
/// that is killed leaves whole rows. What is not known is an empty cell.
/// Threads: one at a time.
class Series {
 public:
  /// Opens the file and writes the header; throws `WriteError`. With `append`, a file that has
  /// something in it gets no second header.
  Series(const std::string& path, bool append);

  /// The rows of the interval that ended at `now`, `elapsed` after the run's begin. After a row
  /// that could not be written it does nothing.
  void add(const Sampler& sampler, const MachineMonitor& machine, TimePoint now, Seconds elapsed);

  [[nodiscard]] const Fd& fd() const noexcept { return fd_; }
  /// Why a row could not be written; empty where all were.
  [[nodiscard]] std::string failure() const;

 private:
  void write(const std::string& text);

  std::string path_;
  Fd fd_;
  int error_ = 0;
};

}  // namespace wattle::app
