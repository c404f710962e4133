#include "run/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/call_with_deadline.hpp"
#include "base/clock.hpp"
#include "base/json/json_write.hpp"
#include "base/text/quantity.hpp"
#include "sampling/counters/fed_counter.hpp"
#include "sensors/known_sensors.hpp"

namespace wattle::app {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// The longest time that a driver may take for one reading.
constexpr seconds kAnswerTime{2};
constexpr std::string_view kNoAnswer = "the driver did not answer within 2 s";

/// Channels that are read together.
struct MeasuringPhase {
  ChannelSet channels;
  Polling polling;
};

// Counters of CPUs are renewed each millisecond: hundreds of times.
constexpr Polling kCounters{.length = milliseconds(500)};
// Power and energy of a GPU are renewed each 20 to 100 ms: at least 40 times. A driver's lock
// belongs to everybody on the machine, so a millisecond remains for others.
constexpr Polling kPower{.length = seconds(4), .pause = milliseconds(1)};
constexpr Polling kOthers{.length = milliseconds(1500), .pause = milliseconds(1)};
constexpr Polling kCostly{.length = milliseconds(1000), .pause = milliseconds(100)};

std::vector<MeasuringPhase> phases_of(const Sensor& sensor, ChannelSet wanted) {
  if (!sensor.may_block()) return {{.channels = wanted, .polling = kCounters}};
  MeasuringPhase power{.channels = {}, .polling = kPower};
  MeasuringPhase others{.channels = {}, .polling = kOthers};
  MeasuringPhase costly{.channels = {}, .polling = kCostly};
  for (std::size_t i = 0; i < sensor.channels().size(); ++i) {
    if (!wanted[i]) continue;
    const Channel& channel = sensor.channels()[i];
    const bool is_power =
        channel.metric == Metric::energy || channel.metric == Metric::power_instant ||
        channel.metric == Metric::power_average || channel.metric == Metric::power_memory;
    MeasuringPhase& phase = channel.costly ? costly : is_power ? power : others;
    phase.channels.set(i);
  }
  std::vector<MeasuringPhase> phases = {power, others, costly};
  std::erase_if(phases, [](const MeasuringPhase& phase) { return phase.channels.none(); });
  return phases;
}

/// The findings about the channels of a sensor.
struct Results {
  std::vector<std::optional<Observation>> seen;
  std::vector<WatchedGauge> gauges{};
  std::optional<CounterFeed> feed{};

  explicit Results(std::size_t channels) : seen(channels) {}
  [[nodiscard]] MeasuredChannel of(std::size_t place, const Channel& channel) const {
    MeasuredChannel found{.channel = channel, .seen = seen[place]};
    const auto gauge = std::ranges::find(gauges, place, &WatchedGauge::channel);
    if (gauge != gauges.end()) found.window = gauge->answer;
    if (channel.counts_energy()) found.feed = feed;
    return found;
  }
};

void take_results(Results& results, const MeasuringPhase& phase,
                  const std::vector<Observation>& seen) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (phase.channels[i]) results.seen[i] = seen[i];
  }
}

/// The driver hung, for each gauge that was to be watched.
std::vector<WatchedGauge> unanswered(const Sensor& sensor) {
  std::vector<WatchedGauge> gauges;
  const auto channels = sensor.channels();
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!is_window_open(channels[i])) continue;
    gauges.push_back({.channel = i, .answer = {.found = {}, .reason = kNoAnswer}});
  }
  return gauges;
}

