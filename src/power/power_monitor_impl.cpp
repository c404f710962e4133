#include "power/power_monitor_impl.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "power/update_period.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Each history needs this much, events and some thousand samples.
constexpr std::size_t kLeastBytesEach = std::size_t{128} << 10U;
static_assert(kLeastBytesEach >= kHistoryEventBytes + 2 * kMinTimelineBytes);

/// A driver that is slow to answer is asked down to so often, where nobody said how often to ask.
constexpr nanoseconds kLongestGaugePeriod = milliseconds(800);

std::size_t bytes_each(std::size_t memory_limit, std::size_t channels) {
  const std::size_t share = memory_limit / std::max<std::size_t>(channels, 1);
  if (share >= kLeastBytesEach) return share - kHistoryEventBytes;
  throw InvalidArgument(
      fmt::format("cannot monitor power: memory_limit must be at least {} bytes here, {} for each "
                  "of {} domains, not {}",
                  kLeastBytesEach * channels, kLeastBytesEach, channels, memory_limit));
}

/// How often a GPU's counter is read: about as often as it is renewed, every so many periods.
unsigned counter_ticks(const Sensor& sensor, ChannelSet counter, nanoseconds period) {
  constexpr nanoseconds kUnknownUpdate = milliseconds(100);
  nanoseconds update = kUnknownUpdate;
  for (std::size_t i = 0; i < std::min(sensor.channels().size(), counter.size()); ++i) {
    const Channel& channel = sensor.channels()[i];
    if (counter[i] && channel.update.known()) update = channel.update.mean;
  }
  return static_cast<unsigned>(std::max<std::int64_t>(1, update / period));
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

PowerMonitor::Impl::Impl(const Selection& selection, const Clock& clock,
                         const PowerMonitorOptions& options, ReadBy reader)
    : missing_(selection.missing), most_samples_(options.max_samples_per_gpu), clock_(&clock) {
  const std::size_t bytes = bytes_each(options.memory_limit, selection.channels());
  InferredPace pace;
  if (!options.update_period) pace = infer_pace(selection.gpus, clock);
  period_ = options.update_period.value_or(pace.period);
  const Plan plan{
      .bytes_each = bytes,
      .period = period_,
      .longest_backoff =
          options.update_period ? 1 : std::max(1, static_cast<int>(kLongestGaugePeriod / period_))};
  const nanoseconds counters = cpu_period(selection, period_);

  // All that takes memory comes before the first thread.
  std::vector<Work> work;
  work.reserve(selection.gpus.size() + 1);
  for (const Selection::Gpu& gpu : selection.gpus) {
    work.push_back(gpu_work(gpu, pace.channels_of(*gpu.sensor), plan));
  }
  work.push_back(cpu_work(selection, plan, counters));
  std::ranges::sort(cpus_, {}, &MonitoredCpu::domain);
  domains_.reserve(cpus_.size());
  for (const MonitoredCpu& cpu : cpus_) domains_.push_back(cpu.domain);
  faults_ = std::make_shared<FaultReport>(watched_);
  if (reader == ReadBy::hand) {
    by_hand_ = std::move(work);
  } else {
    start_lanes(std::move(work), plan, counters, clock);
  }
}

PowerMonitor::Impl::Work PowerMonitor::Impl::gpu_work(const Selection::Gpu& gpu,
                                                      std::vector<Channel> channels,
                                                      const Plan& plan) {
  const auto watched = std::make_shared<WatchedSensor>(gpu.sensor, std::move(channels));
  std::size_t bytes = plan.bytes_each;
  if (most_samples_) bytes = std::min(bytes, timeline_bytes_for(*most_samples_));
  auto recorder = std::make_unique<Recorder>(
      watched, gpu.channels,
      HistoryOptions{.period = plan.period,
                     .longest_period = plan.period * plan.longest_backoff,
                     .memory_limit = bytes});
  MonitoredGpu monitored{.index = gpu.index, .device = gpu_domain_of(*gpu.sensor)};
  for (const History& history : recorder->histories()) {
    const auto domain = power_domain_of(history.channel());
    if (domain) monitored.histories.at(place_of(*domain)) = &history;
  }
  indices_.push_back(gpu.index);
  watched_.push_back({.gpu = gpu_text(gpu.index, monitored.device), .sensor = watched});
  Work work;
  work.push_back({.recorder = std::move(recorder)});
  if (gpu.counter.any()) {
    const unsigned every = counter_ticks(*gpu.sensor, gpu.counter, plan.period);
    work.push_back({.recorder = counter_recorder(gpu, watched, plan, every), .every = every});
    monitored.counter = &work.back().recorder->histories().front();
  }
  gpus_.push_back(monitored);
  return work;
}

std::unique_ptr<Recorder> PowerMonitor::Impl::counter_recorder(const Selection::Gpu& gpu,
                                                               std::shared_ptr<Sensor> sensor,
                                                               const Plan& plan, unsigned every) {
  const unsigned longest = std::max(every, static_cast<unsigned>(plan.longest_backoff));
  return std::make_unique<Recorder>(std::move(sensor), gpu.counter,
                                    HistoryOptions{.period = plan.period * every,
                                                   .longest_period = plan.period * longest,
                                                   .memory_limit = plan.bytes_each});
}

PowerMonitor::Impl::Work PowerMonitor::Impl::cpu_work(const Selection& selection, const Plan& plan,
                                                      nanoseconds period) {
  Work work;
  for (const auto& sensor : selection.cpus) {
    work.push_back({.recorder = std::make_unique<Recorder>(
                        sensor, energy_channels(*sensor),
                        HistoryOptions{.period = period, .memory_limit = plan.bytes_each})});
    for (const History& history : work.back().recorder->histories()) {
      cpus_.push_back({.domain = history.channel().domain, .history = &history});
    }
  }
  return work;
}

void PowerMonitor::Impl::start_lanes(std::vector<Work> work, const Plan& plan,
                                     nanoseconds cpu_period, const Clock& clock) {
  // Two of these, one for a last reading and one for the end, are within what `stop` may take.
  constexpr nanoseconds kPatience = milliseconds(40);
  constexpr nanoseconds kFirstReading = milliseconds(500);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work[i].empty()) continue;  // no counters
    const bool is_gpu = i < gpus_.size();
    const LaneOptions options{.period = is_gpu ? plan.period : cpu_period,
                              .longest_backoff = is_gpu ? plan.longest_backoff : 1,
                              .patience = kPatience};
    lanes_.push_back(std::make_unique<Lane>(std::move(work[i]), options, clock));
    if (!is_gpu) cpu_lane_ = lanes_.back().get();
  }
  telling_ = std::make_unique<Worker>(Worker::every(std::chrono::seconds(1), telling()),
                                      "the sampling thread");
  const TimePoint deadline = clock.now() + kFirstReading;
  constexpr std::uint64_t kStart = 1;  // the reading that nobody asked for
  for (const auto& lane : lanes_) (void)lane->wait_for(kStart, deadline);
}

