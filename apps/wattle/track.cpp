// `wattle track`: what a running process and its descendants use, until it ends or Ctrl-C.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/quantity.hpp"
#include "commands.hpp"
#include "end_signals.hpp"
#include "energy_words.hpp"
#include "output.hpp"
#include "patient_poll.hpp"
#include "usage/tracker_mark.hpp"
#include "wattle/error.hpp"
#include "wattle/tracker.hpp"

namespace wattle::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

void warn(std::string_view message) { write_to_stderr(fmt::format("wattle track: {}\n", message)); }

/// Waits for the process's end, for a signal, or until the time is over.
void wait(const Tracker& tracker, const TrackOptions& options, const Fd& end) {
  const TimePoint begin = machine_clock().now();
  pollfd waited{.fd = end.get(), .events = POLLIN, .revents = 0};
  // The tracker knows at once that its process has ended; this is how soon we ask.
  constexpr milliseconds kLongest{50};
  while (!tracker.has_target_ended()) {
    milliseconds left = kLongest;
    if (options.duration) {
      const auto rest = begin + *options.duration - machine_clock().now();
      if (rest <= nanoseconds(0)) return;
      left = std::min(left, std::chrono::ceil<milliseconds>(rest));
    }
    patient_poll({&waited, 1}, static_cast<int>(left.count()));
    if (waited.revents != 0 && has_come(end)) return;
  }
}

void put(const TrackOptions& options, const std::string& text, const std::string& json,
         std::optional<Output>& file) {
  if (file) file->write(json + "\n");
  if (options.json_path != "-") Output::open("-", false).write(text + "\n");
}

/// The energy of the machine meanwhile; empty where none was looked for.
std::string energy_text(const ResourceUsage& usage) {
  if (!usage.energy) return {};
  std::string text = "\nEnergy of this machine in that time:";
  for (const TrackedDomain& domain : usage.energy->domains) {
    const MeasuredEnergy& energy = domain.energy;
    text += fmt::format("\n   {}: {}", domain.domain,
                        energy.energy ? to_text(*energy.energy, energy.uncertainty) : "unknown");
    if (energy.unknown > Seconds(0)) text += fmt::format(", {} unknown", to_text(energy.unknown));
    if (!energy.flags.none()) text += ", " + flags_text(energy.flags, ", ");
    if (!domain.contained_in.empty()) text += " (in " + domain.contained_in + ")";
  }
  if (usage.energy->domains.empty()) text += " unknown";
  for (const RefusedEnergy& refused : usage.energy->refused) {
    text += fmt::format("\n   {}: not measured: {}", refused.subject, refused.reason);
  }
  return text;
}

int follow(const TrackOptions& options) {
  const Fd end = end_signals();
  set_log(warn);
  // Before any work: a bad path fails now.
  std::optional<Output> file;
  if (!options.json_path.empty()) file = Output::open(options.json_path, false);
  if (options.recovered_path) {
    const ResourceUsage found = recover_usage(*options.recovered_path);
    put(options, found.to_text(), found.to_native_json(), file);
    return 0;
  }
  const TrackerMark mark;  // other trackers leave this process out
  Tracker tracker(options.tracker);
  tracker.start();
  wait(tracker, options, end);
  int status = 0;
  try {
    tracker.stop();
  } catch (const WriteError&) {  // the log has told it when it happened
    status = kRunFailed;
  }
  const ResourceUsage& usage = tracker.resource_usage();
  put(options, usage.to_text() + energy_text(usage), usage.to_native_json(), file);
  return status;
}

}  // namespace

int track(const TrackOptions& options) {
  int status = 0;
  try {
    status = follow(options);
  } catch (const InvalidArgument& wrong) {
    write_to_stderr(fmt::format("wattle track: {}\nTry: wattle track --help\n", wrong.what()));
    status = kUsageError;
  } catch (const Error& failed) {
    warn(failed.what());
    status = kRunFailed;
  }
  set_log({});
  return status;
}

}  // namespace wattle::app