/// Takes the sensor: its driver may never let go of it. Goes through the phases for as long as the
/// driver answers. What it did not answer is absent.
Results measure_apart(std::unique_ptr<Sensor> owned, const std::vector<MeasuringPhase>& phases,
                      nanoseconds watched) {
  const std::shared_ptr<Sensor> sensor = std::move(owned);
  Results results(sensor->channels().size());
  for (const MeasuringPhase& phase : phases) {
    const auto run = [sensor, phase](std::size_t, const auto& is_awaited) {
      return observe(*sensor, phase.channels, phase.polling, machine_clock(), is_awaited);
    };
    const auto seen =
        call_with_deadline<std::vector<Observation>>(1, kAnswerTime, run, Patience::renewed)
            .front();
    if (!seen) {
      if (watched > nanoseconds(0)) results.gauges = unanswered(*sensor);
      return results;
    }
    take_results(results, phase, *seen);
  }
  if (watched <= nanoseconds(0)) return results;
  if (is_feed_open(*sensor)) {
    const auto watch = [sensor, watched](std::size_t, const auto& is_awaited) {
      return watch_feed(*sensor, watched, machine_clock(), is_awaited);
    };
    const auto feed =
        call_with_deadline<CounterFeed>(1, kAnswerTime, watch, Patience::renewed).front();
    results.feed = feed.value_or(CounterFeed::unknown);
    return results;
  }
  const auto watch = [sensor, watched](std::size_t, const auto& is_awaited) {
    return watch_gauges(*sensor, watched, machine_clock(), is_awaited);
  };
  auto gauges =
      call_with_deadline<std::vector<WatchedGauge>>(1, kAnswerTime, watch, Patience::renewed)
          .front();
  results.gauges = gauges ? *std::move(gauges) : unanswered(*sensor);
  return results;
}

Results measure_here(Sensor& sensor, const std::vector<MeasuringPhase>& phases) {
  Results results(sensor.channels().size());
  for (const MeasuringPhase& phase : phases) {
    take_results(results, phase, observe(sensor, phase.channels, phase.polling, machine_clock()));
  }
  return results;
}

/// The sensor's channels that no sensor before it has shown.
ChannelSet new_channels(const Sensor& sensor, const std::vector<MeasuredChannel>& measured) {
  return channels_where(sensor,
                        [&](const Channel& channel) { return find(measured, channel) == nullptr; });
}

nanoseconds length_of(const std::vector<MeasuringPhase>& phases) {
  nanoseconds length{0};
  for (const MeasuringPhase& phase : phases) length += phase.polling.length;
  return length;
}

/// For how long the gauges of a sensor are watched: only those that need it are.
nanoseconds watching(const Sensor& sensor, nanoseconds watched) {
  const bool is_any =
      sensor.may_block() &&
      (is_feed_open(sensor) || std::ranges::any_of(sensor.channels(), is_window_open));
  return is_any ? watched : nanoseconds(0);
}

/// The longest time of all sensors, as if each showed something that no other does.
nanoseconds longest(const std::vector<Survey>& surveys, nanoseconds watched) {
  nanoseconds length{0};
  for (const Survey& found : surveys) {
    for (const std::unique_ptr<Sensor>& sensor : found.sensors) {
      length += length_of(phases_of(*sensor, ChannelSet().set()));
      length += watching(*sensor, watched);
    }
  }
  return length;
}

/// "1.002 ms", "85.2 µs": finer than times of a report are.
std::string fine_text(nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  const auto in = [&](double unit_ns, const char* unit) {
    const double value = ns / unit_ns;
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  };
  if (ns < 1e3) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e6) return in(1e3, "µs");
  return ns < 1e9 ? in(1e6, "ms") : in(1e9, "s");
}

std::string value_text(const Channel& channel, std::uint64_t raw) {
  const double value = static_cast<double>(raw) * channel.scale();
  const std::string_view unit = unit_of(channel.metric);
  if (unit == "J") return to_text(Joules(value));
  if (unit == "W") return to_text(Watts(value));
  return fmt::format("{:.4g} {}", value, unit);
}

/// Why the period is not known, or not more than a bound; empty where it is known.
std::string reason_of(const MeasuredChannel& measured) {
  if (!measured.seen) return std::string(kNoAnswer);
  const PeriodDoubt doubt = measured.seen->doubt;
  std::string reason(to_string(doubt));
  if (doubt == PeriodDoubt::no_change || doubt == PeriodDoubt::few_changes) {
    reason += fmt::format(" in {}", fine_text(measured.seen->length));
  }
  return reason;
}

/// The assumed value, if it differs from the measured one.
std::string assumed_text(const UpdateInterval& assumed, const UpdateInterval& found) {
  constexpr double kSame = 0.1;
  if (!assumed.known()) return "";
  const double apart_ns = std::abs(static_cast<double>((found.mean - assumed.mean).count()));
  if (apart_ns <= kSame * static_cast<double>(found.mean.count())) return "";
  return fmt::format(" (assumed: {})", fine_text(assumed.mean));
}