Worker::Job PowerMonitor::Impl::telling() const {
  return [faults = faults_] {
    faults->tell();
    (void)to_unix(TimePoint{});  // a step of the wall clock is dated by whoever asks first
  };
}

void PowerMonitor::Impl::stop() noexcept {
  if (std::exchange(stopped_, true)) return;
  constexpr nanoseconds kPatience = milliseconds(40);
  const auto begin = std::chrono::steady_clock::now();
  try {
    std::vector<std::uint64_t> asked;
    asked.reserve(lanes_.size());
    for (const auto& lane : lanes_) asked.push_back(lane->ask());
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      (void)lanes_[i]->wait_for(asked[i], begin + kPatience);
    }
  } catch (const std::exception&) {
    // Out of memory: the newest readings are those of the last period.
  }
  for (const auto& lane : lanes_) (void)lane->stop(nanoseconds(0));
  for (const auto& lane : lanes_) {
    (void)lane->stop(std::max<nanoseconds>(begin + 2 * kPatience - std::chrono::steady_clock::now(),
                                           nanoseconds(0)));
  }
  try {
    if (telling_ && telling_->add(telling())) {
      (void)telling_->finish(std::max<nanoseconds>(
          begin + 2 * kPatience - std::chrono::steady_clock::now(), nanoseconds(0)));
    }
  } catch (const std::exception&) {
    // Out of memory: the log lacks what was counted last.
  }
}

