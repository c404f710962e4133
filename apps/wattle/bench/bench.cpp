// `wattle bench`: prepare, run, conclude, in rounds; then say what each command costs.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "base/anchor.hpp"
#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/text/text.hpp"
#include "bench/bench_options.hpp"
#include "bench/bench_runner.hpp"
#include "cli/answer.hpp"
#include "cli/ending.hpp"
#include "estimate/energy_estimate.hpp"
#include "history/save_run.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "runs/bench/bench_record.hpp"
#include "runs/history/saved_run_json.hpp"
#include "runs/html/result_pages.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// A result that goes to a file: opened before anything runs, since a bad path is better known
/// then.
struct Export {
  std::optional<Output> output;
  std::string (*text)(const BenchRecord&);
};

std::vector<Export> open_exports(const BenchOptions& options) {
  const auto opened = [](const std::string& path) {
    return path.empty() ? std::nullopt : std::optional(Output::open(path, false));
  };
  std::vector<Export> exports;
  exports.push_back({opened(options.json_path), to_json});
  exports.push_back({opened(options.csv_path), to_csv});
  exports.push_back({opened(options.markdown_path), to_markdown});
  exports.push_back({opened(options.asciidoc_path), to_asciidoc});
  exports.push_back({opened(options.orgmode_path), to_orgmode});
  exports.push_back({opened(options.html_path), [](const BenchRecord& record) {
                       return html::to_html(html::page_of(record));
                     }});
  return exports;
}

class Bench {
 public:
  Bench(const BenchOptions& options, const RunSaver& saver)
      : options_(options),
        saver_(saver),
        plan_(plan_of(options)),
        conditions_(options.system),
        runner_(options, saver.is_wanted()),
        progress_("wattle bench"),
        began_(machine_clock().now()) {
    record_.started_unix_s = to_unix(began_);
    record_.host = runner_.base().host;
    record_.is_interleaved = !options.is_sequential && plan_.commands.size() > 1;
    record_.seed = options.seed ? *options.seed : std::random_device{}();
    record_.shell = options.shell == "none" ? "" : options.shell;
    record_.warmup = options.warmup;
    record_.reference = plan_.reference;
    for (const PlannedCommand& command : plan_.commands) {
      record_.commands.push_back({command.name, command.command, command.parameters, {}});
    }
    estimates_.resize(record_.commands.size());
  }

