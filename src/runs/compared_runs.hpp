// Runs from files, and what those of one command cost beside those of another, also as JSON, which
// is the same in every schema.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text_style.hpp"
#include "report/report.hpp"
#include "runs/run_cost.hpp"

namespace wattle {

/// Runs of one command on one machine, or on the nodes of jobs.
struct RunsOfCommand {
  std::string name;  ///< of a benchmark's command, or the command line
  Host host;
  std::vector<RunCost> runs;
  bool are_jobs = false;  ///< at least one is a job of several ranks

  /// The number of failed runs: exit status not 0, killed, or unknown.
  [[nodiscard]] std::size_t failed() const;
};

/// A text that is compared: a file's, or what a history found.
struct RunSource {
  std::string name;  ///< for sentences: "before.json"
  std::vector<RunsOfCommand> commands;
  std::vector<std::string> notes{};  ///< on runs that are jobs: sentences
};

/// Groups runs by command; a job of several ranks is one run (compared_jobs.hpp). Throws `Error`
/// where they are of several machines, or of jobs on nodes of other models.
[[nodiscard]] RunSource source_of(const std::vector<Report>& records, const std::string& name);
/// Records of runs, also as `wattle history export` writes them (one, or JSON lines), or the file
/// of a benchmark. Throws `Error`, one sentence.
[[nodiscard]] RunSource read_source(std::string_view text, const std::string& name);

/// The same command in both, or the only one of each.
struct ComparedRuns {
  RunsOfCommand a;
  RunsOfCommand b;
  std::vector<Comparison> comparisons;  ///< those that have a ratio
};

/// `ignores_machines`: runs of different machines are compared too. Throws `Error` where nothing
/// can be compared, with the reason.
[[nodiscard]] std::vector<ComparedRuns> compare_sources(const RunSource& a, const RunSource& b,
                                                        bool ignores_machines);

/// The names of the two sides: "before.json", or "before.json (make)" with several commands.
struct ComparedNames {
  std::string a;
  std::string b;
};
[[nodiscard]] ComparedNames names_of(const RunSource& a, const RunSource& b,
                                     const ComparedRuns& pair, bool is_one);
/// A cost, then mean and standard deviation of either side.
[[nodiscard]] std::vector<std::string> compared_cells(Cost cost, const ComparedRuns& pair);
/// Those costs that have a sentence, which `sentence_of` makes.
[[nodiscard]] bool has_sentence(Cost cost) noexcept;

/// Remarks on the figures: sentences.
[[nodiscard]] std::vector<std::string> notes_on(const RunSource& a, const RunSource& b,
                                                const std::vector<ComparedRuns>& all);

/// `wattle.compare/1`, one line with its line end.
[[nodiscard]] std::string to_json(const RunSource& a, const RunSource& b,
                                  const std::vector<ComparedRuns>& all);
/// For people. `asked`: has a sentence, too.
[[nodiscard]] std::string to_text(const RunSource& a, const RunSource& b,
                                  const std::vector<ComparedRuns>& all, const TextStyle& style,
                                  Cost asked = Cost::energy);

/// Requires a ratio.
[[nodiscard]] nlohmann::ordered_json comparison_json(const Comparison& comparison,
                                                     const std::string& reference,
                                                     const std::string& command);

}  // namespace wattle
