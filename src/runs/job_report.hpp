// Many runs as one: the ranks and nodes of a job, with nothing counted twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/printable_text.hpp"
#include "base/text/text_style.hpp"
#include "report/report.hpp"
#include "sampling/power_course.hpp"

namespace wattle {

/// A run, and where its record is from: "run-3.json", "k3m9x2qa".
struct NamedRecord {
  std::string name;
  Report record;  ///< with the course of the power, if that was saved
};

/// One run of a report.
struct ReportedRun {
  std::string name;
  std::string host;
  std::optional<unsigned> rank{};
  std::optional<Joules> energy{};       ///< of the machine, as recorded
  std::optional<Joules> uncertainty{};  ///< k = 2; absent without energy
  Flags flags{};                        ///< of that energy
  bool is_counted = false;              ///< its energy is part of the report's
  std::optional<PowerCourse> power{};   ///< over time, if it was saved and is counted
  PhasesReport phases{};                ///< of that time; empty without power
};

/// Units of work of one tag, or of one phase of them, in all runs whose energy is counted.
struct ReportedUnits {
  PrintableText tag;
  PrintableText phase;        ///< empty: the units as a whole
  std::uint64_t count = 0;    ///< with a known energy
  std::uint64_t unknown = 0;  ///< without; in no figure
  Joules sum{};               ///< of their shares
  double work = 0.0;
  /// Sum over number, and sum over work. Runs share what their sensors do wrong, so the distances
  /// of the bounds are means of those of the runs: never too narrow. Absent where a run has none.
  std::optional<EnergyInterval> mean{};
  std::optional<EnergyInterval> per_work{};
};

/// A machine.
struct NodeReport {
  PrintableText name;
  std::size_t runs = 0;
  std::optional<Joules> energy{};     ///< absent where none was measured
  Joules uncertainty{};               ///< k = 2, of the sampling
  Joules common{};                    ///< of that, what comes back (see `MeasuredEnergy`)
  Joules unseen{};                    ///< the most that counters did not show (see `RunSum`)
  Seconds measured{0};                ///< time whose energy is in it
  Seconds unmeasured{0};              ///< time in which a run went on, but no energy was measured
  Seconds unknown{0};                 ///< within the measured time, by the records
  std::vector<std::string> covers{};  ///< "cpu", "dram", "gpu"
  Flags flags{};                      ///< of all energies in it
  std::vector<Refusal> missing{};
  std::string no_energy{};  ///< why `energy` is absent; else empty
  /// It was observed of all counters in the energy how often they are renewed; else that is what is
  /// published. Absent where it is from no counter.
  std::optional<bool> updates_are_observed{};

  /// The energy is less than what was spent, or absent.
  [[nodiscard]] bool is_lower_bound() const;
};

/// All runs of one job, or all runs that belong to none.
struct JobReport {
  PrintableText job;  ///< empty: none
  std::vector<ReportedRun> runs{};
  std::vector<NodeReport> nodes{};     ///< by name
  std::vector<ReportedUnits> units{};  ///< in the order of the runs
  std::optional<unsigned> size{};      ///< ranks that the job has; absent: unknown
  std::vector<unsigned> missing_ranks{};
  double started_unix_s = 0.0;
  double ended_unix_s = 0.0;
  std::optional<Joules> energy{};  ///< of all nodes that have one
  Joules uncertainty{};            ///< k = 2, of the sampling
  Joules common{};                 ///< of that, what comes back (see `MeasuredEnergy`)
  /// The sensors' own error: a sum over sensors of one source and CPU model, the root of the sum of
  /// squares over these. Absent where one is unknown.
  std::optional<Joules> calibration{};
  std::optional<Seconds> cpu{};                   ///< of all runs; absent where one is unknown
  std::optional<Seconds> cpu_user{};              ///< the same, in user mode
  std::optional<Seconds> cpu_system{};            ///< and in the kernel
  std::optional<std::uint64_t> peak_rss_bytes{};  ///< of the largest process
  /// The GPUs that Slurm gave to the job times the time in which it ran; absent where no record has
  /// GPUs.
  std::optional<Seconds> gpu_time{};
  std::vector<std::string> notes{};  ///< what was left out, and why: sentences
};

/// One report for each job, in the order of their IDs; those without a job last. A record that is
/// given twice counts once. Of runs that overlap in time on one machine, those count which together
/// cover the longest time without overlapping.
[[nodiscard]] std::vector<JobReport> job_reports(const std::vector<NamedRecord>& records);

/// For people.
[[nodiscard]] std::string to_text(const std::vector<JobReport>& reports, const TextStyle& style);
/// One line for each: "job 77: 1.840 MJ ±0.020 MJ, 3.2 GPU-hours".
[[nodiscard]] std::string to_brief_text(const std::vector<JobReport>& reports);
/// `wattle.report/1`, one line with its end.
[[nodiscard]] std::string to_json(const std::vector<JobReport>& reports);

}  // namespace wattle