/// `reason`: of `reason_of`.
std::string period_text(const Channel& channel, const Observation& seen,
                        const std::string& reason) {
  const std::string assumed = assumed_text(channel.update, seen.interval);
  if (seen.at_most) {
    return fmt::format("renewed every {} or more often{}: {}", fine_text(*seen.at_most), assumed,
                       reason);
  }
  if (!seen.interval.known()) {
    return fmt::format("unknown how often it is renewed{}: {}", assumed, reason);
  }
  return fmt::format("renewed every {}{}, spread {}, 99 % within {}", fine_text(seen.interval.mean),
                     assumed, fine_text(seen.interval.spread), fine_text(seen.interval.p99));
}

std::string window_text(const GaugeWindowAnswer& answer) {
  if (!answer.found) {
    return fmt::format("unknown how much of the time it sees: {}\n", answer.reason);
  }
  const GaugeWindowFound& found = *answer.found;
  const auto time = [](double time_s) {
    return fine_text(nanoseconds(std::llround(time_s * 1e9)));
  };
  return fmt::format(
      "sees {:.0f} % (±{:.0f} %) of the time: a mean over {} every {}, by {} steps\n",
      100.0 * found.coverage(), 100.0 * found.coverage_uncertainty(), time(found.window_s),
      time(found.update_s), found.steps);
}

Json seconds_json(nanoseconds time) { return Seconds(time).count(); }

}  // namespace

std::vector<MeasuredChannel> measure(std::vector<Survey>& surveys, nanoseconds watched,
                                     const std::function<void(std::string_view)>& show) {
  std::vector<MeasuredChannel> measured;
  nanoseconds left = longest(surveys, watched);
  for (Survey& found : surveys) {
    for (std::unique_ptr<Sensor>& sensor : found.sensors) {
      const ChannelSet wanted = new_channels(*sensor, measured);
      if (wanted.none()) continue;
      const std::vector<Channel> channels(sensor->channels().begin(), sensor->channels().end());
      const std::vector<MeasuringPhase> phases = phases_of(*sensor, wanted);
      if (show) {
        show(fmt::format("measuring {}, about {:.0f} s left", channels.front().domain.name(),
                         std::ceil(Seconds(left).count())));
      }
      const nanoseconds watched_here = watching(*sensor, watched);
      left -= length_of(phases) + watched_here;
      const Results results = sensor->may_block()
                                  ? measure_apart(std::move(sensor), phases, watched_here)
                                  : measure_here(*sensor, phases);
      for (std::size_t i = 0; i < channels.size(); ++i) {
        if (wanted[i]) measured.push_back(results.of(i, channels[i]));
      }
    }
    std::erase(found.sensors, nullptr);
  }
  return measured;
}

const MeasuredChannel* find(const std::vector<MeasuredChannel>& measured,
                            const Channel& channel) noexcept {
  const auto found = std::ranges::find_if(measured, [&](const MeasuredChannel& one) {
    return one.channel.domain == channel.domain && one.channel.metric == channel.metric &&
           one.channel.scope == channel.scope;
  });
  return found != measured.end() ? &*found : nullptr;
}

UpdateInterval update_of(const GaugeWindowFound& found) noexcept {
  // Boards of one kind differ by that.
  constexpr double kSpread = 0.01;
  constexpr double kP99 = 1.025;
  const auto in_ns = [](double seconds) { return nanoseconds(std::llround(seconds * 1e9)); };
  return {.mean = in_ns(found.update_s),
          .spread = in_ns(kSpread * found.update_s),
          .p99 = in_ns(kP99 * found.update_s),
          .is_observed = true};
}

nanoseconds window_of(const GaugeWindowFound& found) noexcept {
  const bool may_be_all = found.window_s + found.window_uncertainty_s >= found.update_s;
  return nanoseconds(std::llround((may_be_all ? found.update_s : found.window_s) * 1e9));
}

