#include "power/power_monitor_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/text.hpp"
#include "power/update_period.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Each history needs this much, events and some thousand samples.
constexpr std::size_t kLeastBytesEach = std::size_t{128} << 10U;
static_assert(kLeastBytesEach >= kHistoryEventBytes + 2 * kMinTimelineBytes);

/// Two of these, one for a last reading and one for the end, are within what `stop` may take.
constexpr nanoseconds kStopPatience = milliseconds(40);

std::size_t bytes_each(std::size_t memory_limit, std::size_t channels) {
  const std::size_t share = memory_limit / std::max<std::size_t>(channels, 1);
  if (share >= kLeastBytesEach) return share - kHistoryEventBytes;
  throw InvalidArgument(
      fmt::format("cannot monitor power: memory_limit must be at least {} bytes here, {} for each "
                  "of {} domains, not {}",
                  kLeastBytesEach * channels, kLeastBytesEach, channels, memory_limit));
}

/// The number of periods between two readings of a GPU's counter: about its update interval.
unsigned counter_ticks(const Sensor& sensor, ChannelSet counter, nanoseconds period) {
  nanoseconds update = kAssumedUpdate;
  for (std::size_t i = 0; i < std::min(sensor.channels().size(), counter.size()); ++i) {
    const Channel& channel = sensor.channels()[i];
    if (counter[i] && channel.update.known()) update = channel.update.mean;
  }
  return ticks_in(update, period);
}

/// Often enough that no counter can wrap unseen.
nanoseconds cpu_period(const Selection& selection, nanoseconds period) {
  for (const auto& sensor : selection.cpus) {
    for (const Channel& channel : sensor->channels()) {
      if (channel.counts_energy()) period = std::min(period, keeper_period(channel.counter));
    }
  }
  return period;
}

/// The first time that can be computed with; the last is as far from it.
constexpr TimePoint kFirst{};
constexpr TimePoint kLast{nanoseconds(std::int64_t{1} << 62U)};

[[noreturn]] void refuse_window() {
  throw InvalidArgument(
      "cannot report power over this window: it ends before it starts, or an end is not a "
      "number");
}

}  // namespace

PowerWindow PowerWindow::of(std::optional<TimePoint> start, std::optional<TimePoint> end) {
  if (start && end && *end < *start) refuse_window();
  return {.start = std::clamp(start.value_or(kFirst), kFirst, kLast),
          .end = std::clamp(end.value_or(kLast), kFirst, kLast)};
}

PowerWindow PowerWindow::of_unix(double start_unix_s, double end_unix_s) {
  if (!(start_unix_s <= end_unix_s)) refuse_window();
  PowerWindow window = of(from_unix(start_unix_s), from_unix(end_unix_s));
  if (wall_clock_stepped(window.start, window.end)) window.flags.set(Flag::clock_stepped);
  return window;
}

PowerWindow PowerWindow::of_unix_times(double start_unix_s, double end_unix_s) {
  const PowerWindow window = of_unix(start_unix_s, end_unix_s);
  return {.start = std::max(window.start - kUnixRounding, kFirst),
          .end = std::min(window.end + kUnixRounding, kLast)};
}

std::optional<PowerDomain> MonitoredGpu::default_domain() const noexcept {
  for (const PowerDomain domain : {PowerDomain::device_instant, PowerDomain::device_average,
                                   PowerDomain::module_instant, PowerDomain::module_average}) {
    if (history(domain) != nullptr) return domain;
  }
  return std::nullopt;
}

