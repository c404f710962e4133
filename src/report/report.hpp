// A run and its cost: plain data, filled by the command or read from a record, rendered by text.cpp
// and json.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text/text_style.hpp"
#include "report/share.hpp"
#include "sampling/domain_figure.hpp"
#include "sampling/power_course.hpp"
#include "sensors/sensor.hpp"
#include "usage/gpu/gpu_usage.hpp"
#include "wattle/domain.hpp"
#include "wattle/estimate.hpp"
#include "wattle/refusal.hpp"
#include "wattle/tracker.hpp"
#include "wattle/units.hpp"
#include "wattle/work_units.hpp"

namespace wattle {

/// How the command ended. At most one of `code` and `signal` is present; neither if it never
/// started, or its status is unknown.
struct Exit {
  bool started = false;
  std::optional<int> code;
  std::optional<int> signal;
  bool core_dumped = false;
  std::string error;  ///< why it did not start, or why its status is unknown; else empty

  [[nodiscard]] bool has_status() const noexcept { return code || signal; }
};

struct Host {
  std::string name;
  std::string boot_id;  ///< empty where it cannot be read, as is `cpu`
  std::string cpu;
  /// Absent where it is not known which there are.
  std::optional<std::vector<GpuUsage>> gpus;
};

/// A task of a step, as Slurm's step daemon waited for it. Absent is unknown.
struct SlurmTask {
  unsigned rank = 0;
  std::optional<int> code{};
  std::optional<int> signal{};  ///< at most one of both
  std::optional<Seconds> cpu_user{};
  std::optional<Seconds> cpu_system{};
  std::optional<std::uint64_t> peak_rss_bytes{};  ///< of its largest process
  std::optional<double> started_unix_s{};
  std::optional<double> ended_unix_s{};
};

/// The batch job that the run belongs to.
struct SlurmJob {
  std::string job_id;
  std::string step_id;
  std::string rank;
  std::string local_rank;
  std::optional<unsigned> gpus{};  ///< that the job has on this machine; absent: unknown
  std::optional<std::vector<SlurmTask>> tasks{};  ///< of a step on this machine; absent: no step
};

/// The place of this process in its MPI job or Slurm step; absent where it is not known.
struct Rank {
  std::optional<unsigned> rank;
  std::optional<unsigned> local_rank;  ///< among those on this machine
  std::optional<unsigned> size;
  std::optional<unsigned> local_size;
};

struct Total {
  std::optional<Joules> energy;  ///< absent where no domain that counts is known
  Joules uncertainty;            ///< k = 2
  Joules common{};               ///< the part of that which comes back (see `MeasuredEnergy`)
  Flags flags{};                 ///< of all domains in it
  std::optional<Watts> mean;     ///< the sum of the domains' means; absent where one is
  Seconds unknown{0};            ///< the longest unknown time of a domain in it
  std::vector<std::string> covers;
  std::vector<Refusal> missing;  ///< kinds: "cpu", "dram", "gpu"
};

/// True if a part of the kind is in the sum that covers these kinds: what is missing of it makes
/// the sum too small.
[[nodiscard]] bool has_part_of(const std::vector<std::string>& covers, const Refusal& missing);
/// "no DRAM", or "not all of CPU" where it has a part.
[[nodiscard]] std::string lack_of(const std::vector<std::string>& covers, const Refusal& missing);
/// True if covered kinds lack a part, so that a sum of what is there is less than what was spent.
[[nodiscard]] bool lacks_a_part(const std::vector<std::string>& covers,
                                const std::vector<Refusal>& missing);
/// The same, or a part of the time is unknown.
[[nodiscard]] bool is_lower_bound(const Total& total);

struct EnergyReport {
  std::vector<DomainFigure> domains;  ///< in the order of `Domain`
  Total total;
  /// Mean power of the total over time, for the sparkline.
  std::vector<std::optional<Watts>> profile;
  /// Power over time, for plots; empty unless a page was asked for.
  PowerCourse course{};
  /// Why no energy was measured on purpose (another rank of this machine does); else empty.
  std::string left_out;
};

/// From start to end of one phase, since the start of the run.
struct PhaseSpan {
  Seconds begin{0};
  Seconds end{0};
};

/// Everything between the marks of one name: see wattle/mark.hpp.
struct PhaseReport {
  std::string name;
  std::optional<std::size_t> parent{};  ///< its place among the phases; absent: none
  std::size_t depth = 0;                ///< parents above it
  Seconds time{0};
  std::vector<DomainFigure> domains{};  ///< of the machine; in the order of `Domain`
  Total total{};
  std::optional<Seconds> cpu{};                      ///< of the command's processes
  std::optional<std::uint64_t> peak_memory_bytes{};  ///< the same: their sum at a sample within
  std::string unknown{};                             ///< why one of these two is absent
  std::vector<PhaseSpan> spans{};                    ///< at least one
};

struct PhasesReport {
  static constexpr std::size_t kMostRows = 1000;