  /// Throws `BenchFailed` and `Interrupted`; what was measured until then is in the record.
  void run() {
    std::vector<std::size_t> all(plan_.commands.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    groups_left_ = record_.is_interleaved ? 1 : all.size();
    if (record_.is_interleaved) return run_group(all);
    for (const std::size_t one : all) run_group({one});
  }

  /// The record with what is known at the end.
  BenchRecord end() {
    progress_.clear();
    record_.ended_unix_s = to_unix(machine_clock().now());
    record_.is_interrupted = groups_left_ > 0;
    record_.warnings = conditions_.warnings();
    mark_missing_domains(record_);
    for (std::size_t i = 0; i < estimates_.size(); ++i) {
      record_.commands[i].estimate = mean_of(estimates_[i]);
    }
    for (const BenchCommand& command : record_.commands) {
      if (command.runs.empty()) continue;
      const auto failed =
          std::ranges::count_if(command.runs, [](const RunCost& run) { return run.code != 0; });
      if (failed > 0) {
        record_.warnings.push_back(fmt::format("{}: {} of {} runs failed, and are in the figures",
                                               printable(command.name), failed,
                                               command.runs.size()));
      }
      const std::vector<std::string> warnings = warnings_of(command);
      record_.warnings.insert(record_.warnings.end(), warnings.begin(), warnings.end());
    }
    if (still_running_ > 0) {
      record_.warnings.push_back(fmt::format(
          "{} process{} still ran when the command had ended, which may disturb later runs",
          still_running_, still_running_ == 1 ? "" : "es"));
    }
    return std::move(record_);
  }

  /// Saves the runs, with a tag that they share.
  void save(const BenchRecord& record) {
    if (to_save_.empty()) return;
    constexpr const char* kTag = "bench";
    const std::string id = run_id_text(run_id_of(to_json(record)));
    for (SavedRun& run : to_save_) run.tags.emplace(kTag, id);
    const std::size_t saved = saver_.save(to_save_).size();
    if (saved == 0) return;
    write_to_stderr(
        fmt::format("saved {}: wattle history --tag {}\n", counted(saved, "run"),
                    shell_quoted(fmt::format("{}={}", kTag, to_save_.front().tags.at(kTag)))));
  }

 private:
  using Group = std::vector<std::size_t>;

  /// Commands that take turns, and what cleans up after them, whatever happens.
  void run_group(const Group& group) {
    try {
      run_rounds(group);
    } catch (...) {
      // The first failure is the one that is reported; a second signal ends this too.
      try {
        clean_up(group);
      } catch (const BenchFailed& failed) {
        print_message("bench", failed.what());
      }
      throw;
    }
    --groups_left_;
    clean_up(group);
  }

  void clean_up(const Group& group) {
    for (const std::size_t i : group) {
      runner_.unmeasured(plan_.commands[i].cleanup, "cleanup command");
    }
  }

  void run_rounds(const Group& group) {
    for (const std::size_t i : group) runner_.unmeasured(plan_.commands[i].setup, "setup command");
    for (std::size_t round = 0; round < options_.warmup; ++round) {
      for (const std::size_t i : group) {
        show("warming up", i);
        (void)run_once(plan_.commands[i]);
      }
    }
    const TimePoint begin = machine_clock().now();
    std::size_t rounds = std::max<std::size_t>(1, options_.max_runs.value_or(1));
    if (options_.min_runs != options_.max_runs) rounds = 1;
    for (std::size_t round = 1; round <= rounds; ++round) {
      if (round > 1 && is_over(begin)) break;
      for (const std::size_t k : order_of_round(group.size(), record_.seed, round)) {
        const double part = part_done(group, round, rounds);
        show(part > 0.0 ? left_text(part, machine_clock().now() - begin) : "first round", group[k],
             part);
        const Report report = run_once(plan_.commands[group[k]]);
        add(group[k], round, report);
        keep(plan_.commands[group[k]], report);
      }
      if (round == 1 && options_.min_runs != options_.max_runs) {
        rounds = rounds_of(options_, shortest_run(group));
      }
    }
  }

  Report run_once(const PlannedCommand& command) {
    runner_.unmeasured(command.prepare, "preparation command");
    runner_.pause();
    Report report = runner_.measured(command.command);
    if (!options_.ignored.accept(report.exit.code, report.exit.signal)) {
      const std::string how =
          report.exit.signal
              ? fmt::format("was killed by signal {}", *report.exit.signal)
              : fmt::format("failed with exit status {}", report.exit.code.value_or(kRunFailed));
      throw BenchFailed(fmt::format(
          "the command {} {}; --output inherit shows what it prints, --ignore-failure goes on",
          shell_quoted(command.command), how));
    }
    runner_.unmeasured(command.conclude, "conclusion command");
    return report;
  }

  void add(std::size_t i, std::size_t round, const Report& report) {
    RunCost cost = cost_of(report);
    cost.round = round;
    if (report.usage.still_running) still_running_ += report.usage.still_running->size();
    // From the run with the most domains: missing ones of others are a warning.
    if (most_domains_ < 0 || std::ssize(cost.energy_domains) > most_domains_) {
      most_domains_ = std::ssize(cost.energy_domains);
      record_.energy_covers = report.energy.total.covers;
      record_.energy_missing = report.energy.total.missing;
    }
    record_.commands[i].runs.push_back(std::move(cost));
    if (report.estimate) estimates_[i].push_back(*report.estimate);
  }

  /// Saving waits for the disk, so all are saved at the end.
  void keep(const PlannedCommand& command, const Report& report) {
    if (!saver_.is_wanted()) return;
    SavedRun& run = to_save_.emplace_back(saver_.run_of(report));
    // The tags of the user count more.
    if (command.name != command.command) run.tags.emplace("name", command.name);
    run.tags.insert(command.parameters.begin(), command.parameters.end());
  }

  [[nodiscard]] bool is_over(TimePoint begin) const {
    return options_.time_limit && machine_clock().now() - begin >= *options_.time_limit;
  }

  [[nodiscard]] std::chrono::nanoseconds shortest_run(const Group& group) const {
    Seconds shortest = record_.commands[group.front()].runs.front().wall;
    for (const std::size_t i : group) {
      shortest = std::min(shortest, record_.commands[i].runs.front().wall);
    }
    return std::chrono::duration_cast<std::chrono::nanoseconds>(shortest);
  }

  /// The part done of the group's runs; 0 if their number is unknown.
  [[nodiscard]] double part_done(const Group& group, std::size_t round, std::size_t rounds) const {
    if (round == 1 && options_.min_runs != options_.max_runs) return 0.0;
    std::size_t done = 0;
    for (const std::size_t i : group) done += record_.commands[i].runs.size();
    return static_cast<double>(done) / static_cast<double>(rounds * group.size());
  }

  void show(const std::string& what, std::size_t i, std::optional<double> part = {}) {
    std::string text = fmt::format("{}; {}", what, printable(plan_.commands[i].name));
    const std::vector<RunCost>& runs = record_.commands[i].runs;
    const char* separator = ": ";
    for (const Cost cost : {Cost::time, Cost::energy}) {
      const std::vector<double> values = values_of(cost, runs);
      if (values.empty()) continue;
      text += separator + text_of(cost, summarize(values).mean);
      separator = ", ";
    }
    progress_.show(text, part);
    if (options_.output == "inherit") progress_.clear();
  }

  const BenchOptions& options_;
  const RunSaver& saver_;
  BenchPlan plan_;
  BenchConditions conditions_;
  BenchRunner runner_;
  Progress progress_;
  TimePoint began_;
  BenchRecord record_;
  std::vector<std::vector<EnergyEstimate>> estimates_;  ///< of each command's runs
  std::vector<SavedRun> to_save_;
  std::size_t still_running_ = 0;
  std::size_t groups_left_ = 1;       ///< of commands, some of whose runs have not been made
  std::ptrdiff_t most_domains_ = -1;  ///< of a run so far
};

/// Without `out` it goes to stderr.
void print_text(const BenchRecord& record, std::optional<Output>& out) {
  const TextStyle style = style_of(out ? STDOUT_FILENO : STDERR_FILENO);
  std::string text;
  for (const BenchCommand& command : record.commands) text += to_text(command, style) + "\n";
  text += summary_text(record, style);
  if (!out) return write_to_stderr(text);
  out->write(text);
}

/// True if something could not be written.
bool print(const BenchRecord& record, std::optional<Output>& out, std::vector<Export>& exports) {
  bool has_failed = !write_or_report("bench", [&] { print_text(record, out); });
  for (Export& one : exports) {
    if (!one.output) continue;
    has_failed |= !write_or_report("bench", [&] { one.output->write(one.text(record)); });
  }
  return has_failed;
}

}  // namespace

