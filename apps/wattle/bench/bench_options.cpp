#include "bench/bench_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kBenchFooter = R"(
Runs each command many times, measures each run as wattle run does, and compares the commands with the
first one, or with --reference. Options have the names that they have in hyperfine, whose --sort,
--time-unit (-u) and --style are missing. The runs of all commands take turns, in
a random order in each round; --sequential runs one command after the other. Results go to stdout,
progress and warnings to stderr. In commands, {VAR} is the value of a parameter.
--save keeps each run that counts in the history, with the tag bench=ID, with a tag for each parameter, and
with the tag name if --command-name gives one; all are saved after the last run.
Exit status: 0, 1 if a command fails, 64 for a wrong option, 125 if a result cannot be written. After
Ctrl-C the results so far are printed.

examples:
  wattle bench 'sleep 0.1' 'sleep 0.2'
  wattle bench --warmup 3 -N 'gzip -k -f data' 'xz -k -f data'
  wattle bench -L threads 1,2,4 'make -j{threads}' --prepare 'make clean'
)";

/// The options as they are written.
struct RawBench {
  BenchOptions bench;
  ParsedOptions values;
  std::optional<std::size_t> runs;
  std::optional<std::size_t> min_runs;
  std::string step_size;
  std::string ignored;
  bool no_shell = false;
  bool shows_output = false;
  RawSaveOptions save;
  std::vector<std::pair<std::string, std::string>> lists;
  std::vector<std::tuple<std::string, std::string, std::string>> scans;
  RawRoots roots;

  void add(CLI::App& command);
  [[nodiscard]] BenchOptions checked(const CommandLine& line) const;
};

auto count_from(std::size_t least) {
  constexpr std::size_t kMost = 1'000'000;
  return number_within(least, kMost, fmt::format("a whole number from {} to {}", least, kMost));
}

void check_name(const std::string& name, const std::vector<BenchParameter>& parameters) {
  if (name.empty() || name.find_first_of("{}") != std::string::npos) {
    throw InvalidArgument(
        fmt::format("a parameter needs a name without braces, not '{}'", printable(name)));
  }
  if (std::ranges::count(parameters, name, &BenchParameter::name) > 0) {
    throw InvalidArgument(fmt::format("the parameter '{}' is given twice", printable(name)));
  }
}

void read_parameters(const RawBench& raw, BenchOptions& bench) {
  for (const auto& [name, least, most] : raw.scans) {
    check_name(name, bench.parameters);
    bench.parameters.push_back(
        {name, scanned_values(least, most, raw.step_size.empty() ? "1" : raw.step_size)});
  }
  if (!raw.step_size.empty() && raw.scans.empty()) {
    throw InvalidArgument("--parameter-step-size needs --parameter-scan");
  }
  for (const auto& [name, list] : raw.lists) {
    check_name(name, bench.parameters);
    bench.parameters.push_back({name, parameter_values(list)});
  }
}

void read_runs(const RawBench& raw, BenchOptions& bench) {
  if (raw.min_runs) bench.min_runs = *raw.min_runs;
  if (raw.min_runs && bench.max_runs && *bench.max_runs < bench.min_runs) {
    throw InvalidArgument("--max-runs is less than --min-runs");
  }
  if (raw.runs) bench.min_runs = *raw.runs;
  if (raw.runs) bench.max_runs = *raw.runs;
}

void add_hooks(CLI::App& bench, BenchOptions& options) {
  const auto add = [&](const char* name, auto& into, const char* help) {
    return bench.add_option(name, into, help)->type_name("CMD");
  };
  add("-s,--setup", options.setup, "Run CMD before the first run of each command");
  add("-p,--prepare", options.prepare,
      "Run CMD before each run; once for all commands, or once for each")
      ->allow_extra_args(false);
  add("-C,--conclude", options.conclude, "Run CMD after each run; as --prepare")
      ->allow_extra_args(false);
  add("-c,--cleanup", options.cleanup,
      "Run CMD after the last run of each command, also if a run fails or is interrupted");
  add("--reference", options.reference, "Compare with CMD; it is run too");
}

void add_parameters(CLI::App& bench, RawBench& raw) {
  bench
      .add_option("-L,--parameter-list", raw.lists,
                  "Run with each of the comma-separated VALUES for {VAR}; several make all "
                  "combinations")
      ->type_name("VAR VALUES")
      ->allow_extra_args(false);
  bench.add_option("-P,--parameter-scan", raw.scans, "Run with each number from MIN to MAX")
      ->type_name("VAR MIN MAX")
      ->allow_extra_args(false);
  add_value(bench, "-D,--parameter-step-size", raw.step_size, "DELTA", "Step of --parameter-scan")
      ->default_str("1");
}

