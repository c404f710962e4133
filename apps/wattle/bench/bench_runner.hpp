// Starts the commands of a benchmark: measured, or not (preparations); and the conditions of the
// machine that make its figures worse.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "bench/bench_plan.hpp"
#include "report/report.hpp"
#include "run/job.hpp"
#include "run/launcher.hpp"
#include "run/measured_run.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// Observes the machine from its construction on. Threads: one.
class BenchConditions {
 public:
  explicit BenchConditions(const System& system);

  /// Sentences: the governor of CPU frequencies, throttling since the start, another benchmark.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  System system_;
  std::string governor_;            ///< empty: not known
  std::uint64_t throttled_before_;  ///< events of all CPUs
  Fd place_;                        ///< held by one benchmark of the machine at a time
  bool is_alone_ = true;
};

/// Somebody wants the benchmark to end: a signal has come.
struct Interrupted {
  int signal = 0;
};

/// A command that could not be executed, or a preparation that failed: what() is a sentence.
class BenchFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Takes the signals INT, TERM and HUP until the end of the process; the commands get them as this
/// process got them. Threads: one at a time.
class BenchRunner {
 public:
  /// Surveys the machine, with the privileges. `keeps_power`: over time, in the reports. Throws
  /// `Error`.
  BenchRunner(const BenchOptions& options, bool keeps_power);

  /// Throws `BenchFailed` where the command cannot be executed, and `Interrupted`.
  [[nodiscard]] Report measured(const std::string& command);
  /// Runs `command` unless it is empty. `role`: "preparation". Throws `BenchFailed` where it fails,
  /// and `Interrupted`.
  void unmeasured(const std::string& command, const char* role);
  /// Leaves the machine idle for the pause of the options. Throws `Interrupted`.
  void pause();

  /// The report of a run of nothing: host, what cannot be read.
  [[nodiscard]] const Report& base() const noexcept { return base_; }

 private:
  struct Streams;
  void check_signals();
  [[nodiscard]] Streams open_streams() const;

  const BenchOptions& options_;
  bool keeps_power_;
  RunOptions run_options_;
  InheritedSignals inherited_;
  Fd end_;
  Report base_;
  std::vector<std::shared_ptr<Sensor>> sensors_;
  ObservedGpus gpus_;
};

}  // namespace wattle::app