int execute(const BenchOptions& options) {
  outlive_commands();
  // A result on stdout is alone there.
  std::optional<Output> out;
  const bool is_taken = std::ranges::any_of(result_paths(options), is_stdout);
  if (!is_taken) out = Output::open("-", false);
  std::vector<Export> exports = open_exports(options);
  std::set<pid_t> strangers;
  const RunSaver saver("bench", options.saving, strangers);
  Bench bench(options, saver);
  std::string failure;
  int status = 0;
  std::optional<int> signal;
  try {
    bench.run();
  } catch (const BenchFailed& failed) {
    failure = failed.what();
    status = 1;
  } catch (const Interrupted& interrupted) {
    signal = interrupted.signal;
  } catch (const InvalidArgument&) {
    throw;
  } catch (const std::exception& failed) {
    // The runs before are measured all the same.
    failure = failure_text(failed);
    status = kRunFailed;
  }
  const BenchRecord record = bench.end();
  const auto has_runs = [](const BenchCommand& command) { return !command.runs.empty(); };
  const bool has_failed =
      std::ranges::any_of(record.commands, has_runs) && print(record, out, exports);
  bench.save(record);
  if (!failure.empty()) print_message("bench", failure);
  if (signal) end_like({.started = true, .signal = signal});
  if (status == 0 && has_failed) status = kRunFailed;
  return status;
}

}  // namespace wattle::app
