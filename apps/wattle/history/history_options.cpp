#include "history/history_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>

#include "base/clock.hpp"
#include "base/text/nearest.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/settings.hpp"
#include "cli/value_option.hpp"
#include "monitor/track_options.hpp"
#include "output/page_output.hpp"
#include "units/unit_events.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kHistoryFooter = R"(
Lists saved runs, the newest first: 20 of them unless --limit says otherwise. wattle run --save saves
a run, wattle bench --save all runs of a benchmark. An ID may be shortened to its first four
characters if no other ID starts with them.

  wattle history show ID           Print one run with its tags, commit and directory
  wattle history rm ID...          Remove runs
  wattle history export            Print whole runs, one line of JSON each; --csv: the list
  wattle history import FILE...    Add runs that export, or run --json --append, wrote
  wattle history check             Look for damage, and repair what can be repaired

--since and --until take a date (2026-11-21, "2026-11-21 10:00") or an age (90s, 30min, 12h, 3d, 2w).
The history is the file WATTLE_HISTORY, else history.db in the state folder (~/.local/state/wattle).
Exit status: 0, 1 if there is no such run or one is damaged, 64 for a wrong option, 125 if a file cannot be read or
written.

examples:
  wattle history --command make --tag branch=main --since 7d
  wattle history show k3m9
  wattle history export --since 30d > runs.jsonl
)";

constexpr const char* kConfigFooter = R"(
Prints the settings, their values and where each is from.

  wattle config get NAME           Print one value
  wattle config set NAME VALUE     Write it to the configuration file
  wattle config unset NAME         Remove it from there

settings:
  save       yes: save each run in the history (WATTLE_SAVE=1, run --save, bench --save)
  history    the file of the history (WATTLE_HISTORY)
  tags       tags of each saved run: KEY=VALUE, comma-separated

The file is ~/.config/wattle/config (XDG_CONFIG_HOME): lines NAME = VALUE. Options count more than
variables, and variables more than the file.
)";

constexpr const char* kMarkFooter = R"(
Starts a phase of the wattle run that this program runs under. The report has a row for each phase:
time, energy, CPU time, memory. A phase that starts inside another one is a part of it; all phases
end with the run. Phases with the same name share a row.
WATTLE_RUN names the socket of the run; any language can send it the text "start NAME", "end NAME" or
"next NAME" as one datagram; "end" alone ends the phase that started last. Exit status: 0, also outside
of a run, where it prints a message to stderr;
1 if the run did not take the mark; 64 for a wrong option.

With --unit, NAME is the tag of a unit of work: a request, a step. Many may run at a time; the report
divides the energy among them (docs/units.md). Those of one tag need an --id each, of at most 64 bytes
without blanks; it is the process that calls wattle mark unless it is given. As datagrams: "unit ID
WEIGHT TAG" and "unit_end ID WORK TAG".

examples:
  wattle run -- sh -c 'wattle mark load; ./load; wattle mark --next train; ./train'
  wattle run -- sh -c 'wattle mark --unit job; ./job; wattle mark --unit --end --work 120 job'
)";

constexpr const char* kReportFooter = R"(
Reports many runs as one: the ranks and nodes of a batch job, or any runs. FILE holds one record, or
one per line, as wattle run --json and wattle history export write them (-: stdin); ID names a saved
run, and a query such as tag:job=77,host:n1 many (see wattle compare --help). Energy of a machine
counts once, however many ranks recorded it; runs that overlap in time on one machine are named, as are
ranks without a record.
Exit status: 0, 1 if a file or ID cannot be read, 2 if none can, 64 for a wrong option.

examples:
  srun wattle run --json run-%r.json -- ./solver; wattle report run-*.json
  wattle report --json k3m9 7xq2
  wattle report --html job.html run-*.json
)";

constexpr double kSecondsPerDay = 86'400.0;

