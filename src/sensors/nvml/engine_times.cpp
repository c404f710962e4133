#include "sensors/nvml/engine_times.hpp"

#include <algorithm>

namespace wattle::nvml {
namespace {

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

/// The percentage of a process is its mean over all samples that are newer than those that were
/// added, also over those in which another process ran; a process without any is left out, or shown
/// with its last (H100, driver 580.159).
void EngineTimes::add(const std::vector<ProcessUtilization>& samples, TimePoint now) {
  std::uint64_t newest_us = newest_us_;
  for (const ProcessUtilization& sample : samples) {
    newest_us = std::max(newest_us, sample.timestamp_us);
  }
  // Samples of before the first call are of an unknown length.
  if (last_ask_ != TimePoint::min()) {
    // While no process has the GPU open there are no samples.
    const nanoseconds passed = now - last_ask_;
    const nanoseconds length =
        newest_us_ == 0 ? passed
                        : std::min<nanoseconds>(std::chrono::microseconds(newest_us - newest_us_),
                                                passed + kLongestSample);
    for (const ProcessUtilization& sample : samples) {
      if (!is_pid(sample.pid) || sample.timestamp_us <= newest_us_) continue;
      const double part = std::min(sample.sm_percent, 100U) / 100.0;
      times_[static_cast<pid_t>(sample.pid)] +=
          std::chrono::duration_cast<nanoseconds>(length * part);
    }
  }
  newest_us_ = newest_us;
}

void EngineTimes::fill(const Api& api, Handle handle, const Clock& clock,
                       std::vector<DeviceProcess>& processes) {
  const TimePoint now = clock.now();
  std::map<pid_t, nanoseconds> kept;
  if (spacing_.is_due(now)) {
    const Samples found = samples_since(api, handle, newest_us_);
    if (found.result != Return::success) {
      *this = {};
      return;
    }
    add(found.samples, now);
    last_ask_ = now;
    spacing_.add(now, clock.now());  // a call takes 2.5 ms on an H100
    // One that started after the list was made is in the next list.
    for (const ProcessUtilization& sample : found.samples) {
      const auto time = times_.find(static_cast<pid_t>(sample.pid));
      if (time != times_.end()) kept.insert(*time);
    }
  }
  for (DeviceProcess& process : processes) {
    const auto time = times_.find(process.pid);
    process.engine_time = time != times_.end() ? time->second : nanoseconds(0);
    kept.emplace(process.pid, *process.engine_time);
  }
  times_ = std::move(kept);  // numbers of processes that ended are used again
}

}  // namespace wattle::nvml