  std::vector<PhaseReport> rows{};  ///< parents before their children, else by their start
  std::uint64_t marks = 0;          ///< that were taken
  std::uint64_t ignored = 0;        ///< that were none, or ended what had not started
  std::uint64_t dropped = 0;        ///< phases beyond the most that are kept
  std::string unavailable{};        ///< why marks cannot be taken; else empty
};

/// The cost of the measurement itself.
struct Overhead {
  Seconds cpu{0};
  std::uint64_t samples = 0;
  std::uint64_t late = 0;  ///< reads at the interval that were skipped because time had passed
};

struct Report {
  std::vector<std::string> command;
  Exit exit;
  double started_unix_s = 0.0;
  double ended_unix_s = 0.0;
  Seconds wall{0};
  Seconds interval{0};
  Host host;
  std::optional<SlurmJob> slurm;
  std::optional<Rank> mpi;
  EnergyReport energy;
  std::optional<EnergyEstimate> estimate{};  ///< asked for, and no sensor covers the CPU
  std::optional<EnergyShare> share{};        ///< absent where nothing was measured
  ResourceUsage usage;
  PhasesReport phases;
  std::optional<UnitsReport> units{};  ///< absent where no mark started a unit of work
  std::vector<SensorRefusal> refused;
  Overhead overhead;
  std::string wattle_version{};  ///< that measured it; empty: this one
};

/// The wattle that measured the run.
[[nodiscard]] std::string version_of(const Report& report);

/// Adds up the domains that do not overlap: packages, DRAM, GPUs. `refused` gives the reasons for
/// what is missing; domains that are missing for the same reason are named together.
[[nodiscard]] Total total_of(const std::vector<DomainFigure>& domains,
                             const std::vector<SensorRefusal>& refused);

inline constexpr const char* kRunSchema = "wattle.run/2";
/// In which the `remedy` of what is refused was called `hint`. It is still read.
inline constexpr const char* kFirstRunSchema = "wattle.run/1";

/// JSON `wattle.run/2`, one line with its line end.
[[nodiscard]] std::string to_json(const Report& report);
/// Reads the JSON of `to_json`, or a foreign one: values that are missing, or of another kind, stay
/// unknown, and all texts are made printable, but for the command. The course and the profile of
/// the power are not in it.
[[nodiscard]] Report report_of(nlohmann::ordered_json json);

/// `folded`: GPUs that are alike are one row where there are many.
enum class Detail : std::uint8_t { folded, all };

/// The table of the phases, after an empty line; empty where there are none.
[[nodiscard]] std::string to_text(const PhasesReport& phases, const TextStyle& style);
/// For people: totals first.
[[nodiscard]] std::string to_text(const Report& report, const TextStyle& style,
                                  Detail detail = Detail::folded);

}  // namespace wattle