std::optional<double> parse_age(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"min", 60.0}, {"s", 1.0}, {"h", 3600.0}, {"d", kSecondsPerDay}, {"w", 7 * kSecondsPerDay}}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number = parse_double(std::string_view(text).substr(0, text.size() - unit.size()));
    if (number && *number >= 0.0) return *number * seconds;
  }
  return std::nullopt;
}

std::optional<double> parse_date(const std::string& text) {
  for (const char* form :
       {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm time{};
    const char* const end = ::strptime(text.c_str(), form, &time);
    if (end == nullptr || *end != '\0') continue;
    time.tm_isdst = -1;  // whichever holds then
    const int day = time.tm_mday;
    const std::time_t seconds = std::mktime(&time);
    if (time.tm_mday != day) return std::nullopt;  // there is no 30th of February
    return static_cast<double>(seconds);
  }
  return std::nullopt;
}

std::size_t parse_limit(const std::string& text) {
  const auto limit = parse_unsigned<std::size_t>(text);
  if (limit && *limit > 0) return *limit;
  throw InvalidArgument(fmt::format("--limit takes a number from 1 on, not '{}'", printable(text)));
}

/// The first word of `words` as one of `known`.
template <class Action, std::size_t N>
Action action_of(const std::vector<std::string>& words,
                 const std::array<std::pair<std::string_view, Action>, N>& known) {
  std::vector<std::string> names;
  for (const auto& [name, action] : known) {
    if (words.front() == name) return action;
    names.emplace_back(name);
  }
  throw InvalidArgument(fmt::format("unknown action {}{}", shell_quoted(words.front()),
                                    did_you_mean(words.front(), names)));
}

/// What would be ignored is refused: who filters runs to remove or to show must not get others.
void check_used(const RawHistoryOptions& raw, HistoryAction action) {
  const bool takes_filter = action == HistoryAction::list || action == HistoryAction::export_all;
  const bool takes_json = takes_filter || action == HistoryAction::show;
  const std::array<std::pair<const char*, bool>, 8> given = {
      {{"--command", !raw.history.filter.command.empty() && !takes_filter},
       {"--tag", !raw.tags.empty() && !takes_filter},
       {"--host", !raw.history.filter.host.empty() && !takes_filter},
       {"--since", !raw.since.empty() && !takes_filter},
       {"--until", !raw.until.empty() && !takes_filter},
       {"--limit", !raw.limit.empty() && !takes_filter},
       {"--json", raw.history.json && !takes_json},
       {"--csv", raw.history.csv && !takes_filter}}};
  for (const auto& [option, is_unused] : given) {
    if (!is_unused) continue;
    throw InvalidArgument(fmt::format("{} has no meaning with wattle history {}: leave it out",
                                      option, raw.words.front()));
  }
}

}  // namespace

double parse_time(const std::string& text, std::string_view option, double now_unix_s) {
  if (const auto age = parse_age(text)) return now_unix_s - *age;
  if (const auto date = parse_date(text)) return *date;
  throw InvalidArgument(
      fmt::format("{} takes a date (2026-11-21, '2026-11-21 10:00') or an age (12h, 3d), not '{}'",
                  option, printable(text)));
}

