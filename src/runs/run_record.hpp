// A run as it was recorded: the JSON `wattle.run/2`, read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/printable_text.hpp"
#include "report/report.hpp"

namespace wattle {

/// The machine of a run. Texts are empty where they are not known.
struct RecordedHost {
  PrintableText name;
  PrintableText boot_id;
  PrintableText cpu;                ///< model name
  std::vector<PrintableText> gpus;  ///< model name of each, in the order of the record

  /// True for the same machine, restarted or not: name, CPU and GPUs agree.
  [[nodiscard]] bool is_same_machine(const RecordedHost& other) const;
};

/// Energy of one domain. The name is as recorded: this machine need not have such a domain.
struct RecordedDomain {
  PrintableText name;          ///< "package_0", "nvidia_gpu_0" ...
  PrintableText device;        ///< "cpu:0" ...
  PrintableText contained_in;  ///< the domain whose energy includes this one's; empty: none
  PrintableText source;        ///< "powercap" ...
  PrintableText method;        ///< "counter", "integrated"
  PrintableText quantity;
  std::optional<Joules> energy;
  std::optional<Joules> uncertainty;  ///< k = 2; absent without energy
  std::optional<double> calibration_percent;
  std::optional<Watts> mean;
  std::optional<Watts> max;
  Seconds unknown{0};
  std::vector<PrintableText> flags;

  /// It is a part of totals: its energy is in no other domain's.
  [[nodiscard]] bool counts_in_total() const;
};

struct RecordedEnergy {
  std::optional<Joules> total;
  std::optional<Joules> uncertainty;  ///< k = 2; absent without a total
  /// The part of it that comes back (see `MeasuredEnergy`). Absent in records that are older than
  /// that: all of it may come back.
  std::optional<Joules> common;
  std::optional<Watts> mean;
  std::optional<Seconds> unknown;
  std::vector<std::string> covers;   ///< "cpu", "dram", "gpu"; printable
  std::vector<Refusal> missing;      ///< printable
  std::vector<PrintableText> flags;  ///< of all domains in the total
  PrintableText left_out;            ///< why it was not measured on purpose; else empty
  std::vector<RecordedDomain> domains;

  /// The total is less than what was spent: a part of a kind, or of the time, is unknown.
  [[nodiscard]] bool is_lower_bound() const;
};

/// A stretch of an outermost phase: those within others are not in it.
struct RecordedPhase {
  PrintableText name;
  PhaseSpan span;
};

/// Everything that a comparison, a history or a report of several runs needs of a run. Its texts
/// are foreign: they were made printable when they were read, except for the command, which
/// `shell_line` makes so. Threads: a value type.
struct RunRecord {
  PrintableText wattle_version;
  std::vector<std::string> command;
  Exit exit;
  double started_unix_s = 0.0;
  double ended_unix_s = 0.0;
  Seconds wall{0};
  Seconds interval{0};
  RecordedHost host;
  std::optional<SlurmJob> slurm;
  std::optional<Rank> mpi;
  RecordedEnergy energy;
  /// Of the command and all its descendants; absent where unknown.
  std::optional<Seconds> cpu_user;
  std::optional<Seconds> cpu_system;
  std::optional<std::uint64_t> peak_rss_bytes;  ///< of the largest single process
  std::vector<RecordedPhase> phases{};          ///< in the order of their begin
  std::optional<UnitsReport> units{};           ///< its texts are printable

  [[nodiscard]] std::optional<Seconds> cpu() const noexcept;
};

/// False for a time that no run takes, whose quotients would overflow.
[[nodiscard]] bool is_possible_time(Seconds time) noexcept;

inline constexpr const char* kRunSchema = "wattle.run/2";
/// In which the `remedy` of what is refused was called `hint`. It is still read.
inline constexpr const char* kFirstRunSchema = "wattle.run/1";

/// One record. `name`: where the text is from, for the error: "run.json", "standard input". Keys
/// that are unknown here are ignored. Throws `FormatError`, one sentence, where the text is empty,
/// cut off, no JSON, of another schema or version, or lacks what each run has.
[[nodiscard]] RunRecord parse_run_record(std::string_view json, const std::string& name);

/// The records of a file: one JSON value, or one record per line (JSON lines); at least one. Throws
/// as `parse_run_record`; the sentence names the line.
[[nodiscard]] std::vector<RunRecord> parse_run_records(std::string_view text,
                                                       const std::string& name);

}  // namespace wattle