void add_numbers(CLI::App& bench, RawBench& raw) {
  BenchOptions& to = raw.bench;
  constexpr double kLongestS = 1e6;
  constexpr std::uint64_t kMostSeed = std::numeric_limits<std::uint64_t>::max();
  raw.values.add(bench, "-w,--warmup", to.warmup, "NUM",
                 "Runs of each command before those that count", count_from(0), "0");
  CLI::Option* runs =
      raw.values.add(bench, "-r,--runs", raw.runs, "NUM", "Runs of each command", count_from(1));
  raw.values
      .add(bench, "-m,--min-runs", raw.min_runs, "NUM",
           "Runs at least; more until 3 s of each command", count_from(1))
      ->default_str("10")
      ->excludes(runs);
  raw.values.add(bench, "-M,--max-runs", to.max_runs, "NUM", "Runs at most", count_from(1))
      ->excludes(runs);
  raw.values.add(bench, "--time-limit", to.time_limit, "SECONDS", "Start no round after SECONDS",
                 seconds_within(0.001, kLongestS));
  raw.values.add(bench, "--pause", to.pause, "SECONDS", "Leave the machine idle before each run",
                 seconds_within(0.0, 3600.0), "0");
  raw.values.add(bench, "--interval", to.interval, "SECONDS", "Seconds between two readings",
                 parse_interval, "0.1");
  raw.values.add(bench, "--seed", to.seed, "NUM", "Seed of the order of the runs (default: random)",
                 number_within(std::uint64_t{0}, kMostSeed, "a whole number from 0"));
}

void add_exports(CLI::App& bench, BenchOptions& options) {
  const auto add = [&](const char* name, std::string& into, const char* help) {
    add_value(bench, name, into, "FILE", help);
  };
  add("--export-json", options.json_path, "Write the results with all runs to FILE as JSON");
  add("--export-csv", options.csv_path, "Write one row per command to FILE as CSV");
  add("--export-markdown", options.markdown_path, "Write a Markdown table to FILE");
  add("--export-asciidoc", options.asciidoc_path, "Write an AsciiDoc table to FILE");
  add("--export-orgmode", options.orgmode_path, "Write an Org-mode table to FILE");
  add_html(bench, options.html_path);
}

void RawBench::add(CLI::App& command) {
  command.footer(kBenchFooter);
  command.add_option("CMD", bench.commands, "Commands, each as one word")->type_name("");
  add_numbers(command, *this);
  add_hooks(command, bench);
  add_parameters(command, *this);
  command.add_option("-n,--command-name", bench.names, "Name of a command; once for each")
      ->type_name("NAME")
      ->allow_extra_args(false);
  CLI::Option* shell = add_value(command, "-S,--shell", bench.shell, "SHELL",
                                 "Shell for all commands; none: without one");
  command.add_flag("-N", no_shell, "As --shell none, for commands of a few ms")->excludes(shell);
  command.add_flag("-i,--ignore-failure", ignored,
                   "Go on if a command fails; =1,2: if its exit status is one of these");
  add_estimate(command, bench.estimate);
  command.add_flag("--sequential", bench.is_sequential,
                   "Run one command after the other, not in turns");
  add_value(command, "--input", bench.input, "WHERE", "Stdin of the commands: null, or FILE");
  CLI::Option* output = add_value(command, "--output", bench.output, "WHERE",
                                  "Stdout of the commands: null, pipe, inherit, or FILE");
  command.add_flag("--show-output", shows_output, "As --output inherit")->excludes(output);
  add_value(command, "--gpus", bench.gpus, "LIST", "GPUs to measure; as wattle run");
  add_exports(command, bench);
  add_save(command, save, "each run");
  add_roots(command, roots);
}

BenchOptions RawBench::checked(const CommandLine& /*line*/) const {
  BenchOptions options = bench;
  options.system = system_of(roots);
  if (options.commands.empty()) throw InvalidArgument("no command given: wattle bench CMD...");
  const auto is_blank = [](const std::string& command) {
    return command.find_first_not_of(" \t\r\n") == std::string::npos;
  };
  if (std::ranges::any_of(options.commands, is_blank)) {
    throw InvalidArgument("a command is empty: give each command as one word, in quotes");
  }
  if (no_shell) options.shell = "none";
  if (shows_output) options.output = "inherit";
  options.saving = checked_save(save);
  options.ignored = parse_ignored_failures(ignored);
  // The commands' output is no result, but would be replaced by one.
  std::set<std::string> paths = {options.output};
  for (const std::string& path : result_paths(options)) {
    const bool is_file = !path.empty() && !path.starts_with("/dev/");
    if (is_file && !paths.insert(path).second) {
      throw InvalidArgument("two outputs cannot go to one file, " + printable(path));
    }
  }
  read_runs(*this, options);
  read_parameters(*this, options);
  // A command that cannot run is refused before any command runs.
  for (const PlannedCommand& command : plan_of(options).commands) {
    (void)words_of(command.command, options.shell);
  }
  return options;
}

}  // namespace

std::array<std::string, 6> result_paths(const BenchOptions& options) {
  return {options.json_path,     options.csv_path,     options.markdown_path,
          options.asciidoc_path, options.orgmode_path, options.html_path};
}

extern constinit const Subcommand kBenchSubcommand = {
    .name = "bench",
    .group = HelpGroup::compare,
    .summary = "Run commands many times and compare what they cost",
    .arguments = " CMD...",
    .add = add_options<RawBench>,
    .run = execute_with<BenchOptions>,
    .opens_counters = always};

}  // namespace wattle::app
