// `wattle power` and `wattle energy`: what the machine draws, until Ctrl-C.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/files/fd.hpp"
#include "cli/privileges.hpp"
#include "cli/shared_options.hpp"
#include "cli/waiting.hpp"
#include "estimate/energy_estimate.hpp"
#include "output/live_output.hpp"
#include "output/output.hpp"
#include "output/screen.hpp"
#include "power/monitor_parts.hpp"
#include "report/estimate_words.hpp"
#include "sampling/readings.hpp"
#include "sensors/domain_traits.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "sensors/refusals.hpp"
#include "watch/power_lines.hpp"
#include "watch/power_text.hpp"
#include "wattle/error.hpp"
#include "wattle/estimate.hpp"
#include "wattle/power_monitor.hpp"

namespace wattle::app {
namespace {

using std::chrono::nanoseconds;

constexpr int kNothingToMeasure = 2;

/// The sub-command.
std::string_view name_of(PowerShows shows) noexcept {
  return shows == PowerShows::power ? "power" : "energy";
}

/// The kinds of CPU domains that are shown.
std::vector<DomainKind> cpu_kinds(const PowerOptions& options) {
  if (options.gpu_domain) return {};
  if (options.cpu_domain) return {*options.cpu_domain};
  return {DomainKind::package, DomainKind::dram};
}

/// The devices to show, and why others are not shown. Throws `InvalidArgument` for a GPU that is
/// not there.
Survey look(const PowerOptions& options) {
  const GpuSelection gpus = parse_gpus(options.gpus);
  const bool wants_gpus = !gpus.is_none() && !options.cpu_domain;
  const bool shows_gpus = wants_gpus || options.gpu_domain;
  const bool wants_others = !options.gpu_domain && !options.cpu_domain;
  DomainKinds wanted = kProcessorKinds;
  if (wants_gpus) wanted.add(DomainKinds::of({DomainCategory::gpu}));
  if (wants_others) wanted.add(DomainKinds::of({DomainCategory::other}));
  Survey found = shows_gpus ? survey_gpus(options.system, wanted, gpus)
                            : survey(options.system, machine_clock(), wanted);
  const std::vector<DomainKind> kinds = cpu_kinds(options);
  std::erase_if(found.sensors, [&](const auto& sensor) {
    return std::ranges::none_of(sensor->channels(), [&](const Channel& channel) {
      if (kProcessorKinds.contains(channel.domain.kind())) {
        return std::ranges::count(kinds, channel.domain.kind()) > 0;
      }
      return wanted.contains(channel.domain.kind());
    });
  });
  std::erase_if(found.refused, [&](const SensorRefusal& refusal) {
    if (refusal.shows.has(DomainCategory::cpu)) return kinds.empty();
    return refusal.shows.has(DomainCategory::gpu) ? !shows_gpus : !wants_others;
  });
  return found;
}

/// True if a counter or gauge shows the energy of CPUs.
bool covers_cpu(const std::vector<std::unique_ptr<Sensor>>& sensors) {
  return std::ranges::any_of(sensors, [](const auto& sensor) {
    return std::ranges::any_of(sensor->channels(), [](const Channel& channel) {
      return channel.gives_energy() && traits_of(channel.domain).in_total == "cpu";
    });
  });
}

/// `hint`: what to do where the energy of CPUs is among it; may be empty.
void print_refused(std::vector<SensorRefusal> refused, std::string_view command,
                   std::string_view hint) {
  (void)take_absent(refused);
  // Other missing channels (temperature, energy counter) are not shown anyway.
  std::erase_if(refused, [](const SensorRefusal& refusal) {
    return !refusal.domain && refusal.scope != RefusalScope::interface;
  });
  for (const SharedCause& cause : by_cause(refused)) {
    const bool has_hint = !hint.empty() && cause.refusal.shows.has(DomainCategory::cpu);
    print_message(
        command, "not shown",
        fmt::format("{}{}{}", cause_text(cause), has_hint ? "\n  or: " : "", has_hint ? hint : ""));
  }
}

/// Takes the sensors out that a power monitor has no place for: neither of CPUs nor of GPUs.
std::vector<std::unique_ptr<Sensor>> take_others(Survey& found) {
  const auto first = std::stable_partition(
      found.sensors.begin(), found.sensors.end(), [](const std::unique_ptr<Sensor>& sensor) {
        return sensor->channels().front().domain.category() != DomainCategory::other;
      });
  std::vector<std::unique_ptr<Sensor>> others(std::make_move_iterator(first),
                                              std::make_move_iterator(found.sensors.end()));
  found.sensors.erase(first, found.sensors.end());
  return others;
}

/// The range of the machine's energy until the last `read`: since the start, and since the line
/// before.
class MachineEstimate {
 public:
  explicit MachineEstimate(const System& system) : machine_({.system = system}) {
    read();
    begin_ = line_ = now_;
  }
  void read() { now_ = machine_.read(); }
  [[nodiscard]] EnergyEstimate since_begin() const { return machine_.estimate(begin_, now_); }
  [[nodiscard]] EnergyEstimate since_line() const { return machine_.estimate(line_, now_); }
  void end_line() { line_ = now_; }

