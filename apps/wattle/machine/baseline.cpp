// `wattle baseline`: the power of the idle machine, kept for the shares of later runs.
#include "estimate/baseline.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/files/state_folder.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "cli/privileges.hpp"
#include "cli/shared_options.hpp"
#include "cli/subcommand.hpp"
#include "cli/value_option.hpp"
#include "cli/waiting.hpp"
#include "estimate/cpu_load.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "report/share.hpp"
#include "sampling/measured_window.hpp"
#include "sampling/readings.hpp"
#include "sensors/providers.hpp"
#include "usage/process/process_times.hpp"
#include "wattle/system.hpp"

namespace wattle::app {
namespace {

constexpr const char* kBaselineFooter = R"(
Keeps the result in $XDG_STATE_HOME/wattle/baseline (or ~/.local/state) for a day, or until the machine
is restarted or reconfigured. wattle run uses it to separate idle energy from the command's.
Nothing else should run: with more than 5 % of the CPU cores and more than a quarter of one in use
nothing is kept. Exit status: 0, 1 if the machine was not idle or Ctrl-C ended it, 2 if no CPU energy
can be measured, 64 for a wrong option, 125 if the result cannot be written.
)";

struct BaselineOptions {
  System system;
  std::chrono::nanoseconds length{0};
  bool json = false;
};

constexpr int kNotIdle = 1;
constexpr int kNoCpuEnergy = 2;

void warn_user(const std::string& message) { print_message("baseline", message); }

/// Reads once a second, and returns the times of the readings: fewer than two if a signal ended it.
std::vector<TimePoint> read_for(MeasuredWindow& window, const BaselineOptions& options,
                                const Fd& end) {
  Progress progress("wattle baseline");
  std::vector<TimePoint> times;
  const auto read = [&] {
    window.read(true);
    times.push_back(machine_clock().now());
  };
  read();
  const TimePoint begin = times.front();
  Ticker ticker(begin, std::chrono::seconds(1), std::chrono::seconds(1));
  while (times.back() - begin < options.length) {
    if (!wait_for_tick(ticker, end)) return {};
    read();
    const double part = Seconds(times.back() - begin) / Seconds(options.length);
    if (part < 1.0) progress.show(left_text(part, times.back() - begin), part);
  }
  return times;
}

/// Mean and standard deviation of the power in each second; false where a part is not known.
bool fill_power(Baseline& baseline, const MeasuredWindow& window,
                const std::vector<TimePoint>& times) {
  Joules energy;
  std::vector<Watts> powers;
  for (auto time = times.begin() + 1; time != times.end(); ++time) {
    const auto part = shared_energy(window, baseline.domains, *(time - 1), *time);
    if (!part) return false;
    energy += *part->energy;
    powers.push_back(*part->energy / Seconds(*time - *(time - 1)));
  }
  const Seconds length = times.back() - times.front();
  baseline.mean = energy / length;
  const auto whole = shared_energy(window, baseline.domains, times.front(), times.back());
  if (whole) baseline.uncertainty = whole->uncertainty / length;
  if (whole) baseline.flags = whole->flags;
  double squares = 0.0;
  for (const Watts power : powers) squares += std::pow((power - baseline.mean).si(), 2.0);
  baseline.deviation = Watts(std::sqrt(squares / static_cast<double>(powers.size())));
  return true;
}

std::vector<std::string> running_text(const std::vector<ProcessUse>& uses, Seconds length) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> running;
  for (const ProcessUse& use : uses) {
    if (running.size() == kShown) break;
    running.push_back(fmt::format("{} {:.2f}", use.name, use.cpu / length));
  }
  return running;
}

std::string report_of(const Baseline& baseline, double threads) {
  const std::string running =
      baseline.running.empty() ? std::string("nothing") : joined(baseline.running, ", ");
  return fmt::format("{} ({})\n  {:.2f} of {:g} CPU cores in use: {}\n", baseline_text(baseline),
                     fmt::join(baseline.domains, ", "), baseline.busy_cpus, threads, running);
}

int execute(const BaselineOptions& options) {
  const Fd end = end_signals();
  Survey found = with_privileges([&] {
    return survey(options.system, machine_clock(), DomainKinds::of({DomainCategory::cpu}));
  });
  const std::vector<SensorRefusal> refused = found.refused;
  Readings readings(std::move(found.sensors), machine_clock(), {.keeps_going = true});
  MeasuredWindow window(readings);
  const std::set<std::string> domains = shared_domains(window);
  if (domains.empty()) {
    warn_user("no CPU energy can be measured" +
              (refused.empty() ? "" : ": " + refused.front().reason) +
              "\n  fix: see wattle doctor");
    return kNoCpuEnergy;
  }
  const MachineIdentity machine = identity_of(options.system);
  const std::string path = baseline_path(machine.host);
  make_folder_of(path);  // fails before the time is spent
  const CpuLoadReader reader(options.system);
  const auto load_begin = reader.read();
  const auto processes_begin = read_process_times(options.system);
  const std::vector<TimePoint> times = read_for(window, options, end);
  if (times.size() < 2) {
    warn_user("stopped before the end of its time; nothing is kept");
    return kNotIdle;
  }
  const auto load_end = reader.read();
  const auto load =
      load_begin && load_end ? load_between(*load_begin, *load_end, {}) : std::nullopt;
  if (!load) {
    warn_user("the load of the CPUs is unknown: /proc/stat cannot be read or did not advance");
    return kNoCpuEnergy;
  }
  const Seconds length = times.back() - times.front();
  Baseline baseline{.machine = machine,
                    .taken_unix_s = to_unix(times.front()),
                    .length_s = length.count(),
                    .domains = {domains.begin(), domains.end()},
                    .busy_cpus = load->busy / length,
                    .running = running_text(
                        uses_between(processes_begin, read_process_times(options.system)), length)};
  if (!fill_power(baseline, window, times)) {
    warn_user(why_not_shared(window, baseline.domains, times.front(), times.back()) +
              "\n  fix: see wattle doctor");
    return kNoCpuEnergy;
  }
  if (is_under_load(baseline.busy_cpus, load->threads)) {
    warn_user(
        fmt::format("not kept: the machine was not idle: {:.2f} of {:g} CPU cores in use ({}); "
                    "end what runs and try again",
                    baseline.busy_cpus, load->threads, fmt::join(baseline.running, ", ")));
    return kNotIdle;
  }
  WholeFile(path, WholeFile::Mode::replace).write(to_json(baseline));
  Output::open("-", false)
      .write(options.json ? to_json(baseline) : report_of(baseline, load->threads));
  return 0;
}

/// The options as they are written.
struct RawBaseline {
  BaselineOptions baseline;
  ParsedOptions values;
  RawRoots roots;

  void add(CLI::App& command) {
    command.footer(kBaselineFooter);
    values.add(command, "--seconds", baseline.length, "SECONDS",
               "Seconds to measure, from 2 to 3600", seconds_within(2.0, 3600.0), "30");
    command.add_flag("--json", baseline.json, "As JSON on stdout");
    add_roots(command, roots);
  }
  [[nodiscard]] BaselineOptions checked(const CommandLine& /*line*/) const {
    BaselineOptions options = baseline;
    options.system = system_of(roots);
    return options;
  }
};

}  // namespace

extern constinit const Subcommand kBaselineSubcommand = {
    .name = "baseline",
    .group = HelpGroup::set_up,
    .summary = "Measure the power of the idle machine, for shares of runs",
    .add = add_options<RawBaseline>,
    .run = execute_with<BaselineOptions>,
    .opens_counters = always};

}  // namespace wattle::app
