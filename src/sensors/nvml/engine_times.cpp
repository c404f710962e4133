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

/// Mean part of the time, 0 to 1, in which the multiprocessors worked for each process.
std::map<pid_t, double> parts_of(const std::vector<ProcessUtilization>& samples) {
  std::map<pid_t, std::pair<double, double>> sums;
  for (const ProcessUtilization& sample : samples) {
    if (!is_pid(sample.pid)) continue;
    auto& [sum, count] = sums[static_cast<pid_t>(sample.pid)];
    sum += std::min(sample.sm_percent, 100U) / 100.0;
    count += 1.0;
  }
  std::map<pid_t, double> parts;
  for (const auto& [pid, sum] : sums) parts[pid] = sum.first / sum.second;
  return parts;
}

}  // namespace

void EngineTimes::fill(const Api& api, Handle handle, TimePoint now,
                       std::vector<DeviceProcess>& processes) {
  const Samples found = samples_since(api, handle, last_sample_us_);
  if (found.result != Return::success) {
    *this = {};
    return;
  }
  for (const ProcessUtilization& sample : found.samples) {
    last_sample_us_ = std::max(last_sample_us_, sample.timestamp_us);
  }
  // Samples of before the first call are of an unknown length.
  if (last_fill_ != TimePoint::min()) {
    const auto passed = std::chrono::duration<double, std::nano>(now - last_fill_);
    for (const auto& [pid, part] : parts_of(found.samples)) {
      times_[pid] += std::chrono::duration_cast<nanoseconds>(passed * part);
    }
  }
  last_fill_ = now;
  std::map<pid_t, nanoseconds> listed;
  for (DeviceProcess& process : processes) {
    const auto time = times_.find(process.pid);
    process.engine_time = time != times_.end() ? time->second : nanoseconds(0);
    listed.emplace(process.pid, *process.engine_time);
  }
  // One that started after the list was made is in the next list.
  for (const ProcessUtilization& sample : found.samples) {
    const auto time = times_.find(static_cast<pid_t>(sample.pid));
    if (time != times_.end()) listed.insert(*time);
  }
  times_ = std::move(listed);  // numbers of processes that ended are used again
}

}  // namespace wattle::nvml