 private:
  EstimatedMachine machine_;
  std::optional<CpuMoment> begin_{};
  std::optional<CpuMoment> line_{};
  std::optional<CpuMoment> now_{};
};

/// The devices that are shown, from a monitor of them and the readings of the others.
class Watched {
 public:
  /// `monitor`: null where only others are shown, or an estimate.
  Watched(const PowerMonitor* monitor, Readings& others, const PowerOptions& options,
          bool is_estimated)
      : monitor_(monitor), others_(others), shown_(others.no_capture()), options_(options) {
    read_others();
    if (is_estimated) estimates_.emplace(options.system);
    begin_ = machine_clock().now();
    if (monitor == nullptr) return;
    const std::vector<DomainKind> kinds = cpu_kinds(options);
    for (const Domain& domain : monitor->cpu_domains()) {
      if (std::ranges::count(kinds, domain.kind()) > 0) cpus_.push_back(domain);
    }
    has_gpus_ = std::ranges::any_of(monitor->gpu_indices(), [&](std::uint32_t gpu) {
      return options.gpu_domain || monitor->default_domain(gpu) || monitor->has_counter(gpu);
    });
  }

  [[nodiscard]] bool nothing() const {
    return cpus_.empty() && !has_gpus_ && others_.domains().empty() && !estimates_;
  }
  [[nodiscard]] TimePoint begin() const noexcept { return begin_; }
  /// Must be called before a line that ends now: a monitor reads for itself.
  void read_others() {
    if (estimates_) estimates_->read();
    constexpr std::chrono::milliseconds kPatience(100);
    others_.read(shown_);
    (void)others_.read_lanes(shown_, machine_clock().now() + kPatience);
  }
  /// The next line's time starts.
  void end_line() {
    if (estimates_) estimates_->end_line();
  }

  [[nodiscard]] PowerLine line(TimePoint from, TimePoint to) const {
    PowerLine line{
        .time_unix_s = to_unix(to), .elapsed = to - begin_, .length = to - from, .devices = {}};
    if (estimates_) {
      line.estimate = from == begin_ ? estimates_->since_begin() : estimates_->since_line();
    }
    if (monitor_ != nullptr) add_monitored(line, from, to);
    const std::vector<Domain> others = others_.domains();
    for (std::size_t i = 0; i < others.size(); ++i) {
      line.devices.push_back({others[i], others_.energy(i, {.begin = from, .end = to}).best()});
    }
    return line;
  }

 private:
  void add_monitored(PowerLine& line, TimePoint from, TimePoint to) const {
    const auto gpus = has_gpus_ ? monitor_->energy(from, to, options_.gpu_domain)
                                : std::map<std::uint32_t, BestEnergy>();
    for (const auto& [gpu, energy] : gpus) {
      line.devices.push_back({PowerMonitorMaker::domain_of(*monitor_, gpu), energy});
    }
    const auto energies = monitor_->cpu_energy(from, to);
    for (const Domain& domain : cpus_) {
      BestEnergy energy;
      static_cast<MeasuredEnergy&>(energy) = energies.at(domain);
      line.devices.push_back({domain, std::move(energy)});
    }
  }

  const PowerMonitor* monitor_;
  Readings& others_;
  Capture shown_;  ///< by the others; their windows are looked up
  const PowerOptions& options_;
  TimePoint begin_;
  std::vector<Domain> cpus_;
  bool has_gpus_ = false;  ///< one at least has a power
  std::optional<MachineEstimate> estimates_;
};

/// True where the values are redrawn in place.
bool is_drawn(const PowerOptions& options) {
  return options.format == PowerFormat::text && can_replace_lines(STDOUT_FILENO);
}

/// Prints the values: a line for each period, or a table that is redrawn.
class PowerOutput {
 public:
  PowerOutput(const PowerOptions& options, const PowerLine& first) : options_(options) {
    if (is_drawn(options)) screen_.emplace(true);
    // The columns keep their names, also if the terminal's size changes.
    if (!screen_) header_ = header_of(options, first, style_);
  }
  /// False if there was no room for it.
  bool put(const PowerLine& line, LiveOutput& out) {
    if (screen_) return out.put(drawn(line));
    if (!out.put(header_ + line_of(options_, line, style_))) return false;
    header_.clear();
    return true;
  }
  /// Before the first period has passed.
  void start(const PowerLine& first, LiveOutput& out) {
    if (screen_) {
      (void)out.put(drawn(first));
    } else if (out.put(header_)) {
      header_.clear();
    }
  }
  /// The totals, which replace a table.
  [[nodiscard]] Redrawn totals(const PowerLine& total) {
    std::string text = totals_of(options_, total, style_of(STDOUT_FILENO));
    if (!screen_) return {.movement = "", .text = std::move(text)};
    return screen_->redraw(text.substr(text.find_first_not_of('\n')), screen_size(STDOUT_FILENO));
  }

