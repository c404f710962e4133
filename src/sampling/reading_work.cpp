#include "sampling/reading_work.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace wattle {

using std::chrono::nanoseconds;

namespace {

/// How often a lane reads what is costly, and counters beside a gauge.
constexpr nanoseconds kSlowPeriod = std::chrono::seconds(1);
constexpr int kLongestBackoff = 8;

int longest_backoff(nanoseconds period) noexcept {
  return std::max(kLongestBackoff, static_cast<int>(ticks_in(kLongestPeriod, period)));
}

/// True if the channel shows the energy of a domain that is asked for.
bool is_wanted(const Channel& channel, const ReadingsOptions& options) noexcept {
  return channel.gives_energy() &&
         (!options.domains ||
          std::ranges::find(*options.domains, channel.domain) != options.domains->end());
}

/// Only the newest values are needed of channels other than energy.
constexpr std::size_t kMetricHistoryBytes = std::size_t{256} << 10U;

/// Adds histories of the largest size up to `bytes` that there is memory for.
const std::deque<History>& add_fitting(ReadingWork& work, const std::shared_ptr<Sensor>& sensor,
                                       ChannelSet channels, std::size_t bytes, unsigned every) {
  constexpr std::size_t kFactor = 8;
  for (;; bytes /= kFactor) {
    try {
      return work.add(sensor, channels, bytes, every);
    } catch (const std::bad_alloc&) {
      if (bytes / kFactor < kMinTimelineBytes) throw;
    }
  }
}

std::vector<ReadingWork> device_work(const std::shared_ptr<Sensor>& sensor,
                                     const ReadingsOptions& options) {
  const bool has_gauge = std::ranges::any_of(sensor->channels(), [](const Channel& channel) {
    return channel.gives_energy() && channel.metric != Metric::energy && !channel.costly;
  });
  // Beside a gauge a counter matters at the ends of a window only, where it is asked for.
  const auto is_seldom_read = [&](const Channel& channel) {
    return channel.costly || (has_gauge && channel.metric == Metric::energy);
  };
  const auto gives_wanted = [&](const Channel& channel) { return is_wanted(channel, options); };
  const auto is_asked_for = [&](const Channel& channel) {
    return channel.scope == Scope::device && !channel.gives_energy() &&
           std::ranges::find(options.metrics, channel.metric) != options.metrics.end();
  };
  const auto add = [&](ReadingWork& work, nanoseconds every, const auto& chooses) {
    const ChannelSet chosen = channels_where(*sensor, chooses);
    const bool counts = (chosen & channels_where(*sensor, gives_wanted)).any();
    const std::size_t bytes = counts ? HistoryOptions{}.memory_limit : kMetricHistoryBytes;
    add_fitting(work, sensor, chosen, bytes, ticks_in(every, work.lane.period));
  };
  ReadingWork usual{.lane = {.period = options.period,
                             .only_when_asked = options.only_when_asked,
                             .longest_backoff = longest_backoff(options.period)}};
  add(usual, options.period,
      [&](const Channel& c) { return gives_wanted(c) && !is_seldom_read(c); });
  add(usual, kSlowPeriod, [&](const Channel& c) { return gives_wanted(c) && is_seldom_read(c); });
  add(usual, options.metric_period, [&](const Channel& c) { return is_asked_for(c) && !c.costly; });
  ReadingWork slow{.lane = {.period = options.list_period,
                            .longest_backoff = longest_backoff(options.list_period)},
                   .is_slow = true};
  // The first: `Readings::processes` asks it.
  add(slow, options.list_period, [](const Channel&) { return false; });
  slow.tasks.back().lists_processes = options.lists_processes && is_gpu(*sensor);
  add(slow, kSlowPeriod, [&](const Channel& c) { return is_asked_for(c) && c.costly; });
  const auto reads = [](const LaneTask& task) {
    return task.lists_processes || !task.recorder->histories().empty();
  };
  const bool has_slow_work = std::ranges::any_of(slow.tasks, reads);
  // Without a filter a lane that reads nothing is the thread of its device (`Readings::worker`).
  const bool is_left_out =
      options.domains && !has_slow_work && std::ranges::none_of(usual.tasks, reads);
  std::vector<ReadingWork> all;
  if (!is_left_out) all.push_back(std::move(usual));
  if (has_slow_work) all.push_back(std::move(slow));
  return all;
}

}  // namespace

const std::deque<History>& ReadingWork::add(const std::shared_ptr<Sensor>& sensor,
                                            ChannelSet channels, std::size_t bytes,
                                            unsigned every) {
  const auto longest = std::max(every, static_cast<unsigned>(lane.longest_backoff));
  const HistoryOptions options{.period = lane.period * every,
                               .longest_period = lane.period * longest,
                               .memory_limit = bytes};
  tasks.push_back(
      {.recorder = std::make_unique<Recorder>(sensor, channels, options), .every = every});
  return tasks.back().recorder->histories();
}

std::vector<ReadingWork> work_of(const std::shared_ptr<Sensor>& sensor,
                                 const ReadingsOptions& options) {
  if (sensor->may_block()) return device_work(sensor, options);
  std::vector<ReadingWork> all(1);
  all[0].lane.period = options.period;
  all[0].is_prompt = true;
  const ChannelSet wanted =
      channels_where(*sensor, [&](const Channel& c) { return is_wanted(c, options); });
  if (wanted.any()) add_fitting(all[0], sensor, wanted, options.prompt_history_bytes, 1);
  return all;
}

}  // namespace wattle