Channel with_discovered(Channel channel, const MeasuredChannel& measured) {
  if (measured.window && measured.window->found) {
    const GaugeWindowFound& found = *measured.window->found;
    channel.update = update_of(found);
    channel.gauge.window = window_of(found);
    channel.gauge.coverage = Seconds(window_of(found)) / Seconds(channel.update.mean);
    return channel;
  }
  if (measured.feed && *measured.feed != CounterFeed::unknown) {
    channel.counter.feed = *measured.feed;
  }
  if (!measured.seen) return channel;
  if (measured.seen->interval.known()) channel.update = measured.seen->interval;
  const GaugeFacts facts{.window = channel.gauge.window, .update = channel.update};
  if (const auto coverage = facts.coverage()) channel.gauge.coverage = coverage;
  return channel;
}

std::string measured_text(const MeasuredChannel& measured) {
  constexpr const char* kIndent = "\t  ";
  if (!measured.seen) return fmt::format("{}measured: {}\n", kIndent, reason_of(measured));
  const Observation& seen = *measured.seen;
  std::string text = fmt::format("{}measured: {}\n", kIndent,
                                 period_text(measured.channel, seen, reason_of(measured)));
  if (seen.readings == 0) return text;
  text += kIndent;
  if (seen.changes > 0) {
    text +=
        fmt::format("changes by {}, at least {}; ", value_text(measured.channel, seen.median_step),
                    value_text(measured.channel, seen.least_step));
  }
  if (seen.monotonic) text += *seen.monotonic ? "never fell; " : "FELL; ";
  text += fmt::format("a reading takes {}, at most {}\n", fine_text(seen.call),
                      fine_text(seen.longest_call));
  if (measured.window) return text + kIndent + window_text(*measured.window);
  if (measured.feed == CounterFeed::unknown) {
    return text + kIndent +
           "unknown whether it adds up what the power gauge shows: the load was too steady, or in "
           "step with it\n";
  }
  if (is_window_open(measured.channel)) {
    text += kIndent + std::string(
                          "unknown how much of the time it sees: --watch-load shows it, if "
                          "there is an energy counter\n");
  }
  return text;
}

nlohmann::ordered_json window_json(const GaugeWindowAnswer& answer) {
  const GaugeWindowFound found = answer.found.value_or(GaugeWindowFound{.update_s = 1.0});
  const auto when = [&](Json value) { return answer.found ? std::move(value) : Json(); };
  return {{"window_s", when(found.window_s)},
          {"window_uncertainty_s", when(found.window_uncertainty_s)},
          {"period_s", when(found.update_s)},
          {"coverage", when(found.coverage())},
          {"coverage_uncertainty", when(found.coverage_uncertainty())},
          {"steps", when(found.steps)},
          {"reason", answer.found ? Json() : Json(answer.reason)}};
}

nlohmann::ordered_json measured_json(const MeasuredChannel& measured) {
  const std::string reason = reason_of(measured);
  const nanoseconds assumed = measured.channel.update.mean;
  const Observation seen = measured.seen.value_or(Observation{});
  const bool read = seen.readings != 0;
  const bool changed = seen.changes != 0;
  const bool known = seen.interval.known();
  const auto when = [](bool is_known, Json value) { return is_known ? std::move(value) : Json(); };
  return {
      {"length_s", when(read, seconds_json(seen.length))},
      {"readings", when(measured.seen.has_value(), seen.readings)},
      {"failed", when(measured.seen.has_value(), seen.failed)},
      {"changes", when(read, seen.changes)},
      {"poll_s", when(seen.readings > 1, seconds_json(seen.poll))},
      {"period_s", when(known, seconds_json(seen.interval.mean))},
      {"jitter_s", when(known, seconds_json(seen.interval.spread))},
      {"p99_s", when(known, seconds_json(seen.interval.p99))},
      {"period_at_most_s",
       when(seen.at_most.has_value(), seconds_json(seen.at_most.value_or(nanoseconds(0))))},
      {"assumed_period_s", when(assumed > nanoseconds(0), seconds_json(assumed))},
      {"step", when(changed, static_cast<double>(seen.median_step) * measured.channel.scale())},
      {"step_raw", when(changed, seen.median_step)},
      {"least_step_raw", when(changed, seen.least_step)},
      {"call_s", when(read, seconds_json(seen.call))},
      {"call_max_s", when(read, seconds_json(seen.longest_call))},
      {"monotonic", or_null(seen.monotonic)},
      {"reason", when(!reason.empty(), reason)},
  };
}

}  // namespace wattle::app
