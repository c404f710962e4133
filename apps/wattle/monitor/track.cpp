// `wattle track`: what a running process and its descendants use, until it ends or Ctrl-C.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/clock.hpp"
#include "base/text/quantity.hpp"
#include "base/text/text.hpp"
#include "base/text/unknown.hpp"
#include "cli/answer.hpp"
#include "cli/waiting.hpp"
#include "monitor/track_options.hpp"
#include "output/energy_words.hpp"
#include "output/output.hpp"
#include "report/estimate_fields.hpp"
#include "report/estimate_words.hpp"
#include "sensors/domain_traits.hpp"
#include "sensors/refusals.hpp"
#include "usage/files/usage_json.hpp"
#include "usage/tracker_mark.hpp"
#include "wattle/domain.hpp"
#include "wattle/error.hpp"
#include "wattle/estimate.hpp"
#include "wattle/tracker.hpp"

namespace wattle::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

void warn(std::string_view message) { print_message("track", message); }

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
  if (!is_stdout(options.json_path)) Output::open("-", false).write(text + "\n");
}

/// True if the energy of CPUs is known.
bool covers_cpu(const TrackedEnergy& energy) {
  return std::ranges::any_of(energy.domains, [](const DomainEnergy& domain) {
    const Domain parsed = Domain::parse(domain.domain);
    return traits_of(parsed).in_total == "cpu" && domain.energy.energy.has_value();
  });
}

/// The range of the machine's energy, if it was asked for and no sensor covers the CPU.
std::optional<EnergyEstimate> estimate_of(const EnergyEstimator* estimator,
                                          const ResourceUsage& usage) {
  if (estimator == nullptr || (usage.energy && covers_cpu(*usage.energy))) return std::nullopt;
  std::optional<Seconds> cpu_time;
  if (usage.cpu_user && usage.cpu_system) cpu_time = *usage.cpu_user + *usage.cpu_system;
  return estimator->estimate(cpu_time);
}

std::string estimate_text(const EnergyEstimate& estimate) {
  std::string text;
  for (const std::string& line : words_of(estimate, "the tracked")) text += "\n   " + line;
  return text;
}

std::string json_of(const ResourceUsage& usage, const std::optional<EnergyEstimate>& estimate) {
  nlohmann::ordered_json json = native_json(usage);
  json["estimate"] = wattle::json_of(estimate);
  return dumped(json);
}

/// Lists what is not measured, and the remedy: once per cause.
std::string not_measured_text(const std::vector<Refusal>& refused) {
  std::vector<SensorRefusal> causes;
  causes.reserve(refused.size());
  for (const Refusal& refusal : refused) {
    causes.push_back({.source = refusal.source,
                      .subject = refusal.subject,
                      .reason = refusal.reason,
                      .remedy = refusal.remedy});
  }
  std::string text;
  for (const SharedCause& cause : by_cause(causes)) {
    std::string lines = cause_text(cause);
    if (const std::size_t end = lines.find('\n'); end != std::string::npos) {
      lines.insert(end + 1, "   ");
    }
    text += "\n   not measured: " + lines;
  }
  return text;
}

/// The energy of the machine in that time; empty if it was not measured. `hint`: what to do where
/// no sensor covers the CPU; may be empty.
std::string energy_text(const ResourceUsage& usage, std::string_view hint) {
  if (!usage.energy) return {};
  std::string text = "\nEnergy of this machine in that time:";
  for (const DomainEnergy& domain : usage.energy->domains) {
    const MeasuredEnergy& energy = domain.energy;
    text += fmt::format(
        "\n   {}: {}", domain.domain,
        energy.energy ? to_text(*energy.energy, energy.uncertainty) : std::string(kUnknown));
    if (energy.unknown > Seconds(0)) text += fmt::format(", {} unknown", to_text(energy.unknown));
    if (!energy.flags.none()) text += ", " + flags_text(energy.flags, ", ");
    if (!domain.contained_in.empty()) text += " (in " + domain.contained_in + ")";
  }
  if (usage.energy->domains.empty()) text += fmt::format(" {}", kUnknown);
  text += not_measured_text(usage.energy->refused);
  if (!hint.empty() && !covers_cpu(*usage.energy)) text += fmt::format("\n     or: {}", hint);
  return text;
}

/// The tracker refuses it too, but does not know the option.
void refuse_existing(const std::optional<std::filesystem::path>& path, std::string_view what) {
  std::error_code unknown;
  if (!path || path->empty() || !std::filesystem::is_regular_file(*path, unknown)) return;
  throw InvalidArgument(
      fmt::format("cannot make the {} {}: it exists; choose another name, or use --overwrite", what,
                  printable(path->string())));
}

Tracker open_tracker(const TrackerOptions& options) try {
  if (!options.overwrite) {
    refuse_existing(options.tracking_file, "tracking file");
    refuse_existing(options.resource_usage_file, "usage file");
  }
  return Tracker(options);
} catch (const NoSuchDevice& error) {
  throw InvalidArgument(error.what());  // --gpu-uuids names it
}

}  // namespace

int execute(const TrackOptions& options) {
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
  Tracker tracker = open_tracker(options.tracker);
  std::optional<EnergyEstimator> estimator;
  if (options.estimate) estimator.emplace(EstimatorOptions{.system = options.tracker.system});
  tracker.start();
  if (estimator) estimator->start();
  wait(tracker, options, end);
  if (estimator) estimator->stop();
  int status = 0;
  try {
    tracker.stop();
  } catch (const WriteError&) {  // the log had it when it happened
    status = kRunFailed;
  }
  const ResourceUsage& usage = tracker.resource_usage();
  const auto estimate = estimate_of(estimator ? &*estimator : nullptr, usage);
  std::string text = usage.to_text() + energy_text(usage, estimator ? "" : kEstimateHint);
  if (estimate) text += estimate_text(*estimate);
  put(options, text, json_of(usage, estimate), file);
  return status;
}

}  // namespace wattle::app