bool PowerMonitor::Impl::read_now(nanoseconds patience) const {
  if (stopped_ || lanes_.empty()) return false;
  const TimePoint deadline = std::chrono::steady_clock::now() + patience;
  std::vector<std::uint64_t> asked;
  asked.reserve(lanes_.size());
  for (const auto& lane : lanes_) asked.push_back(lane->ask());
  bool all = true;
  for (std::size_t i = lanes_.size(); i-- > 0;) {
    all = lanes_[i]->wait_for(asked[i], deadline).has_value() && all;
  }
  return all;
}

void PowerMonitor::Impl::catch_up(const PowerWindow& window, bool is_gpu) const {
  // A GPU's driver is not asked more often than its values are renewed.
  constexpr nanoseconds kNewsOfGpu = milliseconds(10);
  constexpr nanoseconds kPatience = milliseconds(100);
  if (stopped_ || lanes_.empty()) return;
  const TimePoint now = clock_->now();
  const TimePoint wanted = std::min(window.end, is_gpu ? now - kNewsOfGpu : now);
  std::vector<std::pair<Lane*, std::uint64_t>> asked;
  const auto ask = [&](const History* history, Lane& lane) {
    const bool is_asked = !asked.empty() && asked.back().first == &lane;
    if (history == nullptr || is_asked) return;
    const std::optional<TimePoint> newest = history->values().newest();
    if (newest && *newest < wanted) asked.emplace_back(&lane, lane.ask());
  };
  if (is_gpu) {
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const std::optional<PowerDomain> shown = gpus_[i].default_domain();
      ask(gpus_[i].counter, *lanes_[i]);
      if (shown) ask(gpus_[i].history(*shown), *lanes_[i]);
    }
  } else if (cpu_lane_ != nullptr) {
    for (const MonitoredCpu& cpu : cpus_) ask(cpu.history, *cpu_lane_);
  }
  const TimePoint deadline = std::chrono::steady_clock::now() + kPatience;
  for (const auto& [lane, number] : asked) (void)lane->wait_for(number, deadline);
}

void PowerMonitor::Impl::read_by_hand() noexcept {
  for (const Work& work : by_hand_) {
    for (const LaneTask& task : work) task.recorder->read();
  }
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
  std::vector<std::string> names;
  names.reserve(domains_.size());
  for (const Domain& other : domains_) names.push_back(other.name());
  throw NoSuchDomain(
      names.empty() ? fmt::format("{} is not monitored, nor is any other CPU domain", domain.name())
                    : fmt::format("{} is not monitored; {} {}", domain.name(),
                                  fmt::join(names, ", "), names.size() == 1 ? "is" : "are"),
      domain.name());
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
  std::vector<std::string> others;
  for (const MonitoredGpu& gpu : gpus_) {
    std::vector<std::string_view> names;
    for (const PowerDomain other : kPowerDomains) {
      if (gpu.history(other) != nullptr) names.push_back(to_string(other));
    }
    others.push_back(fmt::format(
        "{} {}", gpu_text(gpu.index, gpu.device),
        names.empty() ? "reports no power" : fmt::format("reports {}", fmt::join(names, " and "))));
  }
  throw CapabilityError(fmt::format("cannot report the {}: no monitored GPU reports {}; {}", what,
                                    lacked, fmt::join(others, ", ")));
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