PowerMonitor::Impl::Impl(const Selection& selection, const TimeSource& clock,
                         const PowerMonitorOptions& options, ReadBy reader)
    : missing_(selection.missing), most_samples_(options.max_samples_per_gpu) {
  const std::size_t bytes = bytes_each(options.memory_limit, selection.channels());
  InferredPace pace;
  if (!options.update_period) pace = infer_pace(selection.gpus, clock);
  period_ = options.update_period.value_or(pace.period);
  const LaneOptions gpu_lane{
      .period = period_,
      .longest_backoff =
          options.update_period ? 1 : static_cast<int>(ticks_in(kLongestPeriod, period_)),
      .patience = kStopPatience};
  const LaneOptions cpu_lane{.period = cpu_period(selection, period_), .patience = kStopPatience};

  // All that takes memory comes before the first thread.
  std::vector<ReadingWork> work;
  work.reserve(selection.gpus.size() + 1);
  for (const Selection::SelectedGpu& gpu : selection.gpus) {
    work.push_back(gpu_work(gpu, pace.channels_of(*gpu.sensor), gpu_lane, bytes));
  }
  if (!selection.cpus.empty()) work.push_back(cpu_work(selection, cpu_lane, bytes));
  std::ranges::sort(cpus_, {}, &MonitoredCpu::domain);
  domains_.reserve(cpus_.size());
  for (const MonitoredCpu& cpu : cpus_) domains_.push_back(cpu.domain);
  faults_ = std::make_shared<FaultReport>(watched_);
  for (ReadingWork& part : work) part.is_prompt = reader == ReadBy::caller;
  readings_.emplace(std::move(work), clock);
  if (reader == ReadBy::caller) return;
  reporting_ = std::make_unique<Worker>(Worker::every(std::chrono::seconds(1), reporting()),
                                        "the sampling thread");
  readings_->wait_for_first(clock.now() + kDriverPatience);
}

ReadingWork PowerMonitor::Impl::gpu_work(const Selection::SelectedGpu& gpu,
                                         std::vector<Channel> channels, const LaneOptions& lane,
                                         std::size_t bytes) {
  const auto watched = std::make_shared<WatchedSensor>(gpu.sensor, std::move(channels));
  ReadingWork work{.lane = lane};
  MonitoredGpu monitored{.index = gpu.index, .device = gpu_domain_of(*gpu.sensor)};
  const std::size_t kept = most_samples_ ? timeline_bytes_for(*most_samples_) : bytes;
  for (const History& history : work.add(watched, gpu.channels, std::min(bytes, kept))) {
    const auto domain = power_domain_of(history.channel());
    if (domain) monitored.histories.at(place_of(*domain)) = &history;
  }
  if (gpu.counter.any()) {
    const unsigned every = counter_ticks(*gpu.sensor, gpu.counter, lane.period);
    monitored.counter = &work.add(watched, gpu.counter, bytes, every).front();
  }
  indices_.push_back(gpu.index);
  watched_.push_back({.gpu = gpu_text(gpu.index, monitored.device), .sensor = watched});
  gpus_.push_back(monitored);
  return work;
}

ReadingWork PowerMonitor::Impl::cpu_work(const Selection& selection, const LaneOptions& lane,
                                         std::size_t bytes) {
  ReadingWork work{.lane = lane};
  for (const auto& sensor : selection.cpus) {
    for (const History& history : work.add(sensor, energy_channels(*sensor), bytes)) {
      cpus_.push_back({.domain = history.channel().domain, .history = &history});
    }
  }
  return work;
}

Worker::Job PowerMonitor::Impl::reporting() const {
  return [faults = faults_] {
    faults->report();
    (void)to_unix(TimePoint{});  // the first call after a step of the wall clock dates it
  };
}

void PowerMonitor::Impl::stop() noexcept {
  if (stopped_.exchange(true)) return;
  const TimePoint begin = std::chrono::steady_clock::now();
  const TimePoint end_by = begin + 2 * kStopPatience;
  try {
    (void)readings_->read_now(begin + kStopPatience);
  } catch (const std::exception&) {
    // Out of memory: the newest readings are those of the last period.
  }
  readings_->stop(end_by);
  try {
    if (reporting_ && reporting_->add(reporting())) {
      (void)reporting_->finish(
          std::max<nanoseconds>(end_by - std::chrono::steady_clock::now(), nanoseconds(0)));
    }
  } catch (const std::exception&) {
    // Out of memory: the log lacks what was counted last.
  }
}

bool PowerMonitor::Impl::read_now(nanoseconds patience) const {
  return !stopped_ && readings_->read_now(std::chrono::steady_clock::now() + patience);
}

