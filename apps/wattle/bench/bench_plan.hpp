// The commands of a benchmark, and their order: pure functions of the options.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "history/save_run.hpp"
#include "runs/ignored_failures.hpp"
#include "wattle/system.hpp"

namespace wattle::app {

/// A parameter and its values, in their order.
struct BenchParameter {
  std::string name;
  std::vector<std::string> values;
};

/// `wattle bench`.
struct BenchOptions {
  System system;
  std::vector<std::string> commands;  ///< at least one, none empty
  std::vector<std::string> names;     ///< empty, or one for each command before parameters
  std::vector<BenchParameter> parameters;
  std::string reference;             ///< empty: the first command
  std::string setup;                 ///< empty: none, as the next three
  std::vector<std::string> prepare;  ///< one for all commands, or one for each
  std::vector<std::string> conclude;
  std::string cleanup;
  std::string shell = "/bin/sh";  ///< with its options; "none": commands are cut into words
  std::string input = "null";     ///< or a file
  std::string output = "null";    ///< "pipe", "inherit", or a file
  std::size_t warmup = 0;
  std::size_t min_runs = 10;
  std::optional<std::size_t> max_runs{};
  std::optional<std::chrono::nanoseconds> time_limit{};
  std::chrono::nanoseconds pause{0};  ///< before each run
  std::chrono::nanoseconds interval{0};
  std::string gpus = "all";
  bool is_sequential = false;
  IgnoredFailures ignored{};
  bool estimate = false;                ///< a range where no sensor covers the CPU
  std::optional<std::uint64_t> seed{};  ///< absent: by chance
  SaveOptions saving{};
  /// Paths; empty: none.
  std::string json_path;
  std::string csv_path;
  std::string markdown_path;
  std::string asciidoc_path;
  std::string orgmode_path;
  std::string html_path;  ///< "-": stdout, and the text goes to stderr
};

/// One command with the values of the parameters in it, and what belongs to it. Texts that are
/// empty are not run.
struct PlannedCommand {
  std::string name;  ///< equal ones have got parameters or a number
  std::string command;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string setup;
  std::string prepare;
  std::string conclude;
  std::string cleanup;
};

struct BenchPlan {
  std::vector<PlannedCommand> commands;
  std::size_t reference = 0;  ///< index
};

/// Every command with every combination of the parameters. Throws `InvalidArgument` where the
/// numbers of names or of preparations do not fit, or there are too many combinations.
[[nodiscard]] BenchPlan plan_of(const BenchOptions& options);

/// "1,2,3": the parts between commas; "\," is a comma and "\\" a backslash.
[[nodiscard]] std::vector<std::string> parameter_values(std::string_view list);
/// From `least` to `most` in steps, with as many decimals as were written: "0.5", "1.0". Throws
/// `InvalidArgument` where one is no number, the step leads away, or there are too many.
[[nodiscard]] std::vector<std::string> scanned_values(const std::string& least,
                                                      const std::string& most,
                                                      const std::string& step);

/// The numbers from 0 to below `count` in an order by chance, the same for the same seed and round.
[[nodiscard]] std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed,
                                                      std::size_t round);

/// How many rounds to run, once the first has shown how long a round takes: enough for 3 s of each
/// command, within the limits of the options.
[[nodiscard]] std::size_t rounds_of(const BenchOptions& options, std::chrono::nanoseconds shortest);

/// The words to execute: a shell with the command, or the command's own. Throws `InvalidArgument`
/// where it cannot be cut into words.
[[nodiscard]] std::vector<std::string> words_of(const std::string& command,
                                                const std::string& shell);

}  // namespace wattle::app
