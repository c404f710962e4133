// Where traces go: to the terminal, into a CSV file, into a table, or wherever you like.
//
// They write energies in microjoules, rounded to a thousandth of one, as pyJoules does. Numbers are
// as Python's repr writes them: the shortest that read back the same, ".0" on whole ones. Energies
// of NVIDIA GPUs (domains "nvidia_gpu_...") are integers. Tables have joules.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "wattle/energy_trace.hpp"
#include "wattle/export.hpp"

namespace wattle {

/// The details that are written of a sample. Threads: a value type.
struct SampleDetails {
  /// False, as pyJoules: numbers alone. A lower bound (a restarted counter, a lost sensor: see
  /// `EnergySample::is_complete`) has no place there. It is left out like an unknown energy, and
  /// logged. True: every number, and beside it its uncertainty in micro-joules (k = 2), the seconds
  /// that are not known, and its flags.
  bool details = false;
};

/// Takes finished traces. Derive from it for a destination of your own.
/// Threads: several meters, in several threads, may share a handler; those of this library allow
/// it.
class WATTLE_EXPORT EnergyHandler {
 public:
  virtual ~EnergyHandler();
  virtual void process(const EnergyTrace& trace) = 0;
};

/// Prints each sample as it comes, one line each, nothing kept:
///
///   begin timestamp : 1669000000.1; tag : a; duration : 0.5; package_0 : 123456.0
///
/// An unknown energy is `None`, and so is a lower bound. With details each energy is followed by
/// ` (+- 61.0, unknown 0.5 s, reset)`. In a tag, control characters and bytes that are not UTF-8
/// are printed as \\xHH: it cannot move a terminal's cursor. However long, it is printed whole.
/// Threads: any; the lines of a trace stay together.
class WATTLE_EXPORT PrintHandler final : public EnergyHandler {
 public:
  /// To standard output, as `printf` does.
  explicit PrintHandler(SampleDetails details = {});
  /// `out` outlives the handler, which alone uses it until then.
  explicit PrintHandler(std::ostream& out, SampleDetails details = {});
  ~PrintHandler() override;
  /// Throws `WriteError` where the lines could not be written.
  void process(const EnergyTrace& trace) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Keeps traces until they are saved, as rows of a CSV file that is appended to:
///
///   timestamp;tag;duration;package_0;dram_0
///
/// An unknown energy is an empty cell, and so is a lower bound. With details each domain has three
/// cells more: `package_0_uncertainty;package_0_unknown_s;package_0_flags`. A tag that holds a
/// separator, a quote or a line end is quoted (RFC 4180); its bytes are not changed. Destroyed with
/// samples that were not saved, it reports that to the log (`set_log`). Threads: any; `process`
/// does not wait for a `save_data`.
class WATTLE_EXPORT CsvHandler final : public EnergyHandler {
 public:
  /// Nothing is opened or written before `save_data`.
  explicit CsvHandler(std::filesystem::path path, SampleDetails details = {});
  ~CsvHandler() override;
  void process(const EnergyTrace& trace) override;

  /// Appends all samples, below a header where the file is new or empty, and forgets them. Others
  /// may append to the same file by a handler, in this process or in another. A last line that was
  /// cut off (by a crash) is ended first: it stays as it is, and the new rows are whole.
  ///
  /// If it throws, it keeps the samples and leaves the file as it was (a new one empty). Throws
  /// `NoSampleProcessed`; `InconsistentSamples` if not all have the same domains in the same order.
  /// Throws `FormatError` if the file starts with another header; `WriteError` if it cannot be
  /// written.
  void save_data();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One column of a table; as many values as the table has rows. Threads: a value type.
struct EnergyColumn {
  std::string domain;
  std::vector<MeasuredEnergy> energies;
  friend bool operator==(const EnergyColumn&, const EnergyColumn&) = default;
};

/// Samples as columns, ready for a data frame. Threads: a value type.
struct EnergyTable {
  std::vector<TimePoint> timestamps;
  std::vector<std::string> tags;
  std::vector<Seconds> durations;
  std::vector<EnergyColumn> domains;

  [[nodiscard]] std::size_t rows() const noexcept { return tags.size(); }
  friend bool operator==(const EnergyTable&, const EnergyTable&) = default;
};

/// A trace as a table; an empty one gives an empty table. Throws `InconsistentSamples`.
[[nodiscard]] WATTLE_EXPORT EnergyTable to_table(const EnergyTrace& trace);

/// Keeps all traces, and gives them as one table. Threads: any.
class WATTLE_EXPORT TableHandler final : public EnergyHandler {
 public:
  TableHandler();
  ~TableHandler() override;
  void process(const EnergyTrace& trace) override;
  /// All samples so far, which stay. Throws `NoSampleProcessed` where there are none,
  /// `InconsistentSamples` where not all have the same domains in the same order.
  [[nodiscard]] EnergyTable table() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wattle