void PowerMonitor::Impl::catch_up(const PowerWindow& window, bool is_gpu) const {
  // A GPU's driver is not asked more often than its values are renewed.
  constexpr nanoseconds kFreshEnoughGpu = milliseconds(10);
  constexpr nanoseconds kPatience = milliseconds(100);
  if (stopped_) return;
  const TimePoint now = readings_->clock().now();
  const TimePoint wanted = std::min(window.end, is_gpu ? now - kFreshEnoughGpu : now);
  std::vector<const History*> shown;
  if (is_gpu) {
    for (const MonitoredGpu& gpu : gpus_) {
      shown.push_back(gpu.counter);
      shown.insert(shown.end(), gpu.histories.begin(), gpu.histories.end());
    }
  } else {
    for (const MonitoredCpu& cpu : cpus_) shown.push_back(cpu.history);
  }
  readings_->catch_up(shown, wanted, std::chrono::steady_clock::now() + kPatience);
}

const MonitoredGpu& PowerMonitor::Impl::gpu(std::uint32_t index) const {
  const auto found = std::ranges::find(gpus_, index, &MonitoredGpu::index);
  if (found != gpus_.end()) return *found;
  throw NoSuchDevice(indices_.empty()
                         ? fmt::format("GPU {} is not monitored, nor is any other", index)
                         : fmt::format("GPU {} is not monitored; {} {}", index,
                                       fmt::join(indices_, ", "),
                                       indices_.size() == 1 ? "is" : "are"));
}

const MonitoredCpu& PowerMonitor::Impl::cpu(const Domain& domain) const {
  const auto found = std::ranges::find(cpus_, domain, &MonitoredCpu::domain);
  if (found != cpus_.end()) return *found;
  const std::string name = domain.name();
  throw NoSuchDomain(domains_.empty() ? name + " is not monitored, nor is any other CPU domain"
                                      : fmt::format("{} is not monitored; {} {}", name,
                                                    joined(domains_, ", ", &Domain::name),
                                                    domains_.size() == 1 ? "is" : "are"),
                     name);
}

void PowerMonitor::Impl::require_power(std::optional<PowerDomain> domain) const {
  const bool is_there = std::ranges::any_of(gpus_, [&](const MonitoredGpu& gpu) {
    return domain ? gpu.history(*domain) != nullptr : gpu.default_domain().has_value();
  });
  if (is_there || gpus_.empty()) return;
  refuse("power", domain ? to_string(*domain) : "device_instant or device_average");
}

void PowerMonitor::Impl::require_energy(std::optional<PowerDomain> domain) const {
  const bool is_there = std::ranges::any_of(gpus_, [&](const MonitoredGpu& gpu) {
    if (domain) return gpu.history(*domain) != nullptr;
    return gpu.counter != nullptr || gpu.default_domain().has_value();
  });
  if (is_there || gpus_.empty()) return;
  refuse("energy", domain ? to_string(*domain) : "device_instant, device_average or a counter");
}

void PowerMonitor::Impl::refuse(std::string_view what, std::string_view lacked) const {
  const auto what_it_reports = [](const MonitoredGpu& gpu) {
    std::vector<std::string_view> names;
    for (const PowerDomain other : kPowerDomains) {
      if (gpu.history(other) != nullptr) names.push_back(to_string(other));
    }
    return fmt::format("{} reports {}", gpu_text(gpu.index, gpu.device),
                       names.empty() ? "no power" : joined(names, " and "));
  };
  throw CapabilityError(fmt::format("cannot report the {}: no monitored GPU reports {}; {}", what,
                                    lacked, joined(gpus_, ", ", what_it_reports)));
}

std::size_t PowerMonitor::Impl::memory_bytes() const noexcept {
  std::size_t sum = 0;
  for (const MonitoredGpu& gpu : gpus_) {
    for (const History* history : gpu.histories) {
      if (history != nullptr) sum += history->memory_bytes();
    }
    if (gpu.counter != nullptr) sum += gpu.counter->memory_bytes();
  }
  for (const MonitoredCpu& cpu : cpus_) sum += cpu.history->memory_bytes();
  return sum;
}

std::optional<TimePoint> PowerMonitor::Impl::kept_since(const History& history) const noexcept {
  return most_samples_ ? history.values().since_newest(*most_samples_) : std::nullopt;
}

}  // namespace wattle
