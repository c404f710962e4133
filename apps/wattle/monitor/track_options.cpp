#include "monitor/track_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string_view>

#include "base/text/parse.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "cli/value_option.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

constexpr const char* kFooter = R"(
Tracks a process and all its descendants until it ends, the duration is over, or Ctrl-C; then
prints what they used. Exit status: 0, 64 for a wrong option, 125 where a file cannot be read or
written.

examples:
  wattle track --pid 4711 --time-unit seconds
  wattle track --pid 4711 --tracking-file rows.csv --usage-file usage.jsonl
  wattle track --recover usage.jsonl
)";

template <class T>
T parse_positive(const std::string& text, std::string_view option, std::string_view what) {
  const auto number = parse_unsigned<unsigned>(text);
  if (!number || *number == 0 || !std::in_range<T>(*number)) {
    throw InvalidArgument(fmt::format("{} takes {}, not '{}'", option, what, printable(text)));
  }
  return static_cast<T>(*number);
}

std::optional<std::filesystem::path> path_of(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::filesystem::path>(text);
}

}  // namespace

CLI::Option* add_estimate(CLI::App& command, bool& estimate) {
  return command.add_flag(
      "--estimate", estimate,
      "If no sensor covers the CPU, print a range of the energy at the wall, from published "
      "results of similar servers; not measured. WATTLE_ESTIMATE_AS=server or =guest says what "
      "this machine is, if its files do not");
}

CLI::App* add_track(CLI::App& app, RawTrackOptions& raw) {
  CLI::App* track = app.add_subcommand("track", "Report what a running process uses");
  track->footer(kFooter);
  TrackerOptions& tracker = raw.track.tracker;
  const auto add = [&](const char* name, std::string& into, const char* type, const char* help) {
    return add_value(*track, name, into, type, help);
  };
  const auto add_file = [&](const char* name, std::string& into, const char* help) {
    return add(name, into, "FILE", help);
  };
  add("--pid", raw.pid, "PID", "The process");
  add("--duration", raw.duration, "SECONDS", "Stop after SECONDS");
  add("--sleep-time", raw.sleep_time, "SECONDS", "Time between two samples, at least 0.01");
  add("--ram-unit", tracker.ram_unit, "UNIT", "bytes, kilobytes, megabytes, gigabytes, terabytes");
  add("--gpu-ram-unit", tracker.gpu_ram_unit, "UNIT", "The same, for GPU memory");
  add("--time-unit", tracker.time_unit, "UNIT", "seconds, minutes, hours, days");
  add("--expected-cores", raw.expected_cores, "NUMBER",
      "Divide CPU percentages by this (default: the machine's CPU cores)");
  add("--gpu-uuids", raw.gpu_uuids, "LIST",
      "Utilization of these GPUs only: comma-separated UUIDs");
  add("--gpu-brand", raw.gpu_brand, "BRAND",
      "nvidia, amd or intel: the GPUs of this brand (default: one, in this order)");
  add_file("--tracking-file", raw.tracking_file,
           "Write one row per sample to FILE: SQLite if it ends in .sqlite, else CSV");
  add_file("--usage-file", raw.usage_file,
           "Keep in FILE what is known so far; removed at the end (default: in the state folder)");
  track->add_flag("--overwrite", tracker.overwrite, "Replace files that exist");
  track->add_flag("--pss", tracker.force_pss,
                  "Read proportional memory of processes of any size (4 to 25 ms per GiB)");
  CLI::Option* json = add_file("--json", raw.track.json_path,
                               "Write everything as JSON to FILE (-: stdout, without text)");
  add_estimate(*track, raw.track.estimate);
  const auto of_a_run = track->get_options();
  CLI::Option* recover = add_file("--recover", raw.recover,
                                  "Recover the results of an interrupted run from its usage file");
  for (CLI::Option* const option : of_a_run) {
    if (option != json && option != track->get_help_ptr()) recover->excludes(option);
  }
  return track;
}

TrackOptions checked_track(const RawTrackOptions& raw, const System& system) {
  TrackOptions options = raw.track;
  if (!raw.recover.empty()) {
    options.recovered_path = raw.recover;
    return options;
  }
  if (raw.pid.empty()) {
    throw InvalidArgument("no process given: use --pid PID, or --recover FILE");
  }
  TrackerOptions& tracker = options.tracker;
  tracker.system = system;
  tracker.process_id = parse_positive<int>(raw.pid, "--pid", "the number of a process");
  constexpr double kLeastDurationS = 0.001;
  constexpr double kMostDurationS = 1e9;  // 30 years
  if (!raw.duration.empty()) {
    options.duration = parse_seconds(raw.duration, "--duration", kLeastDurationS, kMostDurationS);
  }
  constexpr double kLeastPeriodS = 0.01;
  constexpr double kMostPeriodS = 86400.0;
  tracker.sleep_time = parse_seconds(raw.sleep_time, "--sleep-time", kLeastPeriodS, kMostPeriodS);
  if (!raw.expected_cores.empty()) {
    tracker.n_expected_cores =
        parse_positive<unsigned>(raw.expected_cores, "--expected-cores", "a number from 1 on");
  }
  if (!raw.gpu_uuids.empty()) {
    const std::vector<std::string> uuids = items_of(raw.gpu_uuids);
    if (uuids.empty()) {
      throw InvalidArgument("--gpu-uuids takes comma-separated UUIDs, not '" +
                            printable(raw.gpu_uuids) + "'");
    }
    tracker.gpus = GpuSelection::named(uuids);
  }
  if (!raw.gpu_brand.empty()) tracker.gpu_brand = raw.gpu_brand;
  tracker.tracking_file = path_of(raw.tracking_file);
  tracker.resource_usage_file = path_of(raw.usage_file);
  return options;
}

}  // namespace wattle::app
