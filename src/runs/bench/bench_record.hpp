// A benchmark and its results: `wattle bench`, and its JSON, `wattle.bench/1`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/text_style.hpp"
#include "report/report.hpp"
#include "runs/run_cost.hpp"
#include "wattle/estimate.hpp"

namespace wattle {

/// One command of a benchmark, with all runs that ended.
struct BenchCommand {
  std::string name;     ///< what `--command-name` gives it; else the command
  std::string command;  ///< as it was written, parameters filled in
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<RunCost> runs;  ///< in the order of time
  /// Mean of its runs, if it was asked for and no sensor covers the CPU. Never compared.
  std::optional<EnergyEstimate> estimate{};
};

/// Threads: a value type.
struct BenchRecord {
  std::string wattle_version;
  double started_unix_s = 0.0;
  double ended_unix_s = 0.0;
  Host host;
  bool is_interleaved = false;  ///< the commands took turns, in an order by chance in each round
  std::uint64_t seed = 0;       ///< of that order
  std::string shell;            ///< empty: the commands were started without one
  std::size_t warmup = 0;
  std::size_t reference = 0;  ///< index of the command that the others are compared with
  bool is_interrupted = false;
  std::vector<BenchCommand> commands;
  std::vector<std::string> energy_covers;  ///< "cpu", "dram", "gpu"
  std::vector<Refusal> energy_missing;     ///< why a kind is not in the energy
  std::vector<std::string> warnings;       ///< sentences: what may make the figures worse
};

inline constexpr const char* kBenchSchema = "wattle.bench/1";

/// `mark_missing_domains` for the runs of all commands.
void mark_missing_domains(BenchRecord& bench);

/// One line with its line end.
[[nodiscard]] std::string to_json(const BenchRecord& bench);
/// Throws `FormatError` as `parse_run_record` (run_record.hpp).
[[nodiscard]] BenchRecord parse_bench_record(std::string_view text, const std::string& name);

/// One row per command, with a header: CSV (RFC 4180, SI units), and tables for documents.
[[nodiscard]] std::string to_csv(const BenchRecord& bench);
[[nodiscard]] std::string to_markdown(const BenchRecord& bench);
[[nodiscard]] std::string to_asciidoc(const BenchRecord& bench);
[[nodiscard]] std::string to_orgmode(const BenchRecord& bench);

/// For people: what each command cost.
[[nodiscard]] std::string to_text(const BenchCommand& command, const TextStyle& style);
/// Why energy is missing, warnings, and each command compared with the reference.
[[nodiscard]] std::string summary_text(const BenchRecord& bench, const TextStyle& style);

/// Signs in the runs that the figures may be worse: outliers, a slow first run, drift, other load.
/// Sentences.
[[nodiscard]] std::vector<std::string> warnings_of(const BenchCommand& command);

}  // namespace wattle
