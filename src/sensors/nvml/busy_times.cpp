#include "sensors/nvml/busy_times.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace wattle::nvml {
namespace {

using std::chrono::nanoseconds;

std::uint32_t percent_of(const Sample& sample) noexcept {
  std::uint32_t percent = 0;
  std::memcpy(&percent, sample.value.data(), sizeof percent);
  return percent;
}

using std::chrono::nanoseconds;

struct Samples {
  Return result = Return::function_not_found;
  std::vector<ProcessUtilization> samples;
};

/// The driver's samples that are newer than `last_us`.
Samples samples_since(const Api& api, Handle handle, std::uint64_t last_us) {
  constexpr std::uint32_t kFirstGuess = 128;
  constexpr std::uint32_t kMost = 65536;
  Samples found;
  for (std::uint32_t capacity = kFirstGuess; capacity <= kMost; capacity *= 2) {
    found.samples.assign(capacity, {});
    std::uint32_t count = capacity;
    found.result = call(api.process_utilization, handle, found.samples.data(), &count, last_us);
    if (found.result == Return::insufficient_size) continue;
    const bool has_any = found.result == Return::success && count <= capacity;
    found.samples.resize(has_any ? count : 0);
    // It calls this an error.
    if (found.result == Return::not_found) found.result = Return::success;
    return found;
  }
  return found;
}

}  // namespace

/// False where the driver has no samples.
bool BusySamples::ask(const Api& api, Handle handle) {
  constexpr std::size_t kMost = 1024;  // an H100 keeps 72
  std::vector<Sample> samples(kMost);
  auto count = static_cast<std::uint32_t>(samples.size());
  ValueType type = ValueType::unsigned_int;
  const Return result =
      call(api.samples, handle, kUtilizationSamples, newest_us_, &type, &count, samples.data());
  if (result == Return::not_found) return true;
  if (result != Return::success || type != ValueType::unsigned_int || count > kMost) return false;
  samples.resize(count);
  const bool is_first_answer = newest_us_ == 0;
  for (const Sample& sample : samples) {
    if (sample.timestamp_us <= newest_us_) continue;
    const std::uint64_t length_us = sample.timestamp_us - newest_us_;
    // After a pause it is not known how long one is of.
    if (!is_first_answer && length_us <= microseconds_in(kLongestSample) &&
        percent_of(sample) <= 100) {
      const nanoseconds length = std::chrono::microseconds(length_us);
      sum_.busy += length * percent_of(sample) / 100;
      sum_.known += length;
    }
    newest_us_ = sample.timestamp_us;
  }
  return true;
}

std::optional<BusyTime> BusySamples::until_now(const Api& api, Handle handle,
                                               const TimeSource& clock) {
  const TimePoint now = clock.now();
  if (spacing_.is_due(now)) {
    answers_ = ask(api, handle);
    spacing_.add(now, clock.now());  // a call takes 1.5 to 3 ms on an H100
  }
  return answers_ ? std::optional(sum_) : std::nullopt;
}

/// The percentage of a process is its mean over all samples that are newer than those that were
/// seen before, also over those in which another process ran (H100, driver 580.159). How long the
/// first ones are of is not known, and after a while in which nobody had the GPU open the driver
/// shows some of before: they count for nothing.
void EngineTimes::add(const std::vector<ProcessUtilization>& samples, TimePoint now) {
  std::uint64_t newest_us = newest_us_;
  for (const ProcessUtilization& sample : samples) {
    newest_us = std::max(newest_us, sample.timestamp_us);
  }
  if (newest_us == newest_us_) {
    // Or its clock was set back.
    if (newest_us_ != 0 && now - last_new_ > 2 * kLongestSample) newest_us_ = 0;
    return;
  }
  const std::uint64_t length_us = newest_us - newest_us_;
  if (newest_us_ != 0 && length_us <= microseconds_in(now - last_new_ + kLongestSample)) {
    const nanoseconds length = std::chrono::microseconds(length_us);
    for (const ProcessUtilization& sample : samples) {
      const bool is_new = sample.timestamp_us > newest_us_;
      if (!is_pid(sample.pid) || !is_new || sample.sm_percent > 100) continue;
      times_[static_cast<pid_t>(sample.pid)] += length * sample.sm_percent / 100;
    }
  }
  newest_us_ = newest_us;
  last_new_ = now;
}

std::vector<ProcessUtilization> EngineTimes::ask(const Api& api, Handle handle,
                                                 const TimeSource& clock) {
  const TimePoint now = clock.now();
  if (!spacing_.is_due(now)) return {};
  Samples found = samples_since(api, handle, newest_us_);
  spacing_.add(now, clock.now());  // a call takes 2.5 ms on an H100
  answers_ = found.result == Return::success;
  answers_ ? add(found.samples, now) : times_.clear();
  return std::move(found.samples);
}

void EngineTimes::fill(const Api& api, Handle handle, const TimeSource& clock,
                       std::vector<DeviceProcess>& processes) {
  const std::vector<ProcessUtilization> samples = ask(api, handle, clock);
  if (!answers_) return;
  // Numbers of processes that ended are used again. One that started after the list was made is in
  // the next list.
  std::erase_if(times_, [&](const auto& time) {
    const auto is_of = [&](const auto& shown) { return std::cmp_equal(shown.pid, time.first); };
    return std::ranges::none_of(processes, is_of) && std::ranges::none_of(samples, is_of);
  });
  for (DeviceProcess& process : processes) {
    const auto time = times_.find(process.pid);
    process.engine_time = time != times_.end() ? time->second : nanoseconds(0);
  }
}

}  // namespace wattle::nvml
