// `wattle mark`: a phase of a run, or a unit of work in it, starts or ends.
#include "run/mark.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "base/marks.hpp"
#include "base/text/parse.hpp"
#include "base/text/text.hpp"
#include "cli/subcommand.hpp"
#include "output/output.hpp"
#include "units/unit_events.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

std::string cause_of(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "it has ended";
    case EAGAIN:
      return "it does not read its marks; it may be stopped";
    case EACCES:
      return "it belongs to another user";
    default:
      return std::generic_category().message(error);
  }
}

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
WEIGHT TAG", "unit_trace ID WEIGHT TRACEPARENT TAG" and "unit_end ID WORK TAG".

examples:
  wattle run -- sh -c 'wattle mark load; ./load; wattle mark --next train; ./train'
  wattle run -- sh -c 'wattle mark --unit job; ./job; wattle mark --unit --end --work 120 job'
)";

/// The options as they are written.
struct RawMark {
  MarkOptions mark;
  bool ends = false;
  bool goes_on = false;
  bool is_unit = false;
  std::string weight;
  std::string work;
  std::string traceparent;

  void add(CLI::App& command);
  [[nodiscard]] MarkOptions checked(const CommandLine& line) const;
};

void RawMark::add(CLI::App& command) {
  command.footer(kMarkFooter);
  command.add_option("NAME", mark.mark.name, "Name of the phase, at most 255 bytes")->type_name("");
  CLI::Option* end = command.add_flag(
      "--end", ends, "End the phase NAME; without NAME, the one that started last");
  command.add_flag("--next", goes_on, "End the phase that started last, and start NAME")
      ->excludes(end);
  CLI::Option* unit = command.add_flag("--unit", is_unit,
                                       "NAME is the tag of a unit of work, which starts or ends");
  command.add_option("--id", mark.mark.id, "Which unit of that tag")->type_name("ID")->needs(unit);
  command
      .add_option("--weight", weight,
                  "Its part of the power relative to others, 1e-6 to 1e6; default 1")
      ->type_name("NUMBER")
      ->needs(unit)
      ->excludes(end);
  command.add_option("--work", work, "What was done in it: tokens, rows; with --end")
      ->type_name("NUMBER")
      ->needs(unit)
      ->needs(end);
  command
      .add_option(
          "--traceparent", traceparent,
          "The trace that it belongs to (W3C Trace Context); one that is not valid is ignored")
      ->type_name("TEXT")
      ->needs(unit)
      ->excludes(end);
  command.add_flag("-q,--quiet", mark.quiet, "No message outside of a run");
}

/// Completes the mark of a unit.
void check_unit(const RawMark& raw, Mark& mark) {
  if (raw.goes_on) throw InvalidArgument("--next is for phases, not with --unit");
  mark.kind = raw.ends ? MarkKind::unit_end : MarkKind::unit;
  mark.trace = parse_traceparent(raw.traceparent);
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
  mark.number =
      raw.ends ? number("--work", raw.work, 0.0, detail::kMostUnitWork, 0.0)
               : number("--weight", raw.weight, detail::kLeastWeight, detail::kMostWeight, 1.0);
}

MarkOptions RawMark::checked(const CommandLine& /*line*/) const {
  MarkOptions options = mark;
  Mark& read = options.mark;
  const std::string_view what = is_unit ? "the tag of a unit" : "the name of a phase";
  const bool is_blank = read.name.find_first_not_of(" \t\n") == std::string::npos;
  if (is_blank && (is_unit || !ends || !read.name.empty())) {
    throw InvalidArgument(
        fmt::format("{} is missing: wattle mark {}NAME", what, is_unit ? "--unit " : ""));
  }
  if (read.name.size() > kMostMarkBytes) {
    throw InvalidArgument(
        fmt::format("{} has at most {} bytes, not {}", what, kMostMarkBytes, read.name.size()));
  }
  if (ends) read.kind = MarkKind::end;
  if (goes_on) read.kind = MarkKind::next;
  if (is_unit) check_unit(*this, read);
  return options;
}

}  // namespace

int execute(const MarkOptions& options) {
  const Mark& mark = options.mark;
  const int error =
      mark.id.empty() ? send_mark(mark.kind, mark.name) : send_mark_text(unit_mark_text(mark));
  if (error == 0) return 0;
  if (error == ENOENT) {
    if (!options.quiet) {
      print_message("mark", "not in a wattle run (WATTLE_RUN names no socket); ignored");
    }
    return 0;
  }
  constexpr int kNotTaken = 1;
  print_message("mark", "the run does not take the mark", cause_of(error));
  return kNotTaken;
}

extern constinit const Subcommand kMarkSubcommand = {
    .name = "mark",
    .group = HelpGroup::measure,
    .summary = "Start or end a phase of a run, or a unit of work",
    .arguments = " NAME",
    .add = add_options<RawMark>,
    .run = execute_with<MarkOptions>};

}  // namespace wattle::app
