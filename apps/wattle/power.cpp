// `wattle power` and `wattle energy`: what the machine draws, until Ctrl-C.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "commands.hpp"
#include "end_signals.hpp"
#include "gpu_choice.hpp"
#include "live_output.hpp"
#include "output.hpp"
#include "power/monitor_parts.hpp"
#include "power_lines.hpp"
#include "privileges.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "tick_wait.hpp"
#include "ticker.hpp"
#include "wattle/error.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;

constexpr int kNothingToMeasure = 2;

/// The kinds of CPU domains that are shown.
std::vector<DomainKind> cpu_kinds(const PowerOptions& options) {
  if (options.gpu_domain) return {};
  if (options.cpu_domain) return {*options.cpu_domain};
  return {DomainKind::package, DomainKind::dram};
}

/// What is to be shown, and why the rest is not. Throws `InvalidArgument` for a GPU that is not
/// there.
Survey look(const PowerOptions& options) {
  const auto environment = [](const char* name) {
    return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread
  };
  const GpuChoice choice = parse_gpu_choice(options.gpus, environment);
  const bool wants_gpus = !choice.none() && !options.cpu_domain;
  const bool tells_gpus = wants_gpus || options.gpu_domain;
  Survey found =
      survey(options.system, machine_clock(), wants_gpus ? DomainKinds::all() : kProcessorKinds);
  if (tells_gpus) keep_chosen(choice, found);
  const std::vector<DomainKind> kinds = cpu_kinds(options);
  std::erase_if(found.sensors, [&](const auto& sensor) {
    return std::ranges::none_of(sensor->channels(), [&](const Channel& channel) {
      const bool is_cpu = kProcessorKinds.contains(channel.domain.kind());
      return is_cpu ? std::ranges::count(kinds, channel.domain.kind()) > 0 : wants_gpus;
    });
  });
  std::erase_if(found.refused, [&](const Refusal& refusal) {
    return refusal.shows.has(DomainCategory::cpu) ? kinds.empty() : !tells_gpus;
  });
  return found;
}

void tell(std::string_view command, std::string_view message) {
  write_to_stderr(fmt::format("wattle {}: {}\n", command, message));
}

void tell_refused(std::vector<Refusal> refused, std::string_view command) {
  (void)take_absent(refused);
  // What else a device cannot tell (its temperature, its energy counter) is not shown anyway.
  std::erase_if(refused, [](const Refusal& refusal) {
    return !refusal.domain && refusal.scope != RefusalScope::interface;
  });
  for (const SharedCause& cause : by_cause(refused)) {
    tell(command,
         fmt::format("not shown: {}: {}", fmt::join(cause.subjects, ", "), cause.refusal.reason));
  }
}

/// The devices that are shown, from a monitor of them.
class Watched {
 public:
  Watched(const PowerMonitor& monitor, const PowerOptions& options)
      : monitor_(monitor), options_(options), begin_(machine_clock().now()) {
    const std::vector<DomainKind> kinds = cpu_kinds(options);
    for (const Domain& domain : monitor.cpu_domains()) {
      if (std::ranges::count(kinds, domain.kind()) > 0) cpus_.push_back(domain);
    }
    has_gpus_ = std::ranges::any_of(monitor.gpu_indices(), [&](std::uint32_t gpu) {
      return options.gpu_domain || monitor.default_domain(gpu) || monitor.has_counter(gpu);
    });
  }

  [[nodiscard]] bool nothing() const { return cpus_.empty() && !has_gpus_; }
  [[nodiscard]] TimePoint begin() const noexcept { return begin_; }

  [[nodiscard]] PowerLine line(TimePoint from, TimePoint to) const {
    PowerLine line{
        .time_unix_s = to_unix(to), .elapsed = to - begin_, .length = to - from, .devices = {}};
    const auto gpus = has_gpus_ ? monitor_.energy(from, to, options_.gpu_domain)
                                : std::map<std::uint32_t, BestEnergy>();
    for (const auto& [gpu, energy] : gpus) {
      line.devices.push_back({PowerMonitorMaker::domain_of(monitor_, gpu), energy});
    }
    const auto energies = monitor_.cpu_energy(from, to);
    for (const Domain& domain : cpus_) {
      BestEnergy energy;
      static_cast<MeasuredEnergy&>(energy) = energies.at(domain);
      line.devices.push_back({domain, std::move(energy)});
    }
    return line;
  }

