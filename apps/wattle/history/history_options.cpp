#include "history/history_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "bench/bench_plan.hpp"
#include "cli/settings.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/unexpected.hpp"
#include "cli/value_option.hpp"
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

/// The options as they are written.
struct RawHistory {
  RunHistoryOptions history;
  std::vector<std::string> words;  ///< "show", "k3m9x2qa"
  std::vector<std::string> tags;
  std::string since;
  std::string until;
  ParsedOptions values;

  void add(CLI::App& command);
  [[nodiscard]] RunHistoryOptions checked(const CommandLine& line) const;
};

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

/// Options that would be ignored are refused: who filters runs to remove or to show must not get
/// others.
void check_used(const RawHistory& raw, HistoryAction action) {
  const bool takes_filter = action == HistoryAction::list || action == HistoryAction::export_all;
  const bool takes_json = takes_filter || action == HistoryAction::show;
  const std::array<std::pair<const char*, bool>, 8> given = {
      {{"--command", !raw.history.filter.command.empty() && !takes_filter},
       {"--tag", !raw.tags.empty() && !takes_filter},
       {"--host", !raw.history.filter.host.empty() && !takes_filter},
       {"--since", !raw.since.empty() && !takes_filter},
       {"--until", !raw.until.empty() && !takes_filter},
       {"--limit", raw.history.filter.limit && !takes_filter},
       {"--json", raw.history.json && !takes_json},
       {"--csv", raw.history.csv && !takes_filter}}};
  for (const auto& [option, is_unused] : given) {
    if (!is_unused) continue;
    throw InvalidArgument(fmt::format("{} has no meaning with wattle history {}: leave it out",
                                      option, raw.words.front()));
  }
}

void RawHistory::add(CLI::App& command) {
  command.footer(kHistoryFooter);
  command.add_option("ACTION", words, "show, rm, export, import or check, and IDs or files")
      ->type_name("");
  add_value(command, "--command", history.filter.command, "TEXT",
            "Runs whose command line contains TEXT");
  command.add_option("--tag", tags, "Runs with this tag (KEY: with any value)")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  add_value(command, "--host", history.filter.host, "NAME", "Runs on this host");
  add_value(command, "--since", since, "TIME", "Runs that started at TIME or later");
  add_value(command, "--until", until, "TIME", "Runs that started before TIME");
  values.add(
      command, "--limit", history.filter.limit, "NUMBER", "The newest NUMBER runs",
      number_within(std::size_t{1}, std::numeric_limits<std::size_t>::max(), "a number from 1 on"));
  CLI::Option* json = command.add_flag("--json", history.json, "As JSON on stdout");
  command.add_flag("--csv", history.csv, "Comma-separated values on stdout")->excludes(json);
}

RunHistoryOptions RawHistory::checked(const CommandLine& /*line*/) const {
  RunHistoryOptions options = history;
  constexpr std::array<std::pair<std::string_view, HistoryAction>, 6> kActions = {
      {{"list", HistoryAction::list},
       {"show", HistoryAction::show},
       {"rm", HistoryAction::remove},
       {"export", HistoryAction::export_all},
       {"import", HistoryAction::import},
       {"check", HistoryAction::check}}};
  if (!words.empty()) {
    options.action = action_of(words, kActions);
    options.words.assign(words.begin() + 1, words.end());
  }
  const bool takes_words = options.action == HistoryAction::show ||
                           options.action == HistoryAction::remove ||
                           options.action == HistoryAction::import;
  if (takes_words && options.words.empty()) {
    throw InvalidArgument(fmt::format("a {} is missing: wattle history {} {}",
                                      options.action == HistoryAction::import ? "file" : "run",
                                      words.front(),
                                      options.action == HistoryAction::import ? "FILE" : "ID"));
  }
  if (!takes_words && !options.words.empty()) {
    throw InvalidArgument(unexpected_argument(options.words.front()));
  }
  check_used(*this, options.action);
  HistoryFilter& filter = options.filter;
  for (const std::string& tag : tags) {
    if (tag.find('=') == std::string::npos) {
      filter.tags.insert_or_assign(tag, "");
    } else {
      filter.tags.insert(parse_tag(tag, "--tag"));
    }
  }
  const double now = to_unix(machine_clock().now());
  if (!since.empty()) filter.since_unix_s = parse_time(since, "--since", now);
  if (!until.empty()) filter.until_unix_s = parse_time(until, "--until", now);
  return options;
}

constexpr std::array<std::string_view, 5> kWords = {
    "tag:", "command:", "host:", "since:", "until:"};

void add_tag(HistoryFilter& filter, const std::string& tag) {
  const std::size_t equals = tag.find('=');
  filter.tags.insert_or_assign(tag.substr(0, equals),
                               equals == std::string::npos ? "" : tag.substr(equals + 1));
}

/// Adds `word` with its value; a filter has one command, one host, one time of each kind.
void add_part(HistoryFilter& filter, std::string_view word, const std::string& value,
              double now_unix_s) {
  const auto set = [&](auto& member, const bool is_set, auto content) {
    if (is_set) throw InvalidArgument(fmt::format("a query takes '{}' once", word));
    member = std::move(content);
  };
  if (word == "tag:") return add_tag(filter, value);
  if (word == "command:") return set(filter.command, !filter.command.empty(), value);
  if (word == "host:") return set(filter.host, !filter.host.empty(), value);
  auto& time = word == "since:" ? filter.since_unix_s : filter.until_unix_s;
  set(time, time.has_value(), parse_time(value, word, now_unix_s));
}

}  // namespace

extern constinit const Subcommand kHistorySubcommand = {.name = "history",
                                                        .group = HelpGroup::compare,
                                                        .summary = "List, show and move saved runs",
                                                        .arguments = " [ACTION [ID|FILE...]]",
                                                        .add = add_options<RawHistory>,
                                                        .run = execute_with<RunHistoryOptions>};

double parse_time(const std::string& text, std::string_view option, double now_unix_s) {
  if (const auto age = parse_age(text)) return now_unix_s - *age;
  if (const auto date = parse_date(text)) return *date;
  throw InvalidArgument(
      fmt::format("{} takes a date (2026-11-21, '2026-11-21 10:00') or an age (12h, 3d), not '{}'",
                  option, printable(text)));
}

bool is_history_query(std::string_view word) noexcept {
  return std::ranges::any_of(kWords,
                             [&](std::string_view start) { return word.starts_with(start); });
}

HistoryFilter parse_history_query(std::string_view query, double now_unix_s) {
  HistoryFilter filter;
  for (const std::string& part : parameter_values(query)) {
    const auto* const word = std::ranges::find_if(
        kWords, [&](std::string_view start) { return part.starts_with(start); });
    const std::string_view found = word == kWords.end() ? kWords.front() : *word;
    const std::string value = word == kWords.end() ? part : part.substr(found.size());
    if (value.empty()) {
      throw InvalidArgument(
          fmt::format("the query '{}' has nothing after '{}'", printable(query), found));
    }
    add_part(filter, found, value, now_unix_s);
  }
  return filter;
}

}  // namespace wattle::app