void add_history(CLI::App& app, RawHistoryOptions& raw) {
  CLI::App* history = app.add_subcommand("history", "List, show and move saved runs");
  history->footer(kHistoryFooter);
  history->add_option("ACTION", raw.words, "show, rm, export, import or check, and IDs or files")
      ->type_name("");
  add_value(*history, "--command", raw.history.filter.command, "TEXT",
            "Runs whose command line contains TEXT");
  history->add_option("--tag", raw.tags, "Runs with this tag (KEY: with any value)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  add_value(*history, "--host", raw.history.filter.host, "NAME", "Runs on this host");
  add_value(*history, "--since", raw.since, "TIME", "Runs that started at TIME or later");
  add_value(*history, "--until", raw.until, "TIME", "Runs that started before TIME");
  add_value(*history, "--limit", raw.limit, "NUMBER", "The newest NUMBER runs");
  CLI::Option* json = history->add_flag("--json", raw.history.json, "As JSON on stdout");
  history->add_flag("--csv", raw.history.csv, "Comma-separated values on stdout")->excludes(json);
}

void add_config(CLI::App& app, RawHistoryOptions& raw) {
  CLI::App* config = app.add_subcommand("config", "Show and change settings");
  config->footer(kConfigFooter);
  config->add_option("ACTION", raw.config_words, "get, set or unset, and a setting")->type_name("");
}

void add_mark(CLI::App& app, RawHistoryOptions& raw) {
  CLI::App* mark = app.add_subcommand("mark", "Start or end a phase of a run, or a unit of work");
  mark->footer(kMarkFooter);
  mark->add_option("NAME", raw.mark.mark.name, "Name of the phase, at most 255 bytes")
      ->type_name("");
  CLI::Option* ends = mark->add_flag("--end", raw.ends,
                                     "End the phase NAME; without NAME, the one that started last");
  mark->add_flag("--next", raw.goes_on, "End the phase that started last, and start NAME")
      ->excludes(ends);
  CLI::Option* unit = mark->add_flag("--unit", raw.is_unit,
                                     "NAME is the tag of a unit of work, which starts or ends");
  mark->add_option("--id", raw.mark.mark.id, "Which unit of that tag")
      ->type_name("ID")
      ->needs(unit);
  mark->add_option("--weight", raw.weight,
                   "Its part of the power relative to others, 1e-6 to 1e6; default 1")
      ->type_name("NUMBER")
      ->needs(unit)
      ->excludes(ends);
  mark->add_option("--work", raw.work, "What was done in it: tokens, rows; with --end")
      ->type_name("NUMBER")
      ->needs(unit)
      ->needs(ends);
  mark->add_flag("-q,--quiet", raw.mark.quiet, "No message outside of a run");
}

/// Completes the mark of a unit.
void check_unit(const RawHistoryOptions& raw, Mark& mark) {
  if (raw.goes_on) throw InvalidArgument("--next is for phases, not with --unit");
  mark.kind = raw.ends ? MarkKind::unit_end : MarkKind::unit;
  // That of the caller: a shell script has one.
  if (mark.id.empty()) mark.id = std::to_string(::getppid());
  if (mark.id.size() > kMostUnitIdBytes || mark.id.find_first_of(" \t\n") != std::string::npos) {
    throw InvalidArgument(
        fmt::format("--id has at most {} bytes, without blanks", kMostUnitIdBytes));
  }
  const auto number = [](std::string_view option, const std::string& text, double least,
                         double most, double otherwise) {
    if (text.empty()) return otherwise;
    const auto found = parse_double(text);
    if (found && *found >= least && *found <= most) return *found;
    throw InvalidArgument(fmt::format("{} must be a number from {} to {}, not {}", option, least,
                                      most, printable(text)));
  };
  constexpr double kMostWork = 1e18;
  mark.number =
      raw.ends ? number("--work", raw.work, 0.0, kMostWork, 0.0)
               : number("--weight", raw.weight, detail::kLeastWeight, detail::kMostWeight, 1.0);
}

void add_report(CLI::App& app, RawHistoryOptions& raw) {
  CLI::App* report = app.add_subcommand("report", "Report many runs as one: ranks, nodes, jobs");
  report->footer(kReportFooter);
  report->add_option("RUN", raw.report.words, "Files of records, IDs of saved runs, or queries")
      ->type_name("");
  report->add_flag("--json", raw.report.json, "As JSON on stdout");
  add_html(*report, raw.report.html_path);
}

ReportOptions checked_report(const RawHistoryOptions& raw) {
  if (raw.report.words.empty()) throw InvalidArgument("a run is missing: wattle report FILE|ID...");
  check_page_path(raw.report.html_path, raw.report.json);
  return raw.report;
}

MarkOptions checked_mark(const RawHistoryOptions& raw) {
  MarkOptions options = raw.mark;
  Mark& mark = options.mark;
  const std::string_view what = raw.is_unit ? "the tag of a unit" : "the name of a phase";
  const bool is_blank = mark.name.find_first_not_of(" \t\n") == std::string::npos;
  if (is_blank && (raw.is_unit || !raw.ends || !mark.name.empty())) {
    throw InvalidArgument(
        fmt::format("{} is missing: wattle mark {}NAME", what, raw.is_unit ? "--unit " : ""));
  }
  if (mark.name.size() > kMostMarkBytes) {
    throw InvalidArgument(
        fmt::format("{} has at most {} bytes, not {}", what, kMostMarkBytes, mark.name.size()));
  }
  if (raw.ends) mark.kind = MarkKind::end;
  if (raw.goes_on) mark.kind = MarkKind::next;
  if (raw.is_unit) check_unit(raw, mark);
  return options;
}

HistoryOptions checked_history(const RawHistoryOptions& raw) {
  HistoryOptions options = raw.history;
  constexpr std::array<std::pair<std::string_view, HistoryAction>, 6> kActions = {
      {{"list", HistoryAction::list},
       {"show", HistoryAction::show},
       {"rm", HistoryAction::remove},
       {"export", HistoryAction::export_all},
       {"import", HistoryAction::import},
       {"check", HistoryAction::check}}};
  if (!raw.words.empty()) {
    options.action = action_of(raw.words, kActions);
    options.words.assign(raw.words.begin() + 1, raw.words.end());
  }
  const bool takes_words = options.action == HistoryAction::show ||
                           options.action == HistoryAction::remove ||
                           options.action == HistoryAction::import;
  if (takes_words && options.words.empty()) {
    throw InvalidArgument(fmt::format("a {} is missing: wattle history {} {}",
                                      options.action == HistoryAction::import ? "file" : "run",
                                      raw.words.front(),
                                      options.action == HistoryAction::import ? "FILE" : "ID"));
  }
  if (!takes_words && !options.words.empty()) {
    throw InvalidArgument(
        fmt::format("unexpected argument {}", shell_quoted(options.words.front())));
  }
  check_used(raw, options.action);
  HistoryFilter& filter = options.filter;
  for (const std::string& tag : raw.tags) {
    if (tag.find('=') == std::string::npos) {
      filter.tags.insert_or_assign(tag, "");
    } else {
      filter.tags.insert(parse_tag(tag, "--tag"));
    }
  }
  const double now = to_unix(machine_clock().now());
  if (!raw.since.empty()) filter.since_unix_s = parse_time(raw.since, "--since", now);
  if (!raw.until.empty()) filter.until_unix_s = parse_time(raw.until, "--until", now);
  if (!raw.limit.empty()) filter.limit = parse_limit(raw.limit);
  return options;
}

ConfigOptions checked_config(const RawHistoryOptions& raw) {
  ConfigOptions options;
  const std::vector<std::string>& words = raw.config_words;
  if (words.empty()) return options;
  constexpr std::array<std::pair<std::string_view, ConfigAction>, 4> kActions = {
      {{"list", ConfigAction::list},
       {"get", ConfigAction::get},
       {"set", ConfigAction::set},
       {"unset", ConfigAction::unset}}};
  options.action = action_of(words, kActions);
  const std::size_t wanted = options.action == ConfigAction::list  ? 1
                             : options.action == ConfigAction::set ? 3
                                                                   : 2;
  if (words.size() < wanted) {
    throw InvalidArgument(fmt::format("a setting is missing: wattle config {} NAME{}",
                                      words.front(), wanted == 3 ? " VALUE" : ""));
  }
  if (words.size() > wanted) {
    throw InvalidArgument(fmt::format("unexpected argument {}", shell_quoted(words[wanted])));
  }
  if (wanted > 1) options.name = words[1];
  if (wanted > 2) options.value = words[2];
  return options;
}

}  // namespace wattle::app