 private:
  const PowerMonitor& monitor_;
  const PowerOptions& options_;
  TimePoint begin_;
  std::vector<Domain> cpus_;
  bool has_gpus_ = false;  ///< one at least that tells its power
};

void put_totals(const PowerOptions& options, const PowerLine& total, LiveOutput& out) {
  const std::string text = totals_of(options, total, style_of(STDOUT_FILENO));
  // A table holds nothing but its rows.
  if (options.format != PowerFormat::csv) {
    const bool is_written = out.put(text) && !out.has_rest();
    if (is_written || out.is_over()) return;
    // The reader does not read, and nobody is to wait for him.
  }
  try {
    (void)LiveOutput::of_stderr().put(text);
  } catch (const WriteError&) {
    // There is nobody left to tell.
  }
}

void follow(PowerMonitor& monitor, const Watched& watched, const PowerOptions& options,
            const Fd& end) {
  LiveOutput out = LiveOutput::of_stdout();
  Ticker ticker(watched.begin(), options.period, options.period);
  TimePoint from = watched.begin();
  // The columns stay as they are named at the start, whatever becomes of the terminal.
  const TextStyle style = style_of(STDOUT_FILENO);
  (void)out.put(header_of(options, watched.line(from, from), style));
  while (!out.is_over() && wait_for_tick(ticker, out, end)) {
    const TimePoint now = machine_clock().now();
    const bool is_power = options.shows == PowerShows::power;
    const PowerLine line = watched.line(is_power ? from : watched.begin(), now);
    if (out.put(line_of(options, line, style))) from = now;
  }
  const TimePoint ended = machine_clock().now();
  monitor.stop();
  put_totals(options, watched.line(watched.begin(), ended), out);
  out.close();
}

/// What the library has to say goes to stderr for as long as this lives.
class LogToStderr {
 public:
  explicit LogToStderr(std::string_view command) {
    // A thread that was left behind may have something to say when this is gone.
    set_log([command = std::string(command)](std::string_view message) { tell(command, message); });
  }
  LogToStderr(const LogToStderr&) = delete;
  LogToStderr& operator=(const LogToStderr&) = delete;
  ~LogToStderr() { set_log({}); }
};

/// What a power monitor starts its refusals with.
constexpr std::string_view kCannotMonitor = "cannot monitor power: ";

/// A refusal in the words of the sub-command.
std::string cannot_text(std::string_view message, PowerShows shows) {
  if (shows == PowerShows::energy && message.starts_with(kCannotMonitor)) {
    return fmt::format("cannot measure energy: {}", message.substr(kCannotMonitor.size()));
  }
  return std::string(message);
}

int monitor(const PowerOptions& options, std::string_view command) {
  const LogToStderr log(command);
  const Fd end = end_signals();
  Survey found = with_privileges([&] { return look(options); });
  const std::vector<Refusal> refused = found.refused;
  PowerMonitorOptions wanted{
      .update_period = std::min<nanoseconds>(options.period, std::chrono::milliseconds(100))};
  if (options.gpu_domain) wanted.domains = std::vector{*options.gpu_domain};
  try {
    PowerMonitor monitor = PowerMonitorMaker::make(std::move(found), machine_clock(), wanted);
    tell_refused(refused, command);
    const Watched watched(monitor, options);
    if (watched.nothing())
      throw NoSuchDevice(std::string(kCannotMonitor) + "nothing here reports what was asked for");
    follow(monitor, watched, options, end);
  } catch (const NoSuchDevice& none) {
    tell(command, cannot_text(none.what(), options.shows) + "\nwattle doctor says what to do");
    return kNothingToMeasure;
  } catch (const CapabilityError& none) {
    tell_refused(refused, command);
    tell(command, none.what());
    return kNothingToMeasure;
  }
  return 0;
}

}  // namespace

int power(const PowerOptions& options) {
  const std::string_view command = options.shows == PowerShows::power ? "power" : "energy";
  try {
    return monitor(options, command);
  } catch (const InvalidArgument& wrong) {
    write_to_stderr(
        fmt::format("wattle {0}: {1}\nTry: wattle {0} --help\n", command, wrong.what()));
    return kUsageError;
  }
}

}  // namespace wattle::app
