#include "monitor/track_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <optional>
#include <string_view>

#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kTrackFooter = R"(
Tracks a process and all its descendants until it ends, the duration is over, or Ctrl-C; then
prints what they used. Exit status: 0, 64 for a wrong option, 125 where a file cannot be read or
written.

examples:
  wattle track --pid 4711 --time-unit seconds
  wattle track --pid 4711 --tracking-file rows.csv --usage-file usage.jsonl
  wattle track --recover usage.jsonl
)";

/// The options as they are written.
struct RawTrack {
  TrackOptions track;
  ParsedOptions values;
  std::optional<int> pid;
  std::string gpu_uuids;
  std::string gpu_brand;
  std::string tracking_file;
  std::string usage_file;
  std::string recover;
  RawRoots roots;

  void add(CLI::App& command);
  [[nodiscard]] TrackOptions checked(const CommandLine& line) const;
};

template <class Number>
auto positive(std::string what) {
  return number_within(Number{1}, std::numeric_limits<Number>::max(), std::move(what));
}

std::optional<std::filesystem::path> path_of(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::filesystem::path>(text);
}

void RawTrack::add(CLI::App& command) {
  command.footer(kTrackFooter);
  TrackerOptions& tracker = track.tracker;
  const auto add_text = [&](const char* name, std::string& into, const char* type,
                            const char* help) {
    return add_value(command, name, into, type, help);
  };
  const auto add_file = [&](const char* name, std::string& into, const char* help) {
    return add_text(name, into, "FILE", help);
  };
  values.add(command, "--pid", pid, "PID", "The process", positive<int>("the number of a process"));
  values.add(command, "--duration", track.duration, "SECONDS", "Stop after SECONDS",
             seconds_within(0.001, 1e9));  // 30 years
  values.add(command, "--sleep-time", tracker.sleep_time, "SECONDS",
             "Time between two samples, at least 0.01", seconds_within(0.01, 86400.0), "1");
  add_text("--ram-unit", tracker.ram_unit, "UNIT",
           "bytes, kilobytes, megabytes, gigabytes, terabytes");
  add_text("--gpu-ram-unit", tracker.gpu_ram_unit, "UNIT", "The same, for GPU memory");
  add_text("--time-unit", tracker.time_unit, "UNIT", "seconds, minutes, hours, days");
  values.add(command, "--expected-cores", tracker.n_expected_cores, "NUMBER",
             "Divide CPU percentages by this (default: the machine's CPU cores)",
             positive<unsigned>("a number from 1 on"));
  add_text("--gpu-uuids", gpu_uuids, "LIST",
           "Utilization of these GPUs only: comma-separated UUIDs");
  add_text("--gpu-brand", gpu_brand, "BRAND",
           "nvidia, amd or intel: the GPUs of this brand (default: one, in this order)");
  add_file("--tracking-file", tracking_file,
           "Write one row per sample to FILE: SQLite if it ends in .sqlite, else CSV");
  add_file("--usage-file", usage_file,
           "Keep in FILE what is known so far; removed at the end (default: in the state folder)");
  command.add_flag("--overwrite", tracker.overwrite, "Replace files that exist");
  command.add_flag("--pss", tracker.force_pss,
                   "Read proportional memory of processes of any size (4 to 25 ms per GiB)");
  CLI::Option* json = add_file("--json", track.json_path,
                               "Write everything as JSON to FILE (-: stdout, without text)");
  add_estimate(command, track.estimate);
  const auto of_a_run = command.get_options();
  CLI::Option* recover_option = add_file(
      "--recover", recover, "Recover the results of an interrupted run from its usage file");
  for (CLI::Option* const option : of_a_run) {
    if (option != json && option != command.get_help_ptr()) recover_option->excludes(option);
  }
  add_roots(command, roots);
}

TrackOptions RawTrack::checked(const CommandLine& /*line*/) const {
  const System system = system_of(roots);
  TrackOptions options = track;
  if (!recover.empty()) {
    options.recovered_path = recover;
    return options;
  }
  if (!pid) throw InvalidArgument("no process given: use --pid PID, or --recover FILE");
  TrackerOptions& tracker = options.tracker;
  tracker.system = system;
  tracker.process_id = *pid;
  if (!gpu_uuids.empty()) {
    const std::vector<std::string> uuids = items_of(gpu_uuids);
    if (uuids.empty()) {
      throw InvalidArgument("--gpu-uuids takes comma-separated UUIDs, not '" +
                            printable(gpu_uuids) + "'");
    }
    tracker.gpus = GpuSelection::named(uuids);
  }
  if (!gpu_brand.empty()) tracker.gpu_brand = gpu_brand;
  tracker.tracking_file = path_of(tracking_file);
  tracker.resource_usage_file = path_of(usage_file);
  return options;
}

}  // namespace

extern constinit const Subcommand kTrackSubcommand = {
    .name = "track",
    .group = HelpGroup::measure,
    .summary = "Report what a running process uses",
    .add = add_options<RawTrack>,
    .run = execute_with<TrackOptions>};

}  // namespace wattle::app