 private:
  [[nodiscard]] Redrawn drawn(const PowerLine& line) {
    const ScreenSize size = screen_size(STDOUT_FILENO);
    TextStyle style = style_;
    style.width = size.columns;
    return screen_->redraw(power_table(options_, line, style, size.lines), size);
  }

  const PowerOptions& options_;
  TextStyle style_ = style_of(STDOUT_FILENO);
  std::string header_{};
  std::optional<Screen> screen_{};
};

void put_totals(const PowerOptions& options, const Redrawn& text, LiveOutput& out) {
  // A table holds nothing but its rows.
  if (options.format != PowerFormat::csv) {
    const bool is_written = out.put(text) && !out.has_rest();
    if (is_written || out.is_over()) return;
    // The reader does not read, and Wattle does not wait for it.
  }
  try {
    (void)LiveOutput::of_stderr().put(text);
  } catch (const WriteError&) {
    // There is no other place for the text.
  }
}

void follow(PowerMonitor* monitor, Watched& watched, const PowerOptions& options, const Fd& end) {
  LiveOutput out = LiveOutput::of_stdout();
  Ticker ticker(watched.begin(), options.period, options.period);
  TimePoint from = watched.begin();
  const PowerLine first = watched.line(from, from);
  PowerOutput output(options, first);
  output.start(first, out);
  while (!out.is_over() && wait_for_tick(ticker, out, end)) {
    const TimePoint now = machine_clock().now();
    watched.read_others();
    const bool is_power = options.shows == PowerShows::power;
    const PowerLine line = watched.line(is_power ? from : watched.begin(), now);
    if (!output.put(line, out)) continue;
    from = now;
    watched.end_line();
  }
  const TimePoint ended = machine_clock().now();
  watched.read_others();
  if (monitor != nullptr) monitor->stop();
  put_totals(options, output.totals(watched.line(watched.begin(), ended)), out);
  out.close();
}

/// The start of a power monitor's refusals.
constexpr std::string_view kCannotMonitor = "cannot monitor power: ";

/// A refusal in the words of the sub-command.
std::string cannot_text(std::string_view message, PowerShows shows) {
  if (shows == PowerShows::energy && message.starts_with(kCannotMonitor)) {
    return fmt::format("cannot measure energy: {}", message.substr(kCannotMonitor.size()));
  }
  return std::string(message);
}

/// Null where all that is shown is of others, or estimated. Throws `NoSuchDevice`.
std::unique_ptr<PowerMonitor> monitor_of(Survey found, const Readings& others,
                                         const PowerMonitorOptions& wanted, bool is_estimated) {
  if (!others.domains().empty() && found.sensors.empty()) return nullptr;
  try {
    // It cannot be moved, as std::make_unique would.
    return std::unique_ptr<PowerMonitor>(  // NOLINT(modernize-make-unique)
        new PowerMonitor(PowerMonitorMaker::make(std::move(found), machine_clock(), wanted)));
  } catch (const NoSuchDevice&) {
    if (!is_estimated) throw;
    return nullptr;
  }
}

}  // namespace

int execute(const PowerOptions& options) {
  const std::string_view command = name_of(options.shows);
  const ScreenMessages messages(command, is_drawn(options));
  const Fd end = end_signals();
  Survey found = with_kept_updates(with_privileges([&] { return look(options); }));
  const std::vector<SensorRefusal> refused = found.refused;
  PowerMonitorOptions wanted{
      .update_period = std::min<nanoseconds>(options.period, std::chrono::milliseconds(100))};
  if (options.gpu_domain) wanted.domains = std::vector{*options.gpu_domain};
  const bool lacks_cpu = !options.gpu_domain && !options.cpu_domain && !covers_cpu(found.sensors);
  const bool is_estimated = options.estimate && lacks_cpu;
  const std::string hint = lacks_cpu && !is_estimated ? kEstimateHint : "";
  try {
    Readings others(take_others(found), machine_clock(), {.period = *wanted.update_period});
    const auto monitor = monitor_of(std::move(found), others, wanted, is_estimated);
    print_refused(refused, command, hint);
    Watched watched(monitor.get(), others, options, is_estimated);
    if (watched.nothing())
      throw NoSuchDevice(std::string(kCannotMonitor) + "nothing here reports what was asked for");
    follow(monitor.get(), watched, options, end);
  } catch (const NoSuchDevice& none) {
    print_message(command, fmt::format("{}\n  fix: see wattle doctor{}{}",
                                       cannot_text(none.what(), options.shows),
                                       hint.empty() ? "" : "\n  or: ", hint));
    return kNothingToMeasure;
  } catch (const CapabilityError& none) {
    print_refused(refused, command, hint);
    print_message(command, none.what());
    return kNothingToMeasure;
  }
  return 0;
}

}  // namespace wattle::app
